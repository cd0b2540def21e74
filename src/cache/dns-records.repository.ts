import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import { turn } from '../platform/common/turns.js';
import { Db, marks, type SqlValue } from '../platform/database/db.js';
import type { CacheRow, RowValues } from './reconcile.js';
import { recordSearch } from './record-search.js';

/** What follows the provider. */
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
  'extra',
] as const;
const END = ['expires_at', 'end_maker_id', 'end_maker_token_id', 'end_hold_reason'] as const;
const COLUMNS = ['domain_id', ...FOLLOWING, 'read_only_reason', 'remark', ...END, 'updated_at', 'created_at'] as const;
/** The columns of a cached record. */
const RECORD_COLUMNS = `id, ${COLUMNS.join(', ')}, pending`;
/** What nobody is shown: a list does without it, since its cells are most of what its statement costs. */
const UNSHOWN = ['remote_id', 'extra', 'end_maker_id', 'end_maker_token_id'] as const;
const SHOWN_COLUMNS = `id, ${COLUMNS.filter((column) => !UNSHOWN.some((one) => one === column)).join(', ')}, pending`;

/** What is compared with the provider, or part of versions. */
const FOLLOWED = `id, remark, expires_at, read_only_reason, ${FOLLOWING.join(', ')}`;

/** A cached record as stored, with its booleans as booleans. */
export interface StoredRecord extends CacheRow {
  domain_id: number;
  remark: string;
  updated_at: string;
  created_at: string | null;
  /** a change of it was sent to the provider, and nobody knows yet whether it was applied */
  pending: boolean;
}

/** The same as far as it is shown. */
export type ShownRecord = Omit<StoredRecord, (typeof UNSHOWN)[number]>;

/** A row as far as it is counted. */
export type Counted = { id: number; type: string; remote_id: string | null };

/** A row, and what it is ordered by. */
export type PlacedRecord = { id: number; place: string | number };

/** The id where rows are not to be read in its order. */
const UNINDEXED_ID = 'COALESCE(id, 0)';

/** Some of the records of a list: `where` with its values, `order` with the id as tie-break. */
export interface Listed {
  where: string;
  values: readonly SqlValue[];
  order: string;
}

/** In which rows follow each other. */
export type Direction = 'ASC' | 'DESC';

/** ids that one statement names */
const CHUNK = 200;
/** rows of a domain that are read at once: SQLite reads them while nobody else has a turn */
const PAGE = 2000;

/** characters of a value that order a list by it: MariaDB sorts by no more than 1024 bytes */
const ORDERED = 250;

/** One row of a raw query; booleans are 0/1 on SQLite and MariaDB. */
function stored<T extends ShownRecord>(row: T): T {
  row.proxied = Boolean(row.proxied);
  row.enabled = Boolean(row.enabled);
  row.read_only = Boolean(row.read_only);
  row.pending = Boolean(row.pending);
  return row;
}

function followed(row: CacheRow): CacheRow {
  row.proxied = Boolean(row.proxied);
  row.enabled = Boolean(row.enabled);
  row.read_only = Boolean(row.read_only);
  return row;
}

/** What follows the provider of a row. */
export const rowOfRecord = (row: StoredRecord): RowValues =>
  Object.fromEntries(FOLLOWING.map((column) => [column, row[column] ?? null])) as unknown as RowValues;

/** The rows of cached records. Whoever writes keeps the counts: `RecordCache` does. */
@Injectable()
export class DnsRecordsRepository {
  constructor(private readonly db: Db) {}

  async one(domainId: number, id: number, manager?: EntityManager): Promise<StoredRecord | null> {
    const sql = `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE id = ? AND domain_id = ?`;
    const row = await this.db.row<StoredRecord>(sql, [id, domainId], manager);
    return row ? stored(row) : null;
  }

  /** Rows of a domain at some hosts, or with some ids, in the order of their ids. */
  async those(
    domainId: number,
    column: 'host' | 'id',
    values: readonly SqlValue[],
    manager?: EntityManager,
  ): Promise<StoredRecord[]> {
    const found: StoredRecord[] = [];
    await this.each(values, async (some) => {
      const sql = `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE domain_id = ? AND ${column} IN (${marks(some.length)})`;
      return found.push(...(await this.db.rows<StoredRecord>(sql, [domainId, ...some], manager)).map(stored));
    });
    return found.sort((a, b) => a.id - b.id);
  }

