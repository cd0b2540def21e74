import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, Role, signedIn } from '../../access/access.js';
import { type Maker, makerOf } from '../../access/maker.js';
import type { SyncResult } from '../../accounts/account.dto.js';
import { AccountsService, type SyncedAccount } from '../../accounts/accounts.service.js';
import { ProviderConnections } from '../../accounts/provider-connections.js';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { SuspiciousList } from '../../cache/suspicious.js';
import { actorOf } from '../../changes/history/who.js';
import { RecordSyncService } from '../../changes/in-doubt/record-sync.service.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { shownName } from '../../domains/zone-identity.js';
import { Zones, type ZonesFollowed } from '../../domains/zones.service.js';
import { Notices } from '../../notifications/notices.service.js';
import { now } from '../../platform/common/clock.js';
import { AppError, errors } from '../../platform/common/errors.js';
import { FairPool } from '../../platform/common/fair-pool.js';
import { Logger } from '../../platform/common/logger.js';
import { POOLS } from '../../platform/common/pools.js';
import { sideBySide } from '../../platform/common/side-by-side.js';
import { Db, pointsNowhere } from '../../platform/database/db.js';
import { Leases } from '../../platform/database/leases.js';
import { Events } from '../../platform/events/events.js';
import { type JobRun, Jobs, type Started } from '../../platform/jobs/jobs.js';
import { ProviderError } from '../../providers/kit/http/errors.js';
import { Makers } from '../../tokens/makers.service.js';

const JOB = 'account.sync';
/** ms between two looks for accounts that are due */
const TICK_MS = 60_000;
const SYNC_WAIT_MS = 60_000;
/** tries of one that nobody waits for */
const TRIES = 3;
/** for so long holds what somebody has confirmed */
const CONFIRMED_MS = 600_000;
/** ms for which a run that was cut off counts: what it had read is not read once more */
const RESUMED_MS = 3_600_000;
/** suspicious domains that an account's `last_error` names, and domains that could not be read that the job names */
const TOLD = 10;
/** names of lost zones that the audit log keeps */
const KEPT = 100;
/** lost zones that have a notice each */
const NOTICED = 20;

/** What the job knows; it may be done by another process than the one that was asked. */
interface Payload {
  account: number;
  confirm: boolean;
  /** when somebody asked */
  at: string;
  /** null: nobody asked, it was time */
  who: Who | null;
  /** whose account it is; left out by those before */
  owner?: number | null;
}

type Noted = Omit<ZonesFollowed, 'counts' | 'ids' | 'lost'>;
type Due = Pick<SyncedAccount, 'id' | 'owner_id'>;

/** Who asked, for the audit log; the rights were judged. */
type Who = Parameters<typeof actorOf>[0] & Pick<Caller, 'ip' | 'userAgent'>;

/** How far the reading of records is, as the job shows it; another process goes on from there. */
interface Progress {
  /** when the first run of it began to read */
  begun: string;
  zones: number;
  done: number;
  failed: number;
  /** names of the zones that are being read now */
  reading: string[];
  /** of those that failed the first ones */
  errors: { domain: string; error: string }[];
}

/** Synchronises an account: first its zones, whole or not at all, then the records of each. A job, whoever asks. */
@Injectable()
export class AccountSyncService implements OnModuleInit {
  private readonly pool = new FairPool('synchronisations');
  private readonly waits = new FairPool('requests that wait');

  constructor(
    private readonly db: Db,
    private readonly jobs: Jobs,
    private readonly events: Events,
    private readonly leases: Leases,
    private readonly accounts: AccountsService,
    private readonly connections: ProviderConnections,
    private readonly zones: Zones,
    private readonly domains: DomainsService,
    private readonly records: RecordSyncService,
    private readonly audit: AuditService,
    private readonly notices: Notices,
    private readonly makers: Makers,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('accounts.due', TICK_MS, async () => {
      await this.planDue();
      await this.connections.tidy();
    });
    this.jobs.handle<Payload>(JOB, {
      run: (payload, job) => this.run(payload, job),
      user: ({ owner = null }) => owner,
      tries: TRIES,
      retry: (error) => (error instanceof ProviderError ? error.data.retryable : !(error instanceof AppError)),
      dead: (payload, error, told) => this.dead(payload, error, told),
    });
  }

  /**
   * @param confirm the provider's list of zones is right, whatever it lacks; lists of records are confirmed a domain
   * each
   * @param waitMs how long it is waited for; then, or at once where too many wait, it goes on by itself
   * @throws AppError 404001, 409001 while another one runs, 409002; ProviderError when the zones cannot be listed in
   * full: then nothing was changed
   */
  async sync(caller: Caller, accountId: number, confirm: boolean, waitMs: number): Promise<Started<SyncResult>> {
    const { owner_id: owner } = await this.accounts.toSync(accountId);
    const payload: Payload = { account: accountId, confirm, at: now(), who: whoOf(caller), owner };
    const leave = waitMs > 0 ? this.waits.take({ user: signedIn(caller).userId, target: accountId }) : null;
    const started = await this.jobs
      .start<SyncResult>(JOB, payload, keyOf(accountId), leave ? waitMs : 0)
      .finally(leave);
    // not where it was refused: then it stays held
    await this.accounts.confirm(accountId, makerOf(caller));
    // the job writes the entry
    this.audit.notNeeded(caller);
    return started;
  }

