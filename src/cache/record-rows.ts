import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { recordSearch } from '../common/search.js';
import { type Db, marks, type SqlValue } from '../database/db.js';
import type { CacheRow, RowValues } from './reconcile.js';

/** What follows the provider. */
export const FOLLOWING = [
  'remote_id',
  'host',
  'type',
  'value',
  'ttl',
  'line',
  'proxied',
  'priority',
  'weight',
  'enabled',
  'read_only',
] as const;
const COLUMNS = ['domain_id', ...FOLLOWING, 'remark', 'updated_at', 'created_at'] as const;
/** The columns of a cached record, for queries over `dns_records`. */
export const RECORD_COLUMNS = `id, ${COLUMNS.join(', ')}, pending`;

/** A cached record as stored, with its booleans as booleans. */
export interface StoredRecord extends CacheRow {
  domain_id: number;
  remark: string;
  updated_at: string;
  created_at: string | null;
  /** a change of it was sent to the provider, and nobody knows yet whether it was applied */
  pending: boolean;
}

/** A row as far as it is counted. */
export type Counted = { id: number; type: string; remote_id: string | null };

const CHUNK = 200;

/** One row of a raw query; booleans are 0/1 on SQLite and MariaDB. */
export function stored(row: StoredRecord): StoredRecord {
  row.proxied = Boolean(row.proxied);
  row.enabled = Boolean(row.enabled);
  row.read_only = Boolean(row.read_only);
  row.pending = Boolean(row.pending);
  return row;
}

/** Statements over the rows of cached records. Whoever writes keeps the counts: `RecordCache` does. */
export class RecordRows {
  constructor(private readonly db: Db) {}

  /** Those of a domain that have one of these ids, or of these ids of the provider. */
  async counted(
    manager: EntityManager,
    domainId: number,
    column: 'id' | 'remote_id',
    values: readonly SqlValue[],
  ): Promise<Counted[]> {
    const rows: Counted[] = [];
    await this.each(values, async (some) => {
      const which = `domain_id = ? AND ${column} IN (${marks(some.length)})`;
      const sql = `SELECT id, type, remote_id FROM dns_records WHERE ${which}`;
      rows.push(...(await this.db.rows<Counted>(sql, [domainId, ...some], manager)));
      return 0;
    });
    return rows;
  }

  /** One new row, under an id that it had before if there is one. @returns its id */
  async add(
    manager: EntityManager,
    domainId: number,
    id: number | null,
    row: RowValues & { remark: string },
    at: string,
  ): Promise<number> {
    const all = { ...row, domain_id: domainId, updated_at: at, created_at: at };
    if (id !== null) {
      const sql = `INSERT INTO dns_records (${COLUMNS.join(', ')}, search, id) VALUES (${marks(COLUMNS.length + 2)})`;
      await this.db.run(sql, [...values(all), id], manager);
      return id;
    }
    return this.db.insert('dns_records', { ...all, search: recordSearch(row) }, manager);
  }

  /** Many rows in few statements; their ids are not told. */
  async insert(
    manager: EntityManager,
    domainId: number,
    rows: readonly (RowValues & { remark?: string })[],
    at = now(),
  ): Promise<void> {
    const one = `(${marks(COLUMNS.length + 1)})`;
    for (let i = 0; i < rows.length; i += CHUNK) {
      const chunk = rows.slice(i, i + CHUNK);
      await this.db.run(
        `INSERT INTO dns_records (${COLUMNS.join(', ')}, search) VALUES ${chunk.map(() => one).join(', ')}`,
        chunk.flatMap((row) => values({ remark: '', ...row, domain_id: domainId, updated_at: at, created_at: at })),
        manager,
      );
    }
  }

  async update(manager: EntityManager, id: number, row: RowValues & { remark: string }, at = now()): Promise<void> {
    const entries = Object.entries({ ...row, search: recordSearch(row), updated_at: at });
    await this.db.run(
      `UPDATE dns_records SET ${entries.map(([key]) => `${key} = ?`).join(', ')} WHERE id = ?`,
      [...entries.map(([, value]) => value as SqlValue), id],
      manager,
    );
  }

  drop(manager: EntityManager, ids: readonly number[]): Promise<number> {
    return this.each(ids, (some) =>
      this.db.run(`DELETE FROM dns_records WHERE id IN (${marks(some.length)})`, some, manager),
    );
  }

  /** Rows that are about to get another id of the provider, which one of them may have still. */
  unkey(manager: EntityManager, ids: readonly number[]): Promise<number> {
    return this.each(ids, (some) =>
      this.db.run(`UPDATE dns_records SET remote_id = NULL WHERE id IN (${marks(some.length)})`, some, manager),
    );
  }

  /** In statements of a bounded length. @returns the sum of what each says */
  async each<T>(list: readonly T[], work: (some: T[]) => Promise<number>): Promise<number> {
    let sum = 0;
    for (let i = 0; i < list.length; i += CHUNK) sum += await work(list.slice(i, i + CHUNK));
    return sum;
  }
}

const values = (row: Omit<StoredRecord, 'id' | 'pending'>): SqlValue[] => [
  ...COLUMNS.map((column) => row[column]),
  recordSearch(row),
];
