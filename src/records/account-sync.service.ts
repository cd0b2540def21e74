import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import PQueue from 'p-queue';
import type { SyncResult } from '../accounts/account.dto.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import type { Caller } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import { Db, marks } from '../database/db.js';
import { Leases } from '../database/leases.js';
import { zoneName } from '../dns/names.js';
import { Domain } from '../domains/domain.entity.js';
import { DomainsService } from '../domains/domains.service.js';
import type { RemoteZone } from '../providers/provider.js';
import { RecordSyncService } from './record-sync.service.js';
import { assertCredible, SuspiciousList } from './suspicious.js';

const SYNC_WAIT_MS = 60_000;
/** ms after which the answer no longer waits for the records of the remaining domains */
const ANSWER_MS = 50_000;
/** zones of one account that are read at once */
const PARALLEL = 4;
const CHUNK = 200;
/** suspicious domains that an account's `last_error` names */
const TOLD = 10;
/** names of lost zones that the audit log keeps */
const KEPT = 100;

interface Account {
  id: number;
  name: string;
  owner_id: number | null;
}

interface Progress {
  done: number;
  failed: number;
  /** of the failed, what was said of those whose list is not believed */
  suspicious: string[];
}

interface Known {
  id: number;
  name: string;
  remote_id: string;
  status: string;
}

