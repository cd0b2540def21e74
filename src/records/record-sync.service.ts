import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { log } from '../common/logger.js';
import { DatabaseService } from '../database/database.service.js';
import { Db } from '../database/db.js';
import { Leases } from '../database/leases.js';
import type { DomainRow } from '../domains/domain-policy.js';
import { domainState } from '../domains/domain-state.js';
import { DomainsService } from '../domains/domains.service.js';
import { Events } from '../events/events.js';
import { Intents } from './intents.js';
import { difference, suspiciousLoss } from './reconcile.js';
import { RecordCache } from './record-cache.js';
import { SuspiciousList } from './suspicious.js';

/** ms that one sync of a domain waits for another one of the same domain */
const SYNC_WAIT_MS = 120_000;
/** ms between looks for intents that nobody is at */
const SETTLE_EVERY_MS = 15_000;
/** ms that the start waits for the first look */
const START_WAIT_MS = 10_000;

/**
 * Makes the cache equal to what a provider holds: at a sync, on `refresh`, and after writes that nobody saw the end of.
 */
@Injectable()
export class RecordSyncService implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private settling: Promise<void> | null = null;
  /** suspicious lists that stand in the audit log already: domain -> who was told of how many */
  private readonly told = new Map<number, Set<string>>();

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly leases: Leases,
    private readonly connections: ProviderConnections,
    private readonly domains: DomainsService,
    private readonly cache: RecordCache,
    private readonly intents: Intents,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): void {
    this.events.on('domain.created', async (id) => {
      const domain = await this.domains.reload(id);
      await this.refresh(domain, 'system').catch((error: Error) =>
        log().warn({ domain: domain.name, err: error.message }, 'records could not be read yet'),
      );
    });
    this.events.on('database.opened', async () => {
      const first = this.settleAll();
      // what needs a provider that is down is tried again; the start does not wait for it
      await Promise.race([first, new Promise((resolve) => setTimeout(resolve, START_WAIT_MS).unref())]);
      this.timer ??= setInterval(() => void this.settleAll(), SETTLE_EVERY_MS).unref();
    });
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.settling;
  }

  /**
   * Reads a whole zone at the provider and brings the cache up to date; nothing is changed when the list cannot be read
   * in full. Names that are being changed meanwhile are left to their writers. A list that lacks too much is not
   * believed unless `confirm` says so: writes without a known end then stay unsettled, are looked at again, and the
   * audit log says why.
   * @returns how many rows were touched
   * @throws ProviderError, SuspiciousList
   */
  async refresh(domain: DomainRow, actor: Actor, confirm = false): Promise<number> {
    try {
      const touched = await this.follow(domain, actor, confirm);
      this.told.delete(domain.id);
      return touched;
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

  /** Whether this was not yet told to the same one: who asks again and again writes no more entries. */
  private isNews(domainId: number, actor: Actor, { message }: SuspiciousList): boolean {
    const told = this.told.get(domainId) ?? new Set();
    this.told.set(domainId, told);
    const key = `${actor === 'system' ? 0 : actor.principal?.userId} ${message}`;
    return told.size !== told.add(key).size;
  }

  private follow(domain: DomainRow, actor: Actor, confirm: boolean): Promise<number> {
    return this.leases.hold([`sync|${domain.id}`], SYNC_WAIT_MS, async () => {
      const { ids: settled, hosts, expected } = await this.intents.settleable(domain.id);
      const { revision } = await this.domains.reload(domain.id);
      const { provider } = await this.connections.of(domain.account_id);
      const remote = await provider.listRecords({ id: domain.remote_id, name: domain.name });
      const rows = await this.cache.following(domain.id);
      const changes = difference(rows, remote, expected);
      return this.db.transaction(async (manager) => {
        // locks the domain's row: no writer can finish between the look for busy hosts and the end
        await domainState.synced(this.db, manager, domain.id);
        const busy = await this.intents.busyHosts(manager, domain.id, revision, settled);
        // what we did ourselves, or may have done, is no loss
        const loss = suspiciousLoss(rows, changes, new Set([...busy, ...hosts]));
        if (loss && !confirm) throw new SuspiciousList(domain, loss.lost, loss.of);
        const touched = await this.cache.apply(manager, domain.id, changes, busy);
        await this.intents.settle(manager, settled);
        if (loss) {
          const after = { touched, confirmed: loss.lost.length, of: loss.of };
          await this.audit.write(manager, actor, { ...entryOf('record.refresh', domain), after });
        }
        return touched;
      });
    });
  }

  /**
   * Looks for writes without a known end and asks the providers about them. Runs once at a time; failures are tried
   * again later.
   */
  settleAll(): Promise<void> {
    this.settling ??= this.settleOnce().finally(() => {
      this.settling = null;
    });
    return this.settling;
  }

  private async settleOnce(): Promise<void> {
    try {
      if (!this.database.open) return;
      await this.intents.prune();
      for (const id of await this.intents.unsettledDomains()) await this.settle(id);
    } catch (error) {
      log().warn({ err: (error as Error).message }, 'unfinished writes could not be looked for');
    }
  }

  private async settle(id: number): Promise<void> {
    const domain = await this.domains.reload(id);
    try {
      const touched = await this.refresh(domain, 'system');
      log().info({ domain: domain.name, touched }, 'settled unfinished writes with what the provider says');
      await this.report('system', domain, touched);
    } catch (error) {
      log().warn({ domain: domain.name, err: (error as Error).message }, 'unfinished writes are not settled yet');
    }
  }

  /** Audit entry of a refresh. */
  async report(actor: Actor, domain: DomainRow, touched: number): Promise<void> {
    await this.audit.append(actor, { ...entryOf('record.settle', domain), after: { touched } });
  }
}

const entryOf = (action: string, domain: DomainRow) => ({
  action,
  domain,
  target: { type: 'domain', id: domain.id, name: domain.name },
});
