import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import PQueue from 'p-queue';
import type { SyncResult } from '../accounts/account.dto.js';
import { AccountsService, type SyncedAccount } from '../accounts/accounts.service.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import type { Caller } from '../common/access.js';
import { within } from '../common/clock.js';
import { log } from '../common/logger.js';
import { Db } from '../database/db.js';
import { Leases } from '../database/leases.js';
import { DomainsService } from '../domains/domains.service.js';
import { Zones, type ZonesFollowed } from '../domains/zones.service.js';
import { RecordSyncService } from './record-sync.service.js';
import { SuspiciousList } from './suspicious.js';

const SYNC_WAIT_MS = 60_000;
/** ms after which the answer no longer waits for the records of the remaining domains */
const ANSWER_MS = 50_000;
/** ms that the end waits for records that are being read: a list that is cut off changes nothing */
const STOP_WAIT_MS = 2_000;
/** zones of one account that are read at once */
const PARALLEL = 4;
/** suspicious domains that an account's `last_error` names */
const TOLD = 10;
/** names of lost zones that the audit log keeps */
const KEPT = 100;

interface Progress {
  done: number;
  failed: number;
  /** of the failed, what was said of those whose list is not believed */
  suspicious: string[];
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
    private readonly accounts: AccountsService,
    private readonly connections: ProviderConnections,
    private readonly zones: Zones,
    private readonly domains: DomainsService,
    private readonly records: RecordSyncService,
    private readonly audit: AuditService,
  ) {}

  /** Before the server waits for requests in flight: a long sync among them ends after the zones that it is at. */
  onModuleDestroy(): void {
    this.stopping = true;
  }

  async onApplicationShutdown(): Promise<void> {
    await within(Promise.allSettled(this.running), STOP_WAIT_MS);
  }

  /**
   * @param confirm the provider's list of zones is right, whatever it lacks; lists of records are confirmed a domain
   * each
   * @throws AppError 404001, 409002; ProviderError when the zones cannot be listed in full: then nothing was changed
   */
  async sync(caller: Caller, accountId: number, confirm: boolean): Promise<SyncResult> {
    const account = await this.accounts.toSync(accountId);
    const entry = { action: 'account.sync', target: { type: 'account', id: accountId, name: account.name } };
    const { counts, ids, lost } = await this.leases.hold([`account|${accountId}`], SYNC_WAIT_MS, () =>
      this.syncZones(account, confirm).catch(async (error: Error) => {
        await this.accounts.syncFailed(accountId, error.message);
        throw error;
      }),
    );
    const progress: Progress = { done: 0, failed: 0, suspicious: [] };
    const all = this.refreshAll(caller, account.name, ids, progress);
    this.running.add(all);
    void all.finally(() => this.running.delete(all));
    await within(all, ANSWER_MS);
    const result = { ...counts, failed: progress.failed, pending: ids.length - progress.done };
    const error = wordsOf(progress);
    await this.db.transaction(async (manager) => {
      await this.accounts.synced(manager, accountId, error);
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

  private async syncZones(account: SyncedAccount, confirm: boolean): Promise<ZonesFollowed> {
    const { provider } = await this.connections.of(account.id);
    return this.zones.follow(account, await provider.listZones(), confirm);
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
