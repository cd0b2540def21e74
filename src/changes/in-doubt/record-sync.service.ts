import { Injectable, type OnApplicationShutdown, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AuditAction } from '../../access/audit-actions.js';
import { ProviderConnections } from '../../accounts/provider-connections.js';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { driftOf } from '../../cache/drift.js';
import { type CacheRow, type Difference, difference, suspiciousLoss } from '../../cache/reconcile.js';
import { RecordCache } from '../../cache/record-cache.js';
import { SuspiciousList } from '../../cache/suspicious.js';
import type { RemoteRecord } from '../../dns/record.js';
import { changeRulesOf } from '../../domains/change-rules/change-rules.js';
import { anyOf } from '../../domains/change-rules/scope.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { DomainStateRepository } from '../../domains/domain-state.repository.js';
import { DomainsService } from '../../domains/domains.service.js';
import { SharedZones } from '../../domains/shared-zones.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { now, within } from '../../platform/common/clock.js';
import { withoutDeadline } from '../../platform/common/deadline.js';
import { Logger } from '../../platform/common/logger.js';
import { DatabaseService } from '../../platform/database/database.service.js';
import { Db } from '../../platform/database/db.js';
import { Installation } from '../../platform/database/installation.js';
import { LeaseLost, Leases } from '../../platform/database/leases.js';
import { Events } from '../../platform/events/events.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { ProviderError } from '../../providers/kit/http/errors.js';
import { givesWay } from '../edits/record-rules.js';
import { expectations, hostsOf, judge, successors } from './evidence.js';
import { FoundChanges } from './found-changes.js';
import { InDoubtChanges } from './in-doubt-changes.js';
import { type Looked, SettleQueue } from './settle-queue.js';
import { type Settled, Settling } from './settling.js';
import { compareSifted, compareWhole, hostsIn, rowsNow, type ZoneComparison } from './zone-comparison.js';

/** ms that one sync of a domain waits for another one of the same domain */
const SYNC_WAIT_MS = 120_000;
/** ms between looks for changes in doubt that nobody works on */
const SETTLE_EVERY_MS = 15_000;
/** ms that the start waits for the first look */
const START_WAIT_MS = 10_000;
/** ms that the end waits for looks that have begun: one that is cut off is begun again by the next start */
const STOP_WAIT_MS = 2_000;
/** failures that are those of the whole account */
const DOWN: ReadonlySet<string> = new Set(['unavailable', 'auth', 'rate_limit']);

/** `touched`: rows */
interface Followed extends Settled {
  touched: number;
}

/** What a provider lists of a zone. */
interface List {
  compared: ZoneComparison;
  /** those of its records that changes in doubt may have made */
  proof: readonly RemoteRecord[];
  begun: string;
  /** whether its provider carries out atomic lists whole or not at all */
  isAtomic: boolean;
  /** the domain's revision before it was asked */
  since: number;
}

/**
 * Makes the cache equal to what a provider holds: at a sync, on `refresh`, and after writes that nobody saw the end of.
 */
