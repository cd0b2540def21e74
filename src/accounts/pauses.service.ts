import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Notices } from '../notifications/notices.service.js';
import { now } from '../platform/common/clock.js';
import { Db } from '../platform/database/db.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { DnsAccountsRepository, type StoredPause } from './dns-accounts.repository.js';

/** ms: the channels are notified of longer pauses */
const NOTICED_MS = 300_000;

export const pauseOf = ({ paused_until, pause_reason }: StoredPause): StoredPause => ({ paused_until, pause_reason });

/** What to show of a stored pause: nothing of one that is over. */
export const shownPause = (row: StoredPause): StoredPause =>
  row.paused_until !== null && row.paused_until > now() ? pauseOf(row) : { paused_until: null, pause_reason: null };

/** Pauses that providers demand of accounts, stored so that all replicas and later starts keep them. */
@Injectable()
export class AccountPauses implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly accounts: DnsAccountsRepository,
    private readonly notices: Notices,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.provide('zoneward_accounts_paused', () => this.accounts.countPaused(now()));
  }

  /**
   * Keeps a pause that the provider demanded of these credentials, unless a longer one is kept.
   * @param sealed as the account's row has them
   * @param until as it is stored
   * @returns whether it is kept
   */
  keep(id: number, sealed: string, until: string, reason: string): Promise<boolean> {
    return this.db.transaction(async (manager) => {
      if (!(await this.accounts.lock(id, manager))) return false;
      const row = await this.accounts.pauseOf(id, manager);
      // other credentials are not meant
      if (row?.credentials !== sealed || (row.paused_until ?? '') >= until) return false;
      await this.accounts.pause(id, until, reason, manager);
      const noticed = now(NOTICED_MS);
      if (until > noticed && (row.paused_until ?? '') <= noticed)
        await this.notices.tell(manager, {
          event: 'account.paused',
          text: `The account ${row.name} is paused until ${until}, as its provider wants it: ${reason}`,
          details: { account_id: id, account: row.name, paused_until: until, pause_reason: reason },
        });
      return true;
    });
  }
}
