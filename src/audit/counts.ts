import type { Db, SqlValue } from '../database/db.js';

/** filters that are remembered: those that were asked for last */
const KEPT = 200;

/** Rows of a filter, from the first one that there was to this id. */
interface Counted {
  first: number;
  last: number;
  count: number;
}

/**
 * How many entries match a filter. Rows are only added behind the last one, and removed before the first: what was
 * counted once is remembered, and only what is newer is counted again. A broad filter matches a large part of a log
 * that may have millions of rows.
 */
export class Counts {
  private readonly known = new Map<string, Counted>();

  constructor(private readonly db: Db) {}

  /** @param from table and condition, as they stand behind `FROM` */
  async of(from: string, values: readonly SqlValue[]): Promise<number> {
    const ends = await this.db.row<{ first: number | null; last: number | null }>(
      'SELECT MIN(id) AS first, MAX(id) AS last FROM audit_logs',
    );
    const [first, last] = [Number(ends?.first ?? 0), Number(ends?.last ?? 0)];
    const key = JSON.stringify([from, values]);
    const found = this.known.get(key);
    const before = found?.first === first && found.last <= last ? found : { first, last: 0, count: 0 };
    const row = await this.db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${from} AND id > ? AND id <= ?`, [
      ...values,
      before.last,
      last,
    ]);
    const count = before.count + Number(row?.n);
    this.known.delete(key);
    this.known.set(key, { first, last, count });
    for (const oldest of this.known.keys()) {
      if (this.known.size <= KEPT) break;
      this.known.delete(oldest);
    }
    return count;
  }
}
