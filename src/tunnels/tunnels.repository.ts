import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Maker } from '../access/maker.js';
import { Db, type SqlValue } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import type { TunnelQuery } from './tunnel.dto.js';
import type { Tunnel } from './tunnel.entity.js';

/** A stored tunnel. */
export type TunnelRow = Omit<Tunnel, 'account'>;
/** What may change of it. */
export type TunnelChange = Partial<Omit<TunnelRow, 'id' | 'account_id' | 'remote_account' | 'mark' | 'created_at'>>;

const COLUMNS = `id, account_id, remote_account, tunnel_id, target, mark, name, state, forced, status, ingress, version,
  dns_managed, unmanaged, connections, unsettled, settle_after, last_error, maker_id, maker_token_id, hold_reason, created_at`;

type Raw = { [K in keyof TunnelRow]: SqlValue };

const parsed = ({ ingress, unmanaged, connections, unsettled, forced, dns_managed, ...row }: Raw): TunnelRow => ({
  ...(row as Pick<TunnelRow, keyof typeof row>),
  ingress: JSON.parse(ingress as string),
  unmanaged: JSON.parse(unmanaged as string),
  connections: JSON.parse(connections as string),
  unsettled: unsettled === null ? null : JSON.parse(unsettled as string),
  forced: Boolean(forced),
  dns_managed: Boolean(dns_managed),
});

const written = (change: object): Record<string, SqlValue> =>
  Object.fromEntries(
    Object.entries(change).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as SqlValue),
    ]),
  );

/** SQL of `tunnels`. */
@Injectable()
export class TunnelsRepository {
  constructor(private readonly db: Db) {}

  async find(id: number): Promise<TunnelRow | null> {
    const row = await this.db.row<Raw>(`SELECT ${COLUMNS} FROM tunnels WHERE id = ?`, [id]);
    return row ? parsed(row) : null;
  }

  /** The one of a tunnel at the provider, also when its creation is not completed. */
  async known(tunnelId: string, mark: string | null): Promise<TunnelRow | null> {
    const sql = `SELECT ${COLUMNS} FROM tunnels WHERE tunnel_id = ? OR mark = ?`;
    const row = await this.db.row<Raw>(sql, [tunnelId, mark ?? tunnelId]);
    return row ? parsed(row) : null;
  }

  async list(query: TunnelQuery): Promise<{ total: number; list: TunnelRow[] }> {
    const { total, list } = await listRows<Raw>(this.db, query, {
      columns: COLUMNS,
      from: 'tunnels t',
      where: query.account_id === undefined ? '1 = 1' : 't.account_id = ?',
      values: query.account_id === undefined ? [] : [query.account_id],
      sorts: { id: 't.id', name: 't.name', status: 't.status', created_at: 't.created_at' },
      fallback: 'id',
      id: 't.id',
      search: ['LOWER(t.name)'],
    });
    return { total, list: list.map(parsed) };
  }

  /** Those with a change that was begun and not ended, but for those on hold. */
  async unsettled(): Promise<TunnelRow[]> {
    const open = `(state <> 'ready' OR unsettled IS NOT NULL) AND hold_reason IS NULL`;
    const sql = `SELECT ${COLUMNS} FROM tunnels WHERE ${open} ORDER BY id`;
    return (await this.db.rows<Raw>(sql)).map(parsed);
  }

  /** Those without a change that was begun and not ended. */
  async ready(): Promise<TunnelRow[]> {
    const sql = `SELECT ${COLUMNS} FROM tunnels WHERE state = 'ready' AND unsettled IS NULL ORDER BY id`;
    return (await this.db.rows<Raw>(sql)).map(parsed);
  }

  /** The hostnames whose CNAMEs tunnels keep. */
  async hostnames(): Promise<string[]> {
    const rows = await this.db.rows<{ ingress: string }>('SELECT ingress FROM tunnels WHERE dns_managed = ?', [true]);
    return rows.flatMap(({ ingress }) =>
      (JSON.parse(ingress) as TunnelRow['ingress']).flatMap(({ hostname }) => hostname ?? []),
    );
  }

  add(row: Omit<TunnelRow, 'id'>, manager: EntityManager): Promise<number> {
    return this.db.insert('tunnels', written(row), manager);
  }

  /** @returns whether it is still there */
  async update(id: number, change: TunnelChange, manager?: EntityManager): Promise<boolean> {
    const values = written(change);
    const columns = Object.keys(values).map((column) => `${column} = ?`);
    const sql = `UPDATE tunnels SET ${columns.join(', ')} WHERE id = ?`;
    return (await this.db.run(sql, [...Object.values(values), id], manager)) > 0;
  }

  /** Ends the hold, if there is one; the change goes on with the right of this maker. */
  async release(id: number, { maker_id, maker_token_id }: Maker): Promise<void> {
    await this.db.run(
      'UPDATE tunnels SET hold_reason = NULL, maker_id = ?, maker_token_id = ? WHERE id = ? AND hold_reason IS NOT NULL',
      [maker_id, maker_token_id, id],
    );
  }

  /** Stores what the provider shows, unless a change was begun, or something newer stored, since `row` was read. */
  async updateIfUnchanged(row: TunnelRow, change: TunnelChange): Promise<void> {
    const values = written(change);
    const columns = Object.keys(values).map((column) => `${column} = ?`);
    if (!columns.length) return;
    const version = row.version === null ? 'version IS NULL' : 'version = ?';
    const same = `id = ? AND state = 'ready' AND unsettled IS NULL AND name = ? AND ${version}`;
    const known: SqlValue[] = [row.id, row.name, ...(row.version === null ? [] : [row.version])];
    await this.db.run(`UPDATE tunnels SET ${columns.join(', ')} WHERE ${same}`, [...Object.values(values), ...known]);
  }

  /** @returns whether it was still there */
  async delete(id: number, manager: EntityManager): Promise<boolean> {
    return (await this.db.run('DELETE FROM tunnels WHERE id = ?', [id], manager)) > 0;
  }
}