  /** Plans a job for each account that is due; one that fails delays no other. */
  private async planDue(): Promise<void> {
    for (const due of await this.accounts.dueForSync())
      await this.plan(due).catch((err: Error) =>
        this.logger.warn(
          { account_id: due.id, err: err.message },
          'the synchronisation of an account could not be planned',
        ),
      );
  }

  private async plan({ id: account, owner_id: owner, ...maker }: Maker & Due): Promise<void> {
    const reason = await this.makers.noAdministrator(maker);
    if (reason) return this.hold(account, reason);
    const payload: Payload = { account, confirm: false, at: now(), who: null, owner };
    await this.jobs.enqueue(JOB, payload, keyOf(account));
    await this.accounts.syncPlanned(account);
  }

  /** An account whose interval nobody with the right stands for any more. */
  private async hold(id: number, reason: string): Promise<void> {
    const account = await this.accounts.toSync(id);
    const text = `The account ${account.name} is not synchronised by itself any more: ${reason}`;
    const goesOn = 'a PUT or a synchronisation by an administrator confirms it';
    await this.db.transaction(async (manager) => {
      if (!(await this.accounts.hold(manager, id, reason))) return;
      await this.tellHeld(manager, account, `${text}; ${goesOn}`);
      await this.audit.write(manager, 'system', { ...entryOf(account), action: 'account.hold', after: { reason } });
    });
  }

  private tellHeld(manager: EntityManager, { id, name, owner_id: owner }: SyncedAccount, text: string): Promise<void> {
    return this.makers.tell(manager, { text, owner, details: { account_id: id, account: name } });
  }

  /** That who asked for it may still do so: it may have waited. @throws AppError 403001 */
  private async assertStillMay(account: SyncedAccount, { user_id, token_id }: Who): Promise<void> {
    const reason = await this.makers.noAdministrator({ maker_id: user_id, maker_token_id: token_id });
    if (!reason) return;
    const words = `The synchronisation of the account ${account.name} is held: ${reason}; ask for it again`;
    await this.db.transaction((manager) => this.tellHeld(manager, account, words));
    throw errors.forbidden('sync_held', { account: account.name, why: reason }, { required: `role:${Role.Admin}` });
  }

  private async run({ account: id, confirm: asked, at, who }: Payload, job: JobRun): Promise<SyncResult> {
    // what was confirmed is what the provider listed then, not what it lists at another try
    const confirm = asked && job.attempt === 1 && at > now(-CONFIRMED_MS);
    const account = await this.accounts.toSync(id);
    if (who) await this.assertStillMay(account, who);
    const actor = who ? { ...(actorOf(who) as Caller), ip: who.ip, userAgent: who.userAgent } : 'system';
    const share = { user: account.owner_id, target: id };
    const { counts, ids, lost, ...found } = await this.pool.run(
      share,
      () => this.leases.hold([`account|${id}`], SYNC_WAIT_MS, () => this.syncZones(account, confirm)),
      job.signal,
    );
    const { failed, words } = await this.refreshAll(actor, account, ids, job);
    const result = { ...counts, failed, ...this.noted(account, found) };
    const more = { ...(lost.length > 0 && { lost: lost.slice(0, KEPT) }), ...(confirm && { confirmed: true }) };
    await this.db.transaction(async (manager) => {
      await this.accounts.synced(manager, id, words);
      if (words && !account.last_error) await this.tellFailed(manager, account, words);
      await this.audit.write(manager, actor, { ...entryOf(account), after: { ...result, ...more } });
    });
    const { added, updated, missing } = result;
    void this.events.emit('account.synced', id, { added, updated, missing, failed });
    return result;
  }

  /** What is not as its provider lists it, which is also logged. */
  private noted({ name: account }: SyncedAccount, { leftOut, shared, ...found }: Noted): Partial<SyncResult> {
    const cut = <T>(all: readonly T[]) => (all.length ? all.slice(0, KEPT) : undefined);
    const told = { left_out: cut(leftOut), conflicts: cut(found.conflicts), rebound: cut(found.rebound) };
    const became = { became_private: cut(found.hidden), became_public: cut(found.opened) };
    const noted = { ...told, ...became, shared: cut(shared) };
    const { left_out, conflicts, rebound, became_private, became_public } = noted;
    if (left_out) this.logger.warn({ account, left_out }, 'public suffixes are not added by themselves');
    if (conflicts) this.logger.warn({ account, conflicts }, 'of several public zones of one name one is a domain');
    if (rebound) this.logger.warn({ account, rebound }, 'domains whose zones are gone have other zones of their names');
    if (became_private) this.logger.warn({ account, became_private }, 'the zones of these domains are private');
    if (became_public) this.logger.warn({ account, became_public }, 'the zones of these private domains are public');
    return Object.fromEntries(Object.entries(noted).filter(([, some]) => some));
  }