  /** Rows of a domain of some types whose values end in one of some names, with or without a dot behind it. */
  async endingIn(domainId: number, types: readonly string[], names: readonly string[]): Promise<StoredRecord[]> {
    const ends = names.flatMap((name) => [`%${name}`, `%${name}.`]).map((end) => end.replace(/[!_]/g, '!$&'));
    const like = ends.map(() => "LOWER(value) LIKE ? ESCAPE '!'").join(' OR ');
    const sql = `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE domain_id = ? AND type IN (${marks(types.length)})
      AND id > ? AND (${like}) ORDER BY id LIMIT ${PAGE}`;
    const rows: StoredRecord[] = [];
    for (;;) {
      const page = await this.db.rows<StoredRecord>(sql, [domainId, ...types, rows.at(-1)?.id ?? 0, ...ends]);
      for (const row of page) rows.push(stored(row));
      if (page.length < PAGE) return rows;
      await turn();
    }
  }

  /** Rows of a domain at some hosts, and all at the hosts of the rows with some ids. */
  async around(domainId: number, hosts: readonly string[], ids: readonly number[]): Promise<StoredRecord[]> {
    const about = `domain_id = ? AND id IN`;
    if (ids.length > CHUNK) {
      const names = new Set(hosts);
      await this.each(ids, async (some) => {
        const sql = `SELECT DISTINCT host FROM dns_records WHERE ${about} (${marks(some.length)})`;
        for (const { host } of await this.db.rows<{ host: string }>(sql, [domainId, ...some])) names.add(host);
        return 0;
      });
      return this.those(domainId, 'host', [...names]);
    }
    const sql = `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE domain_id = ? AND host IN (
      SELECT host FROM dns_records WHERE ${about} (${marks(ids.length)}))`;
    const rows = (await this.db.rows<StoredRecord>(sql, [domainId, domainId, ...ids])).map(stored);
    const known = new Set(rows.map(({ host }) => host));
    const more = hosts.filter((host) => !known.has(host));
    return [...rows, ...(await this.those(domainId, 'host', more))].sort((a, b) => a.id - b.id);
  }

  /** All rows of a domain with what is compared with the provider, or part of versions: of a large zone no more. */
  async following(domainId: number, manager?: EntityManager): Promise<CacheRow[]> {
    const sql = `SELECT ${FOLLOWED} FROM dns_records WHERE domain_id = ? AND id > ? ORDER BY id LIMIT ${PAGE}`;
    const rows: CacheRow[] = [];
    for (;;) {
      const page = await this.db.rows<CacheRow>(sql, [domainId, rows.at(-1)?.id ?? 0], manager);
      for (const row of page) rows.push(followed(row));
      if (page.length < PAGE) return rows;
      await turn();
    }
  }

  /** The same of rows with some ids, or some ids of the provider. */
  async followingOf(
    domainId: number,
    column: 'id' | 'remote_id',
    values: readonly SqlValue[],
    manager?: EntityManager,
  ): Promise<CacheRow[]> {
    const rows: CacheRow[] = [];
    await this.each(values, async (some) => {
      const sql = `SELECT ${FOLLOWED} FROM dns_records WHERE domain_id = ? AND ${column} IN (${marks(some.length)})`;
      for (const row of await this.db.rows<CacheRow>(sql, [domainId, ...some], manager)) rows.push(followed(row));
      return 0;
    });
    return rows;
  }

  /** The ids of the rows of a domain, in pieces. */
  async *ids(domainId: number): AsyncGenerator<number[]> {
    const sql = `SELECT id FROM dns_records WHERE domain_id = ? AND id > ? ORDER BY id LIMIT ${PAGE}`;
    for (let last = 0; ; ) {
      const rows = await this.db.rows<{ id: number }>(sql, [domainId, last]);
      yield rows.map(({ id }) => id);
      if (rows.length < PAGE) return;
      last = rows.at(-1)?.id ?? last;
    }
  }

  /**
   * A page of a list.
   * @param searching a keyword is looked for in an index alone, and only what it finds is read: the rows are ten times
   * as large
   * @param within the order while searching, where it is written so that no index serves it
   */
  async page(
    { where, values, order }: Listed,
    limit: number,
    offset: number,
    searching = false,
    within = order,
  ): Promise<ShownRecord[]> {
    const sql = searching
      ? `SELECT ${SHOWN_COLUMNS} FROM dns_records JOIN (
            SELECT id AS found FROM dns_records WHERE ${where} ORDER BY ${within} LIMIT ? OFFSET ?) page ON found = id
           ORDER BY ${order}`
      : `SELECT ${SHOWN_COLUMNS} FROM dns_records WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`;
    return (await this.db.rows<ShownRecord>(sql, [...values, limit, offset])).map(stored);
  }

