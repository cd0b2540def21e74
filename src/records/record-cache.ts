import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { Db, marks, type SqlValue } from '../database/db.js';
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
const COLUMNS = ['domain_id', ...FOLLOWING, 'remark', 'updated_at'] as const;
/** The columns of a cached record, for queries over `dns_records`. */
export const RECORD_COLUMNS = `id, ${COLUMNS.join(', ')}`;

/** A cached record as stored, with its booleans as booleans. */
export interface StoredRecord extends CacheRow {
  domain_id: number;
  remark: string;
  updated_at: string;
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
    const one = `(${marks(COLUMNS.length)})`;
    for (let i = 0; i < rows.length; i += CHUNK) {
      const chunk = rows.slice(i, i + CHUNK);
      await this.db.run(
        `INSERT INTO dns_records (${COLUMNS.join(', ')}) VALUES ${chunk.map(() => one).join(', ')}`,
        chunk.flatMap((row) => values({ ...row, domain_id: domainId, remark: '', updated_at: now() })),
        manager,
      );
    }
  }

  async update(manager: EntityManager, id: number, row: Partial<RowValues & { remark: string }>): Promise<void> {
    const entries = Object.entries({ ...row, updated_at: now() });
    await this.db.run(
      `UPDATE dns_records SET ${entries.map(([key]) => `${key} = ?`).join(', ')} WHERE id = ?`,
      [...entries.map(([, value]) => value as SqlValue), id],
      manager,
    );
  }

  async remove(manager: EntityManager, ids: readonly number[]): Promise<void> {
    for (let i = 0; i < ids.length; i += CHUNK) {
      const chunk = ids.slice(i, i + CHUNK);
      await this.db.run(`DELETE FROM dns_records WHERE id IN (${marks(chunk.length)})`, chunk, manager);
    }
  }

  /** Where the TTL belongs to the set, all values of a name and type have the same. */
  async alignTtl(manager: EntityManager, domainId: number, host: string, type: string, ttl: number): Promise<void> {
    await this.db.run(
      'UPDATE dns_records SET ttl = ? WHERE domain_id = ? AND host = ? AND type = ? AND ttl <> ?',
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
    for (const { id, rekeyed } of changed) if (rekeyed) await this.update(manager, id, { remote_id: null });
    for (const { id, values: row } of changed) await this.update(manager, id, row);
    await this.insert(manager, domainId, added);
    const touched = gone.length + changed.length + added.length;
    if (touched) {
      await this.db.run(
        'UPDATE domains SET records_count = (SELECT COUNT(*) FROM dns_records r WHERE r.domain_id = ?) WHERE id = ?',
        [domainId, domainId],
        manager,
      );
    }
    return touched;
  }
}

const values = (row: Record<(typeof COLUMNS)[number], SqlValue>): SqlValue[] => COLUMNS.map((column) => row[column]);
