import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Maker } from '../access/maker.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db, marks } from '../platform/database/db.js';
import { type Counted, countedRows, listRows, TOTAL } from '../platform/database/lists.js';
import { SEALED_HEAD } from '../platform/database/sealed-values.js';
import { DnsAccount } from './account.entity.js';

/** An account with the number of its domains. */
export type AccountRow = DnsAccount & { domains_count: number | string };
/** An account by what people know it by. */
export type UsableAccount = Pick<DnsAccount, 'id' | 'name' | 'provider'>;
/** The pause of an account as its row has it; it may be over. */
export type StoredPause = Pick<DnsAccount, 'paused_until' | 'pause_reason'>;
/** What a connection to the provider is made of. */
type StoredConnection = Pick<DnsAccount, 'provider' | 'credentials' | 'paused_until' | 'server_key'>;

/** Why an account needs attention. */
export type Trouble = 'sync_failed' | 'paused' | 'held';
export type TroubledAccount = StoredPause &
  Pick<DnsAccount, 'id' | 'name' | 'last_sync_at' | 'last_error' | 'hold_reason'>;

type Values = Omit<DnsAccount, 'id' | 'owner' | 'team'>;

const COLUMNS = 'a.*, (SELECT COUNT(*) FROM domains d WHERE d.account_id = a.id) AS domains_count';
/** the characters of sealed credentials that name their key */
const HEAD = `SUBSTR(credentials, 1, ${SEALED_HEAD})`;

/** SQL of `dns_accounts`. */
@Injectable()
export class DnsAccountsRepository {
  constructor(private readonly db: Db) {}

  async count(): Promise<number> {
    return Number((await this.db.row<{ n: number }>('SELECT COUNT(*) AS n FROM dns_accounts'))?.n);
  }

  /** @throws AppError 400001 for an unknown `sort` */
  list(query: PageQuery): Promise<{ total: number; list: AccountRow[] }> {
    return listRows<AccountRow>(this.db, query, {
      columns: COLUMNS,
      from: 'dns_accounts a',
      where: '1 = 1',
      values: [],
      sorts: { id: 'a.id', name: 'a.name', provider: 'a.provider', created_at: 'a.created_at' },
      fallback: 'id',
      id: 'a.id',
      search: ['LOWER(a.name)'],
    });
  }