  /**
   * The same of a list whose length is known: what lies behind the middle is read from the end, so that the last page
   * costs what the first one does.
   * @param bound of a list in the order of ids, an id that its first rows do not lie behind
   */
  async pageOf(
    { where, values, order }: Listed,
    total: number,
    limit: number,
    offset: number,
    bound?: (many: number, direction: Direction) => Promise<number | null>,
  ): Promise<ShownRecord[]> {
    const isLate = offset > total / 2;
    const take = isLate ? Math.min(limit, total - offset) : limit;
    if (take <= 0) return [];
    const skip = isLate ? total - offset - take : offset;
    const way = isLate ? order.replace(/\b(ASC|DESC)\b/g, (one) => (one === 'ASC' ? 'DESC' : 'ASC')) : order;
    const direction = way.endsWith('DESC') ? 'DESC' : 'ASC';
    const last = await bound?.(skip + take, direction);
    const near: [string, SqlValue[]] =
      typeof last === 'number' ? [` AND id ${direction === 'ASC' ? '<=' : '>='} ?`, [last]] : ['', []];
    const listed = { where: where + near[0], values: [...values, ...near[1]], order: way };
    // PostgreSQL would read the records of all domains up to the bound, in the order of their ids
    const within = bound ? `${UNINDEXED_ID} ${direction}` : way;
    const rows = await this.page(listed, take, skip, bound !== undefined || skip > 0, within);
    return isLate ? rows.reverse() : rows;
  }

  /**
   * The first ones of a list that is looked for in an index alone, and not in its order, which might take all of it.
   * @param last one that others, if there are any, come before
   */
  first({ where, values, order }: Listed, many: number, last?: PlacedRecord): Promise<PlacedRecord[]> {
    const [, column = '', direction] = /^(\w+) (ASC|DESC)/.exec(order) ?? [];
    if (column === 'id') {
      const before = last ? ` AND id ${direction === 'ASC' ? '<' : '>'} ?` : '';
      const sql = `SELECT id, id AS place FROM dns_records WHERE ${where}${before} ORDER BY ${UNINDEXED_ID} ${direction} LIMIT ?`;
      return this.db.rows(sql, [...values, ...(last ? [last.id] : []), many]);
    }
    return this.db.rows(
      `SELECT r.id, r.${column} AS place FROM (SELECT id AS found FROM dns_records WHERE ${where}) f
         JOIN dns_records r ON r.id = f.found
        ORDER BY ${this.db.inBytes(`COALESCE(r.${column}, '')`)} ${direction}, r.id ${direction} LIMIT ?`,
      [...values, many],
    );
  }

  /** The rows with these ids, as far as they are there, in this order. */
  async shown(ids: readonly number[]): Promise<ShownRecord[]> {
    const rows = new Map<number, ShownRecord>();
    await this.each(ids, async (some) => {
      const sql = `SELECT ${SHOWN_COLUMNS} FROM dns_records WHERE id IN (${marks(some.length)})`;
      for (const row of await this.db.rows<ShownRecord>(sql, some)) rows.set(row.id, stored(row));
      return 0;
    });
    return ids.flatMap((id) => rows.get(id) ?? []);
  }

  /** All records of a domain: by their ids from an index that MariaDB would leave for the ids of all domains. */
  ofDomain(domainId: number, order: string): Listed {
    const [, direction] = /^id (ASC|DESC)$/.exec(order) ?? [];
    if (!direction) return { where: 'domain_id = ?', values: [domainId], order };
    const by = `domain_id ${direction}, id ${direction}`;
    return { where: 'domain_id >= ? AND domain_id <= ?', values: [domainId, domainId], order: by };
  }

  /** What a list is ordered by that is sorted by its values: their beginnings, by code points. */
  get valueOrder(): string {
    return this.db.inBytes(`SUBSTR(value, 1, ${ORDERED})`);
  }

  /** The next ones of a list in its order, after this row. */
  async after({ where, values, order }: Listed, limit: number, row?: StoredRecord): Promise<StoredRecord[]> {
    const [, column = '', direction] = /^(.+?) (ASC|DESC)\b/.exec(order) ?? [];
    const than = direction === 'DESC' ? '<' : '>';
    const beyond = !row
      ? ['', []]
      : column === 'id'
        ? [` AND id ${than} ?`, [row.id]]
        : [
            // the first comparison is implied by the second: an index is entered there, and not read from its start
            ` AND ${column} ${than}= ? AND (${column} ${than} ? OR id ${than} ?)`,
            [place(row, column), place(row, column), row.id] as SqlValue[],
          ];
    const rows = await this.db.rows<StoredRecord>(
      `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE ${where}${beyond[0]} ORDER BY ${order} LIMIT ?`,
      [...values, ...(beyond[1] as SqlValue[]), limit],
    );
    return rows.map(stored);
  }