@Injectable()
export class RecordSyncService implements OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  private looking: Promise<void> = Promise.resolve();
  private next: Promise<void> | null = null;
  private stopping = false;
  private readonly queue: SettleQueue;
  /** suspicious lists that are in the audit log already: domain -> callers and messages */
  private readonly told = new Map<number, Set<string>>();

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly leases: Leases,
    private readonly connections: ProviderConnections,
    private readonly domains: DomainsService,
    private readonly cache: RecordCache,
    private readonly state: DomainStateRepository,
    private readonly inDoubt: InDoubtChanges,
    private readonly settling: Settling,
    private readonly found: FoundChanges,
    private readonly audit: AuditService,
    private readonly notices: Notices,
    private readonly installation: Installation,
    private readonly shared: SharedZones,
    private readonly logger: Logger,
  ) {
    this.queue = new SettleQueue(
      (id) => this.settle(id),
      () => void this.settleAll(),
      logger,
    );
  }

  onModuleInit(): void {
    this.events.on('domain.created', async (id) => {
      const domain = await this.domains.reload(id);
      await this.refresh(domain, 'system').catch((error: Error) =>
        this.logger.warn({ domain: domain.name, err: error.message }, 'records could not be read yet'),
      );
    });
    this.events.on('database.opened', async () => {
      const first = this.settleAll().then(() => this.queue.idle());
      // what needs a provider that is down is tried again; the start does not wait for it
      await within(first, START_WAIT_MS);
    });
    // finding the domains takes moments; the providers are asked afterwards, so that none that is down delays others
    this.jobs.schedule('records.settle', SETTLE_EVERY_MS, () => this.settleAll());
  }

  onModuleDestroy(): void {
    this.stopping = true;
    this.queue.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await within(Promise.all([this.looking, this.queue.idle()]), STOP_WAIT_MS);
  }

  /**
   * Reads a whole zone at the provider and brings the cache up to date; nothing is changed when the list cannot be read
   * in full. Names that are being changed meanwhile are left to their writers, and changes without a known end get one
   * as far as the list proves it. A list that lacks too much is not believed unless `confirm` says so: such changes
   * then stay in doubt, are looked at again, and the audit log says why.
   * @returns how many rows were touched
   * @throws ProviderError, SuspiciousList
   */
  async refresh(domain: DomainRow, actor: Actor, confirm = false): Promise<number> {
    return (await this.followTold(domain, actor, confirm)).touched;
  }

  private async followTold(domain: DomainRow, actor: Actor, confirm: boolean): Promise<Followed> {
    try {
      const followed = await this.follow(domain, actor, confirm);
      this.told.delete(domain.id);
      this.queue.works(domain.id, domain.account_id);
      if (followed.touched) void this.events.emit('records.synced', domain.id, followed.touched);
      return followed;
    } catch (error) {
      if (error instanceof SuspiciousList && this.isNews(domain.id, actor, error))
        await this.audit.append(actor, {
          ...entryOf('record.refresh', domain),
          after: error.data,
          result: 'failed',
          error: error.message,
        });
      throw error;
    }
  }

  /** Whether this caller has no entry for this list yet: repeated requests write no more of them. */
  private isNews(domainId: number, actor: Actor, { message }: SuspiciousList): boolean {
    const told = this.told.get(domainId) ?? new Set();
    this.told.set(domainId, told);
    const key = `${actor === 'system' ? 0 : actor.principal?.userId} ${message}`;
    return told.size !== told.add(key).size;
  }

  private follow(domain: DomainRow, actor: Actor, confirm: boolean): Promise<Followed> {
    const once = () => this.inLock(domain, actor, confirm);
    // after a pause of the process what was read may be old
    return once().catch((error: unknown) => {
      if (error instanceof LeaseLost) return once();
      throw error;
    });
  }

  private inLock(domain: DomainRow, actor: Actor, confirm: boolean): Promise<Followed> {
    return this.leases.hold([`sync|${domain.id}`], SYNC_WAIT_MS, async (held) => {
      await this.inDoubt.adoptDead(domain.id);
      const state = await this.domains.reload(domain.id);
      // of the row as it is now: the domain may have been moved since it was opened
      const { provider, definition } = await this.connections.of(state.account_id);
      const begun = now();
      const settles = await this.inDoubt.isAt([domain.id], null);
      const pieces = provider.recordPieces({ id: state.remote_id, name: state.name }, { settles });
      // before the transaction, since a large zone is compared for long, and that holds others up
      const compared = await (settles ? compareWhole : compareSifted)(this.cache, domain.id, pieces);
      // what the vendor keeps by itself proves nothing of our changes
      const { capabilities } = definition;
      const isOurs = ({ readOnly: read_only, value }: RemoteRecord) => !givesWay({ read_only, value }, capabilities);
      const proof = settles ? compared.records().filter(isOurs) : [];
      const { atomic: isAtomic } = capabilities;
      const list = { compared, proof, begun, isAtomic, since: state.revision };
      return this.db.transaction(async (manager) => {
        // locks the domain's row: no writer can finish between the look for busy hosts and the end
        await this.state.synced(domain.id, manager);
        await held.confirm(manager);
        return this.take(manager, state, list, actor, confirm);
      });
    });
  }

  /** Brings the cache to a list of the provider, in a transaction that has locked the domain's row. */
  private async take(
    manager: EntityManager,
    domain: DomainRow,
    { compared, proof, begun, isAtomic, since }: List,
    actor: Actor,
    confirm: boolean,
  ): Promise<Followed> {
    const { id, name, synced_at, stale_revision: stale } = domain;
    const unmoved = (await this.state.revision(id, manager)) === since;
    const rows = unmoved ? compared.rows : await rowsNow(this.cache, id, compared, manager);
    const inDoubt = await this.inDoubt.of(id, manager);
    const changed = await this.inDoubt.busyHosts(manager, id, since);
    // what has come into doubt since is judged by the next list, which is kept whole
    const busy = compared.isWhole ? changed : new Set([...changed, ...inDoubt.flatMap(hostsOf)]);
    // names that are left to their writers are not followed yet
    if (stale !== null && !busy.size) await this.state.caughtUp(id, since, manager);
    const free = inDoubt.filter((change) => !hostsOf(change).some((host) => busy.has(host)));
    const plain = unmoved && !free.length;
    const took = successors(free, proof);
    const changes = plain
      ? compared.plain
      : await difference(rows, compared.records(), expectations(free, begun, took));
    // what we did ourselves, or may have done, is no loss
    const ours = new Set([...busy, ...inDoubt.flatMap(hostsOf)]);
    const loss = suspiciousLoss(rows, changes, ours, compared.same);
    if (loss && !confirm) throw new SuspiciousList(domain, loss.lost, loss.of);
    const around = await this.rowsAround(manager, domain, compared, rows, changes);
    const done = await this.cache.apply(manager, id, changes, busy);
    const touched = done.insert.length + done.update.length + done.remove.length;
    const steps = await this.found.steps(manager, domain, rows, done);
    const verdicts = judge(free, proof, begun, remoteIdsOf(rows), { took, isAtomic });
    const { claims, ...settled } = await this.settling.settle(manager, id, free, verdicts, rows, steps);
    await this.found.store(manager, domain, steps, claims, around, ours);
    if (touched + settled.applied) await this.state.raiseRevision(id, manager);
    if (loss) {
      const after = { touched, confirmed: loss.lost.length, of: loss.of };
      await this.audit.write(manager, actor, { ...entryOf('record.refresh', domain), after });
    }
    // the first list of a zone is no news
    const ignored = anyOf(changeRulesOf(domain).drift.ignore);
    const drift = synced_at === null ? null : await driftOf(name, rows, changes, ours, ignored);
    if (drift) await this.notices.tell(manager, drift);
    // of one that was old it is what another one of the zone had done
    const learned = settled.applied > 0 || (touched > 0 && stale === null);
    if (learned) await this.outdateOthers(manager, id);
    return { touched, ...settled };
  }

  /** The rows of a difference, with what else stands at its names where that is wanted to stay. */
  private async rowsAround(
    manager: EntityManager,
    { id, synced_at, change_rules }: DomainRow,
    { isWhole }: ZoneComparison,
    rows: readonly CacheRow[],
    changes: Difference,
  ): Promise<readonly CacheRow[]> {
    if (isWhole || synced_at === null || changeRulesOf({ change_rules }).drift.mode === 'adopt') return rows;
    return this.cache.those(id, 'host', [...hostsIn(changes)], manager);
  }

  /** What this cache has learned of the zone, those of its other domains have not. */
  private async outdateOthers(manager: EntityManager, domainId: number): Promise<void> {
    const { ids } = await this.shared.of(domainId, manager);
    const others = ids.filter((id) => id !== domainId);
    if (!others.length) return;
    await this.shared.outdate(manager, others);
    this.db.afterCommit(manager, () => void this.settleAll());
  }

  /**
   * Looks for changes without a known end, and asks the providers about them in the background; failures are tried
   * again later. @returns when it is known whom to ask
   */
  settleAll(): Promise<void> {
    // one that is looking may have passed what has just come into doubt
    this.next ??= this.looking.then(() => {
      this.next = null;
      this.looking = withoutDeadline(() => this.lookAround());
      return this.looking;
    });
    return this.next;
  }

  private async lookAround(): Promise<void> {
    try {
      if (this.database.open && !this.installation.halted && !this.stopping)
        this.queue.offer(await this.inDoubt.domains());
    } catch (error) {
      this.logger.warn({ err: (error as Error).message }, 'unfinished writes could not be looked for');
    }
  }

  private async settle(id: number): Promise<Looked> {
    const domain = await this.domains.reload(id).catch(() => null);
    if (!domain) return 'done';
    try {
      const { touched, applied, failed } = await this.followTold(domain, 'system', false);
      if (applied + failed) {
        this.logger.info({ domain: domain.name, touched, applied, failed }, 'settled unfinished writes');
        const after = { touched, applied, failed };
        await this.audit.append('system', { ...entryOf('record.settle', domain), after });
      }
      const again = await this.inDoubt.nextLook(id);
      return again === null ? 'done' : { again };
    } catch (error) {
      this.logger.warn({ domain: domain.name, err: (error as Error).message }, 'unfinished writes are not settled yet');
      return error instanceof ProviderError && DOWN.has(error.kind) ? 'down' : 'failed';
    }
  }
}

const remoteIdsOf = (rows: readonly CacheRow[]): ((id: number) => string | null) => {
  let byId: Map<number, string | null> | undefined;
  return (id) => {
    byId ??= new Map(rows.map((row) => [row.id, row.remote_id]));
    return byId.get(id) ?? null;
  };
};

const entryOf = (action: AuditAction, domain: DomainRow) => ({
  action,
  domain,
  target: { type: 'domain', id: domain.id, name: domain.name },
});
