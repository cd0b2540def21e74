import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errors } from '../common/errors.js';
import { type Maker } from '../common/maker.js';
import { Db, type SqlValue } from '../database/db.js';
import { listRows } from '../database/lists.js';
import type { RemoteRule } from '../providers/tunnels.js';
import { fits, heldRules, hostnamesOf, shownRule } from './ingress.js';
import type { TunnelQuery, TunnelView } from './tunnel.dto.js';
import type { Tunnel } from './tunnel.entity.js';
import { unmanagedView, type Without } from './unmanaged.js';

/** A stored tunnel. */
export type TunnelRow = Omit<Tunnel, 'account'>;
/** What may change of it. */
export type TunnelChange = Partial<Omit<TunnelRow, 'id' | 'account_id' | 'remote_account' | 'mark' | 'created_at'>>;

const COLUMNS = `id, account_id, remote_account, tunnel_id, target, mark, name, state, forced, status, ingress, version,
  dns_managed, unmanaged, connections, unsettled, settle_after, last_error, maker_id, maker_token_id, hold_reason, created_at`;
const MAX_ERROR = 1000;

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

/** An error as it is kept. */
export const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR);

/**
 * The rules that count, by what the provider shows. Where it shows none any more, of a tunnel that had some, those that
 * are known stay: nobody else knows the hostnames whose CNAMEs go with them.
 */
export function rulesOf(
  row: Pick<TunnelRow, 'ingress' | 'version' | 'unmanaged' | 'dns_managed'>,
  shown: { ingress: RemoteRule[]; version: number },
): Pick<TunnelRow, 'ingress' | 'version' | 'unmanaged'> {
  const { ingress, version, unmanaged } = row;
  if (shown.version === 0 && version) return { ingress, version, unmanaged };
  const held = heldRules(shown.ingress);
  return { ingress: held, version: shown.version, unmanaged: leftBehind(row, hostnamesOf(held)) };
}

/** Hostnames whose rules somebody else took away: their CNAMEs stay until the next change here. */
export const leftOf = ({ unmanaged }: Pick<TunnelRow, 'unmanaged'>): string[] =>
  unmanaged.filter(([, why]) => why === 'left').map(([hostname]) => hostname);

/** What is unmanaged when the rules are those of `hostnames`. */
function leftBehind(
  { ingress, unmanaged, dns_managed }: Pick<TunnelRow, 'ingress' | 'unmanaged' | 'dns_managed'>,
  hostnames: readonly string[],
): Without[] {
  const rest = unmanaged.filter(([hostname, why]) => hostnames.includes(hostname) !== (why === 'left'));
  const known = new Set(unmanaged.map(([hostname]) => hostname));
  const gone = hostnamesOf(ingress).filter((hostname) => !hostnames.includes(hostname) && !known.has(hostname));
  const all = [...rest, ...(dns_managed ? gone : []).map((hostname): Without => [hostname, 'left'])];
  return fits(all) ? all : rest;
}

/** The table of tunnels. Nothing here talks to a provider. */
@Injectable()
export class TunnelRows {
  constructor(private readonly db: Db) {}

  async one(id: number): Promise<TunnelRow | null> {
    const row = await this.db.row<Raw>(`SELECT ${COLUMNS} FROM tunnels WHERE id = ?`, [id]);
    return row ? parsed(row) : null;
  }

  /** The one that is known for a tunnel of a provider, or was begun for it. */
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

  /** Those that something was begun with, and not ended, but for those that wait for somebody's confirmation. */
  async unsettled(): Promise<TunnelRow[]> {
    const open = `(state <> 'ready' OR unsettled IS NOT NULL) AND hold_reason IS NULL`;
    const sql = `SELECT ${COLUMNS} FROM tunnels WHERE ${open} ORDER BY id`;
    return (await this.db.rows<Raw>(sql)).map(parsed);
  }

  /** Those that nothing is being done with. */
  async ready(): Promise<TunnelRow[]> {
    const sql = `SELECT ${COLUMNS} FROM tunnels WHERE state = 'ready' AND unsettled IS NULL ORDER BY id`;
    return (await this.db.rows<Raw>(sql)).map(parsed);
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

  /** What is held goes on with the right of who confirms it. */
  async confirm(id: number, { maker_id, maker_token_id }: Maker): Promise<void> {
    await this.db.run(
      'UPDATE tunnels SET hold_reason = NULL, maker_id = ?, maker_token_id = ? WHERE id = ? AND hold_reason IS NOT NULL',
      [maker_id, maker_token_id, id],
    );
  }

  /** What was seen at the provider, unless something was begun, or known to be newer, since `row` was read. */
  async seen(row: TunnelRow, change: TunnelChange): Promise<void> {
    const values = written(change);
    const columns = Object.keys(values).map((column) => `${column} = ?`);
    if (!columns.length) return;
    const version = row.version === null ? 'version IS NULL' : 'version = ?';
    const same = `id = ? AND state = 'ready' AND unsettled IS NULL AND name = ? AND ${version}`;
    const known: SqlValue[] = [row.id, row.name, ...(row.version === null ? [] : [row.version])];
    await this.db.run(`UPDATE tunnels SET ${columns.join(', ')} WHERE ${same}`, [...Object.values(values), ...known]);
  }

  async remove(id: number, manager: EntityManager): Promise<boolean> {
    return (await this.db.run('DELETE FROM tunnels WHERE id = ?', [id], manager)) > 0;
  }
}

/** A tunnel as the API shows it. */
export function tunnelView(row: TunnelRow): TunnelView {
  const { id, account_id, remote_account, tunnel_id, name, state, status, connections, ingress, version } = row;
  const { dns_managed, last_error, hold_reason, created_at } = row;
  const unmanaged = row.unmanaged.map(unmanagedView);
  return {
    ...{ id, account_id, cloudflare_account: remote_account, tunnel_id, name, state, status, connections },
    ...{ ingress: ingress.map(shownRule), version, dns_managed, unmanaged, last_error, hold_reason, created_at },
  };
}

/** The same for the audit log: without what is only seen. */
export function tunnelState(row: TunnelRow) {
  const { status: _s, connections: _c, last_error: _e, hold_reason: _h, ...state } = tunnelView(row);
  return state;
}

/** 409001: another tunnel has the name. @param known the one that is known here */
export function nameTaken(name: string, known?: TunnelRow) {
  const more = known && known.state !== 'ready' ? `, and is ${known.state}` : '';
  const words = `there is a tunnel ${name} already${known ? ` (id ${known.id}${more})` : ' at the provider'}`;
  return errors.taken('name', words, known && { id: known.id });
}