  /**
   * How many a list has, of which a page was read: one that is not full says so, and in the order of ids only what
   * comes after it is left to count.
   */
  async total({ where, values, order }: Listed, start: number, limit: number, page: readonly ShownRecord[]) {
    const last = page.at(-1);
    if (page.length < limit && (last || !start)) return start + page.length;
    if (!last || order !== 'id ASC') return this.count({ where, values });
    return start + page.length + (await this.count({ where: `${where} AND id > ?`, values: [...values, last.id] }));
  }

  /** How many a list has. */
  async count({ where, values }: Omit<Listed, 'order'>): Promise<number> {
    const sql = `SELECT COUNT(*) AS n FROM dns_records WHERE ${where}`;
    return Number((await this.db.row<{ n: number | string }>(sql, values))?.n);
  }

  /** Marks rows that a change in doubt touches, or takes the mark away. @returns how many there are */
  markPending(manager: EntityManager, domainId: number, ids: readonly number[], pending: boolean): Promise<number> {
    return this.each(ids, (some) => {
      const sql = `UPDATE dns_records SET pending = ? WHERE domain_id = ? AND id IN (${marks(some.length)})`;
      return this.db.run(sql, [pending, domainId, ...some], manager);
    });
  }

  /** Writes what only we know of a row. */
  async own(manager: EntityManager, row: StoredRecord): Promise<void> {
    const columns = ['remark', ...END] as const;
    await this.db.run(
      `UPDATE dns_records SET ${columns.map((column) => `${column} = ?`).join(', ')}, search = ? WHERE id = ?`,
      [...columns.map((column) => row[column] ?? null), recordSearch(row), row.id],
      manager,
    );
  }

  /**
   * Where the TTL belongs to the set, all its values have the same; what is kept here is not in it.
   * @returns the rows that had another one, as they were
   */
  async alignTtl(
    manager: EntityManager,
    domainId: number,
    { host, type, line, ttl }: Pick<RowValues, 'host' | 'type' | 'line' | 'ttl'>,
  ): Promise<StoredRecord[]> {
    const where = 'domain_id = ? AND host = ? AND type = ? AND line = ? AND ttl <> ? AND remote_id IS NOT NULL';
    const values = [domainId, host, type, line, ttl];
    const rows = await this.db.rows<StoredRecord>(
      `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE ${where} ORDER BY id`,
      values,
      manager,
    );
    if (rows.length) await this.db.run(`UPDATE dns_records SET ttl = ? WHERE ${where}`, [ttl, ...values], manager);
    return rows.map(stored);
  }

  /** Those of a domain that have one of these ids, or of these ids of the provider. */
  async counted(
    manager: EntityManager,
    domainId: number,
    ids: readonly number[],
    remoteIds: readonly string[] = [],
  ): Promise<Counted[]> {
    const found = new Map<number, Counted>();
    for (let i = 0; i < Math.max(ids.length, remoteIds.length); i += CHUNK) {
      const columns = { id: ids.slice(i, i + CHUNK), remote_id: remoteIds.slice(i, i + CHUNK) };
      const asked = Object.entries(columns).filter(([, some]) => some.length);
      const one = 'SELECT id, type, remote_id FROM dns_records WHERE domain_id = ?';
      // not with OR: each half has an index of its own
      const sql = asked.map(([column, some]) => `${one} AND ${column} IN (${marks(some.length)})`).join(' UNION ');
      const values = asked.flatMap(([, some]) => [domainId, ...some]);
      for (const row of await this.db.rows<Counted>(sql, values, manager)) found.set(row.id, row);
    }
    return [...found.values()];
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

  /** Many rows in few statements; their ids are not returned. */
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
  private async each<T>(list: readonly T[], work: (some: T[]) => Promise<number>): Promise<number> {
    let sum = 0;
    for (let i = 0; i < list.length; i += CHUNK) sum += await work(list.slice(i, i + CHUNK));
    return sum;
  }
}

/** Where a row stands in the order of a column, or of the values. */
const place = (row: StoredRecord, column: string): SqlValue =>
  column in row ? (row[column as keyof StoredRecord] ?? null) : Array.from(row.value).slice(0, ORDERED).join('');

const values = (row: Omit<StoredRecord, 'id' | 'pending'>): SqlValue[] => [
  ...COLUMNS.map((column) => row[column] ?? null),
  recordSearch(row),
];