/** Synchronises an account: first its zones, whole or not at all, then the records of each. */
@Injectable()
export class AccountSyncService implements OnModuleDestroy, OnApplicationShutdown {
  /** record refreshes that outlive their answer */
  private readonly running = new Set<Promise<unknown>>();
  private stopping = false;

  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly connections: ProviderConnections,
    private readonly domains: DomainsService,
    private readonly records: RecordSyncService,
    private readonly audit: AuditService,
  ) {}

  /** Before the server waits for requests in flight: a long sync among them ends after the zones that it is at. */
  onModuleDestroy(): void {
    this.stopping = true;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /**
   * @param confirm the provider's list of zones is right, whatever it lacks; lists of records are confirmed a domain each
   * @throws AppError 404001, 409002; ProviderError when the zones cannot be listed in full: then nothing was changed
   */
  async sync(caller: Caller, accountId: number, confirm: boolean): Promise<SyncResult> {
    const account = await this.db.row<Account>('SELECT id, name, owner_id FROM dns_accounts WHERE id = ?', [accountId]);
    if (!account) throw errors.notFound('Account');
    const entry = { action: 'account.sync', target: { type: 'account', id: accountId, name: account.name } };
    const { counts, ids, lost } = await this.leases.hold([`account|${accountId}`], SYNC_WAIT_MS, () =>
      this.syncZones(account, confirm).catch(async (error: Error) => {
        await this.db.run('UPDATE dns_accounts SET last_error = ? WHERE id = ?', [error.message, accountId]);
        throw error;
      }),
    );
    const progress: Progress = { done: 0, failed: 0, suspicious: [] };
    const all = this.refreshAll(caller, account.name, ids, progress);
    this.running.add(all);
    void all.finally(() => this.running.delete(all));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS);
    });
    await Promise.race([all, patience]);
    clearTimeout(timer);
    const result = { ...counts, failed: progress.failed, pending: ids.length - progress.done };
    const error = wordsOf(progress);
    await this.db.transaction(async (manager) => {
      await this.db.run(
        'UPDATE dns_accounts SET last_sync_at = ?, last_error = ? WHERE id = ?',
        [now(), error, accountId],
        manager,
      );
      await this.audit.write(manager, caller, {
        ...entry,
        after: {
          ...result,
          ...(lost.length > 0 && { lost: lost.slice(0, KEPT) }),
          ...(confirm && { confirmed: true }),
        },
      });
    });
    return result;
  }

  private async syncZones({ id: accountId, owner_id }: Account, confirm: boolean) {
    const { provider } = await this.connections.of(accountId);
    const zones = dedupe(await provider.listZones());
    const known = await this.db.rows<Known>('SELECT id, name, remote_id, status FROM domains WHERE account_id = ?', [
      accountId,
    ]);
    const byName = new Map(known.map((d) => [d.name, d]));
    const listed = new Set(zones.map((z) => z.name));
    const added = zones.filter((z) => !byName.has(z.name));
    const gone = known.filter((d) => !listed.has(d.name));
    const active = known.filter((d) => d.status === 'active').length;
    const lost = gone.filter((d) => d.status === 'active');
    const lostNames = lost.map((d) => d.name);
    if (!confirm) assertCredible(zones.length, active, lostNames);
    const moved = zones.filter((z) => {
      const d = byName.get(z.name);
      return d && (d.remote_id !== z.id || d.status !== 'active');
    });
    await this.db.transaction(async (manager) => {
      const row = {
        account_id: accountId,
        owner_id,
        status: 'active',
        remark: '',
        created_at: now(),
      };
      for (let i = 0; i < added.length; i += CHUNK) {
        const chunk = added
          .slice(i, i + CHUNK)
          .map((z) => ({ ...row, name: z.name, remote_id: z.id, records_count: 0, revision: 0 }));
        await manager.insert(Domain, chunk);
      }
      for (const z of moved) {
        await manager.update(Domain, { account_id: accountId, name: z.name }, { remote_id: z.id, status: 'active' });
      }
      for (let i = 0; i < lost.length; i += CHUNK) {
        const ids = lost.slice(i, i + CHUNK).map((d) => d.id);
        await this.db.run(`UPDATE domains SET status = 'missing' WHERE id IN (${marks(ids.length)})`, ids, manager);
      }
    });
    const ids = await this.db.rows<{ id: number }>(
      `SELECT id FROM domains WHERE account_id = ? AND status = 'active' ORDER BY id`,
      [accountId],
    );
    const counts = { added: added.length, updated: zones.length - added.length, missing: gone.length };
    return { counts, ids: ids.map((d) => d.id), lost: lostNames };
  }

  private async refreshAll(caller: Caller, account: string, ids: number[], progress: Progress): Promise<void> {
    const queue = new PQueue({ concurrency: PARALLEL });
    const step = Math.max(1, Math.ceil(ids.length / 20));
    await queue.addAll(
      ids.map((id) => async () => {
        if (this.stopping) return;
        try {
          await this.records.refresh(await this.domains.reload(id), caller);
        } catch (error) {
          progress.failed++;
          if (error instanceof SuspiciousList) progress.suspicious.push(error.message);
          log().warn(
            { account, domain_id: id, err: (error as Error).message },
            'the records of a domain could not be read',
          );
        }
        progress.done++;
        if (progress.done % step === 0 || progress.done === ids.length) {
          log().info(
            { account, done: progress.done, of: ids.length, failed: progress.failed },
            'synchronising records',
          );
        }
      }),
    );
  }
}

/** What went wrong with the records of an account's domains, for its `last_error`. */
function wordsOf({ failed, suspicious }: Progress): string | null {
  const unread = failed - suspicious.length;
  const more = suspicious.length - TOLD;
  const words = [
    ...(unread ? [`the records of ${unread} domains could not be read`] : []),
    ...suspicious.slice(0, TOLD),
    ...(more > 0 ? [`and ${more} more domains like these`] : []),
  ];
  return words.join('; ') || null;
}

/** Providers may list a name twice (split-horizon zones); the first one counts, since an account holds a name once. */
function dedupe(zones: RemoteZone[]): RemoteZone[] {
  const seen = new Map<string, RemoteZone>();
  for (const zone of zones) {
    try {
      const name = zoneName(zone.name);
      if (!seen.has(name)) seen.set(name, { ...zone, name });
    } catch {
      log().warn({ zone: zone.name }, 'a zone of the provider has no valid name; left out');
    }
  }
  return [...seen.values()];
}