  find(id: number): Promise<AccountRow | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM dns_accounts a WHERE a.id = ?`, [id]);
  }

  /** @returns its id */
  async add(values: Values, manager: EntityManager): Promise<number> {
    return Number((await manager.insert(DnsAccount, values)).identifiers[0]?.id);
  }

  async update(id: number, changes: Partial<Values>, manager: EntityManager): Promise<void> {
    await manager.update(DnsAccount, { id }, changes);
  }

  async delete(id: number, manager: EntityManager): Promise<void> {
    await manager.delete(DnsAccount, { id });
  }

  /** Whether an account was given to a team of the user; undefined: there is no such account. */
  async isSharedWith(id: number, userId: number): Promise<boolean | undefined> {
    const row = await this.db.row<{ id: number; mine: number }>(
      `SELECT a.id, (SELECT COUNT(*) FROM team_members m WHERE m.team_id = a.team_id AND m.user_id = ?) AS mine
         FROM dns_accounts a WHERE a.id = ?`,
      [userId, id],
    );
    return row && Number(row.mine) > 0;
  }

  /** Accounts that were given to a team of the user; null: all. */
  usable(userId: number | null): Promise<UsableAccount[]> {
    const mine = 'WHERE team_id IN (SELECT m.team_id FROM team_members m WHERE m.user_id = ?)';
    const sql = `SELECT id, name, provider FROM dns_accounts ${userId === null ? '' : mine} ORDER BY id`;
    return this.db.rows(sql, userId === null ? [] : [userId]);
  }

  async teamExists(id: number): Promise<boolean> {
    return Boolean(await this.db.row('SELECT id FROM teams WHERE id = ?', [id]));
  }

  async tunnelsCount(id: number, manager: EntityManager): Promise<number> {
    const sql = 'SELECT COUNT(*) AS n FROM tunnels WHERE account_id = ?';
    return Number((await this.db.row<{ n: number | string }>(sql, [id], manager))?.n);
  }

  /** The owner of each account, by the account's id. */
  async owners(): Promise<Map<number, number | null>> {
    const rows = await this.db.rows<Pick<DnsAccount, 'id' | 'owner_id'>>('SELECT id, owner_id FROM dns_accounts');
    return new Map(rows.map(({ id, owner_id }) => [id, owner_id]));
  }

  /** Accounts whose synchronisation by interval is due, but for those on hold. */
  dueForSync(at: string): Promise<(Maker & Pick<DnsAccount, 'id' | 'owner_id'>)[]> {
    return this.db.rows(
      `SELECT id, owner_id, maker_id, maker_token_id FROM dns_accounts
        WHERE sync_interval_minutes > 0 AND (sync_next_at IS NULL OR sync_next_at <= ?) AND hold_reason IS NULL
        ORDER BY sync_next_at`,
      [at],
    );
  }

  /** @returns minutes; 0 also where there is no such account */
  async syncInterval(id: number): Promise<number> {
    const sql = 'SELECT sync_interval_minutes AS minutes FROM dns_accounts WHERE id = ?';
    return Number((await this.db.row<{ minutes: number }>(sql, [id]))?.minutes ?? 0);
  }

  async planSync(id: number, next: string): Promise<void> {
    await this.db.run('UPDATE dns_accounts SET sync_next_at = ? WHERE id = ?', [next, id]);
  }

  async setError(id: number, error: string, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE dns_accounts SET last_error = ? WHERE id = ?', [error, id], manager);
  }

  /** @returns false when it was on hold already */
  async hold(id: number, reason: string, manager: EntityManager): Promise<boolean> {
    const sql = 'UPDATE dns_accounts SET hold_reason = ? WHERE id = ? AND hold_reason IS NULL';
    return (await this.db.run(sql, [reason, id], manager)) > 0;
  }

  /** Ends the hold, if there is one; from now on it acts with the right of this maker. */
  async release(id: number, { maker_id, maker_token_id }: Maker): Promise<void> {
    await this.db.run(
      `UPDATE dns_accounts SET hold_reason = NULL, maker_id = ?, maker_token_id = ?
        WHERE id = ? AND hold_reason IS NOT NULL`,
      [maker_id, maker_token_id, id],
    );
  }

  /** @returns false when there is no such account */
  lock(id: number, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'dns_accounts', { id });
  }

  pauseOf(
    id: number,
    manager: EntityManager,
  ): Promise<(StoredPause & Pick<DnsAccount, 'name' | 'credentials'>) | undefined> {
    const sql = 'SELECT name, credentials, paused_until, pause_reason FROM dns_accounts WHERE id = ?';
    return this.db.row(sql, [id], manager);
  }

  async pause(id: number, until: string, reason: string, manager: EntityManager): Promise<void> {
    const sql = 'UPDATE dns_accounts SET paused_until = ?, pause_reason = ? WHERE id = ?';
    await this.db.run(sql, [until, reason, id], manager);
  }

  /** How many accounts of each provider are paused. */
  async countPaused(at: string): Promise<Record<string, number>> {
    const sql = 'SELECT provider, COUNT(*) AS n FROM dns_accounts WHERE paused_until > ? GROUP BY provider';
    const rows = await this.db.rows<{ provider: string; n: number | string }>(sql, [at]);
    return Object.fromEntries(rows.map(({ provider, n }) => [provider, Number(n)]));
  }

  /** How many accounts of each provider there are. */
  async countByProvider(): Promise<Map<string, number>> {
    const sql = 'SELECT provider, COUNT(*) AS n FROM dns_accounts GROUP BY provider';
    const rows = await this.db.rows<{ provider: string; n: number | string }>(sql);
    return new Map(rows.map(({ provider, n }) => [provider, Number(n)]));
  }

  /**
   * The first accounts whose last synchronisation failed, that are paused now, or that are not synchronised by
   * interval any more.
   */
  troubled(trouble: Trouble, at: string, limit: number): Promise<Counted<TroubledAccount>> {
    const where = {
      sync_failed: 'last_error IS NOT NULL',
      paused: 'paused_until > ?',
      held: 'hold_reason IS NOT NULL',
    };
    return countedRows(
      this.db,
      `SELECT id, name, last_sync_at, last_error, paused_until, pause_reason, hold_reason, ${TOTAL}
         FROM dns_accounts WHERE ${where[trouble]} ORDER BY id LIMIT ?`,
      [...(trouble === 'paused' ? [at] : []), limit],
    );
  }

  /** The end of the pause of each of these accounts, by id. */
  async pauseEnds(ids: readonly number[]): Promise<Map<number, string | null>> {
    const rows = await this.db.rows<{ id: number; paused_until: string | null }>(
      `SELECT id, paused_until FROM dns_accounts WHERE id IN (${marks(ids.length)})`,
      ids,
    );
    return new Map(rows.map((row) => [row.id, row.paused_until]));
  }

  connectionOf(id: number): Promise<StoredConnection | undefined> {
    return this.db.row('SELECT provider, credentials, paused_until, server_key FROM dns_accounts WHERE id = ?', [id]);
  }

  /** Keeps which server an account is at, unless its credentials have changed. */
  async setServer(id: number, credentials: string, server: string): Promise<void> {
    const sql = 'UPDATE dns_accounts SET server_key = ? WHERE id = ? AND credentials = ?';
    await this.db.run(sql, [server, id, credentials]);
  }

  /** Accounts with credentials whose server is not known yet. */
  async withoutServer(): Promise<number[]> {
    const sql = "SELECT id FROM dns_accounts WHERE server_key IS NULL AND credentials <> ''";
    return (await this.db.rows<{ id: number }>(sql)).map(({ id }) => id);
  }

  /** The first characters of all sealed credentials, which name their keys. */
  async sealedHeads(): Promise<string[]> {
    return (await this.db.rows<{ head: string }>(`SELECT ${HEAD} AS head FROM dns_accounts`)).map(({ head }) => head);
  }

  /** Credentials of the next accounts after `id` that another key than that of `head` has sealed. */
  sealedByOthers(id: number, head: string, limit: number): Promise<{ id: number; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, credentials AS sealed FROM dns_accounts
        WHERE id > ? AND credentials <> '' AND ${HEAD} <> ? ORDER BY id LIMIT ${limit}`,
      [id, head],
    );
  }

  /** @returns 0 when the credentials are others by now */
  resealCredentials(id: number, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE dns_accounts SET credentials = ? WHERE id = ? AND credentials = ?', [fresh, id, old]);
  }

  /** All accounts that have credentials, with the first characters of these. */
  sealed(): Promise<{ id: number; name: string; head: string }[]> {
    return this.db.rows(`SELECT id, name, ${HEAD} AS head FROM dns_accounts WHERE credentials <> '' ORDER BY id`);
  }

  /**
   * Drops credentials, unless another key has sealed them meanwhile.
   * @param error what the account shows from now on
   */
  dropCredentials(id: number, head: string, error: string, manager: EntityManager): Promise<number> {
    return this.db.run(
      `UPDATE dns_accounts SET credentials = '', last_error = ? WHERE id = ? AND ${HEAD} = ?`,
      [error, id, head],
      manager,
    );
  }
}
