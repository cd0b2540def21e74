import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { Db } from '../database/db.js';
import { provide } from '../metrics/metrics.js';
import { Notices } from '../notifications/notices.service.js';

/** ms: longer pauses are told of through channels */
const NOTICED_MS = 300_000;

/** The pause of an account as its row has it; the time may be over. */
export interface StoredPause {
  paused_until: string | null;
  pause_reason: string | null;
}

export const pauseOf = ({ paused_until, pause_reason }: StoredPause): StoredPause => ({ paused_until, pause_reason });

/** What to show of a stored pause: nothing of one that is over. */
export const shownPause = (row: StoredPause): StoredPause =>
  row.paused_until !== null && row.paused_until > now() ? pauseOf(row) : { paused_until: null, pause_reason: null };

/** Pauses that providers demand of accounts: kept in the database, so that all replicas keep them, and starts, too. */
@Injectable()
export class AccountPauses implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    provide('zoneward_accounts_paused', async () => {
      const sql = 'SELECT provider, COUNT(*) AS n FROM dns_accounts WHERE paused_until > ? GROUP BY provider';
      const rows = await this.db.rows<{ provider: string; n: number | string }>(sql, [now()]);
      return Object.fromEntries(rows.map(({ provider, n }) => [provider, Number(n)]));
    });
  }

  /**
   * Keeps a pause that the provider demanded of these credentials, unless a longer one is kept.
   * @param sealed as the account's row has them
   * @param until as it is stored
   * @returns whether it is kept
   */
  keep(id: number, sealed: string, until: string, reason: string): Promise<boolean> {
    return this.db.transaction(async (manager) => {
      if (!(await this.db.lock(manager, 'dns_accounts', { id }))) return false;
      const row = await this.db.row<StoredPause & { name: string; credentials: string }>(
        'SELECT name, credentials, paused_until, pause_reason FROM dns_accounts WHERE id = ?',
        [id],
        manager,
      );
      // other credentials are not meant
      if (row?.credentials !== sealed || (row.paused_until ?? '') >= until) return false;
      await this.db.run(
        'UPDATE dns_accounts SET paused_until = ?, pause_reason = ? WHERE id = ?',
        [until, reason, id],
        manager,
      );
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
