import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { recordSearch } from '../common/search.js';
import { Db, marks, type SqlValue } from '../database/db.js';
import { domainState } from '../domains/domain-state.js';
import type { CacheRow, Difference, RowValues } from './reconcile.js';

const FOLLOWING = [
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
export const RECORD_COLUMNS = `id, ${COLUMNS.join(', ')}`;

/** A cached record as stored, with its booleans as booleans. */
export interface StoredRecord extends CacheRow {
  domain_id: number;
  remark: string;
  updated_at: string;
  created_at: string | null;
}

const CHUNK = 200;

/** One row of a raw query; booleans are 0/1 on SQLite and MariaDB. */
export function stored(row: StoredRecord): StoredRecord {
  row.proxied = Boolean(row.proxied);
  row.enabled = Boolean(row.enabled);
  row.read_only = Boolean(row.read_only);
  return row;
}

/** The table of cached records. Nothing here asks who may, or talks to a provider. */
@Injectable()
export class RecordCache {
  constructor(private readonly db: Db) {}

  async one(domainId: number, id: number): Promise<StoredRecord | null> {
    const row = await this.db.row<StoredRecord>(
      `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE id = ? AND domain_id = ?`,
      [id, domainId],
    );
    return row ? stored(row) : null;
  }

  /** All rows of a domain, or those at some hosts. */
  async all(domainId: number, hosts?: readonly string[]): Promise<StoredRecord[]> {
    const some = hosts ? ` AND host IN (${marks(hosts.length)})` : '';
    const rows = await this.db.rows<StoredRecord>(
      `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE domain_id = ?${some} ORDER BY id`,
      [domainId, ...(hosts ?? [])],
    );
    return rows.map(stored);
  }

  /** All rows of a domain with what follows the provider only: a large zone is compared without the rest. */
  async following(domainId: number): Promise<CacheRow[]> {
    const rows = await this.db.rows<StoredRecord>(
      `SELECT id, ${FOLLOWING.join(', ')} FROM dns_records WHERE domain_id = ?`,
      [domainId],
    );
    return rows.map(stored);
  }

  /** Many rows in few statements; their ids are not told. */
  async insert(manager: EntityManager, domainId: number, rows: readonly RowValues[]): Promise<void> {
    const one = `(${marks(COLUMNS.length + 1)})`;
    const at = now();
    for (let i = 0; i < rows.length; i += CHUNK) {
      const chunk = rows.slice(i, i + CHUNK);
      await this.db.run(
        `INSERT INTO dns_records (${COLUMNS.join(', ')}, search) VALUES ${chunk.map(() => one).join(', ')}`,
        chunk.flatMap((row) => values({ ...row, domain_id: domainId, remark: '', updated_at: at, created_at: at })),
        manager,
      );
    }
  }

  async update(manager: EntityManager, id: number, row: RowValues & { remark: string }): Promise<void> {
    const entries = Object.entries({ ...row, search: recordSearch(row), updated_at: now() });
    await this.db.run(
      `UPDATE dns_records SET ${entries.map(([key]) => `${key} = ?`).join(', ')} WHERE id = ?`,
      [...entries.map(([, value]) => value as SqlValue), id],
      manager,
    );
  }

  async remove(manager: EntityManager, ids: readonly number[]): Promise<void> {
    await this.each(ids, (some) =>
      this.db.run(`DELETE FROM dns_records WHERE id IN (${marks(some.length)})`, some, manager),
    );
  }

  /** Keeps the counts of a domain and a type after a single write, in its transaction. */
  async count(manager: EntityManager, domainId: number, type: string, by: 1 | -1): Promise<void> {
    // locks the domain's row: no two writers make the first count of a type
    await domainState.addRecords(this.db, manager, domainId, by);
    const sql = 'UPDATE record_counts SET hits = hits + ? WHERE domain_id = ? AND type = ?';
    if (await this.db.run(sql, [by, domainId, type], manager)) return;
    const first = 'INSERT INTO record_counts (domain_id, type, hits) VALUES (?, ?, ?)';
    await this.db.run(first, [domainId, type, by], manager);
  }

  /** How many records of a type a domain has. */
  async countOf(domainId: number, type: string): Promise<number> {
    const sql = 'SELECT hits FROM record_counts WHERE domain_id = ? AND type = ?';
    return (await this.db.row<{ hits: number }>(sql, [domainId, type]))?.hits ?? 0;
  }

  private async each(ids: readonly number[], work: (some: number[]) => Promise<unknown>): Promise<void> {
    for (let i = 0; i < ids.length; i += CHUNK) await work(ids.slice(i, i + CHUNK));
  }

  /** Where the TTL belongs to the set, all its values have the same; what is kept here is not in it. */
  async alignTtl(manager: EntityManager, domainId: number, host: string, type: string, ttl: number): Promise<void> {
    await this.db.run(
      'UPDATE dns_records SET ttl = ? WHERE domain_id = ? AND host = ? AND type = ? AND ttl <> ? AND remote_id IS NOT NULL',
      [ttl, domainId, host, type, ttl],
      manager,
    );
  }

  /** Makes the rows equal to the provider's list, without the hosts of `except`. @returns how many rows were touched */
  async apply(
    manager: EntityManager,
    domainId: number,
    { insert, update, remove }: Difference,
    except: ReadonlySet<string>,
  ): Promise<number> {
    const free = <T extends { host: string }>(list: T[]) =>
      except.size ? list.filter((r) => !except.has(r.host)) : list;
    const gone = free(remove);
    const changed = free(update).filter((u) => !except.has(u.values.host));
    const added = free(insert);
    // removed first: a record that the provider gave a new id may carry one that an old row still has
    await this.remove(
      manager,
      gone.map((r) => r.id),
    );
    const rekeyed = changed.filter((u) => u.rekeyed).map((u) => u.id);
    await this.each(rekeyed, (ids) =>
      this.db.run(`UPDATE dns_records SET remote_id = NULL WHERE id IN (${marks(ids.length)})`, ids, manager),
    );
    const remarks = new Map<number, string>();
    await this.each(
      changed.map((u) => u.id),
      async (ids) => {
        const sql = `SELECT id, remark FROM dns_records WHERE id IN (${marks(ids.length)})`;
        for (const row of await this.db.rows<StoredRecord>(sql, ids, manager)) remarks.set(row.id, row.remark);
      },
    );
    for (const { id, values: row } of changed)
      await this.update(manager, id, { ...row, remark: remarks.get(id) ?? '' });
    await this.insert(manager, domainId, added);
    const touched = gone.length + changed.length + added.length;
    if (touched) {
      await this.db.run('DELETE FROM record_counts WHERE domain_id = ?', [domainId], manager);
      await this.db.run(
        `INSERT INTO record_counts (domain_id, type, hits)
         SELECT domain_id, type, COUNT(*) FROM dns_records WHERE domain_id = ? GROUP BY domain_id, type`,
        [domainId],
        manager,
      );
      const sum = 'SELECT COALESCE(SUM(hits), 0) AS n FROM record_counts WHERE domain_id = ?';
      const all = await this.db.row<{ n: number | string }>(sum, [domainId], manager);
      await domainState.setRecords(this.db, manager, domainId, Number(all?.n));
    }
    return touched;
  }
}

const values = (row: Omit<StoredRecord, 'id'>): SqlValue[] => [
  ...COLUMNS.map((column) => row[column]),
  recordSearch(row),
];