  private async syncZones(account: SyncedAccount, confirm: boolean): Promise<ZonesFollowed> {
    const { provider } = await this.connections.of(account.id);
    const zones = await provider.listZones();
    const tell = (manager: EntityManager, lost: readonly string[]) => this.tellLost(manager, account, lost);
    return this.zones.follow(account, zones, confirm, tell).catch((error) => {
      throw pointsNowhere(error) ? errors.notFound('account') : error;
    });
  }

  /** @returns how many domains could not be read, and what the account says of them */
  private async refreshAll(
    actor: Actor,
    { id: account_id, name: account, owner_id }: SyncedAccount,
    ids: number[],
    job: JobRun,
  ): Promise<{ failed: number; words: string | null }> {
    const { begun: before = '' } = (job.before ?? {}) as Partial<Progress>;
    const begun = before > now(-RESUMED_MS) ? before : now();
    const progress: Progress = { begun, zones: ids.length, done: 0, failed: 0, reading: [], errors: [] };
    const suspicious: string[] = [];
    // by the process that died
    const isRead = ({ synced_at }: DomainRow) => begun === before && (synced_at ?? '') >= begun;
    const one = async (id: number) => {
      const domain = await this.domains.reload(id).catch(() => null);
      const name = domain ? shownName(domain) : String(id);
      progress.reading.push(name);
      job.progress(progress);
      try {
        // it was deleted meanwhile
        if (domain && !isRead(domain)) await this.records.refresh(domain, actor);
      } catch (error) {
        const { message } = error as Error;
        progress.failed++;
        if (error instanceof SuspiciousList) suspicious.push(message);
        if (progress.errors.length < TOLD) progress.errors.push({ domain: name, error: message });
        this.logger.warn({ account, domain: name, err: message }, 'the records of a domain could not be read');
      }
      progress.done++;
      progress.reading = progress.reading.filter((other) => other !== name);
      job.progress(progress);
    };
    const share = { user: owner_id, target: account_id };
    // more would not get a place
    await sideBySide(ids, POOLS.synchronisations.target, async (id) => {
      if (job.signal.aborted) return;
      await this.pool
        .run(share, () => one(id), job.signal)
        .catch((error) => {
          if (!job.signal.aborted) throw error;
        });
    });
    // what is left is done by another process
    job.signal.throwIfAborted();
    return { failed: progress.failed, words: wordsOf(progress.failed, suspicious) };
  }

  /** It will not be tried again. A caller that waits gets the failure, which is in the audit log by that. */
  private async dead({ account: id, who }: Payload, error: Error, told: boolean): Promise<void> {
    const account = await this.accounts.toSync(id).catch(() => null);
    // it was deleted meanwhile
    if (!account) return;
    await this.db.transaction(async (manager) => {
      await this.accounts.syncFailed(manager, id, error.message);
      if (!account.last_error) await this.tellFailed(manager, account, error.message);
    });
    if (told) return;
    const actor = who ? actorOf(who) : 'system';
    await this.audit.append(actor, { ...entryOf(account), result: 'failed', error: error.message });
  }

  private async tellFailed(manager: EntityManager, { id, name }: SyncedAccount, words: string): Promise<void> {
    const text = `The synchronisation of the account ${name} failed: ${words}`;
    await this.notices.tell(manager, { event: 'sync.failed', text, details: { account_id: id, account: name } });
  }

  /** Zones that the provider does not list any more. */
  private async tellLost(manager: EntityManager, { id, name }: SyncedAccount, lost: readonly string[]): Promise<void> {
    const details = { account_id: id, account: name };
    for (const domain of lost.slice(0, NOTICED)) {
      const text = `The provider of the account ${name} does not list the domain ${domain} any more`;
      await this.notices.tell(manager, { event: 'domain.missing', text, domain, details });
    }
    const more = lost.length - NOTICED;
    const text = `The provider of the account ${name} does not list ${more} more domains any more`;
    if (more > 0) await this.notices.tell(manager, { event: 'domain.missing', text, details });
  }
}

const keyOf = (account: number): string => `${JOB}|${account}`;

const entryOf = ({ id, name }: SyncedAccount) => ({ action: JOB as typeof JOB, target: { type: 'account', id, name } });

function whoOf({ principal, ip, userAgent, requestId }: Caller): Who {
  return {
    actor_type: principal?.kind ?? 'user',
    user_id: principal?.userId ?? null,
    username: principal?.username ?? null,
    token_id: principal?.token?.id ?? null,
    token_name: principal?.token?.name ?? null,
    request_id: requestId,
    door_key: null,
    ip,
    userAgent,
  };
}

/** What went wrong with the records of an account's domains, for its `last_error`. */
function wordsOf(failed: number, suspicious: readonly string[]): string | null {
  const unread = failed - suspicious.length;
  const more = suspicious.length - TOLD;
  const words = suspicious.slice(0, TOLD);
  if (unread) words.unshift(`the records of ${unread} domains could not be read`);
  if (more > 0) words.push(`and ${more} more domains like these`);
  return words.join('; ') || null;
}
