import type { EntityManager } from 'typeorm';
import type { Db } from '../database/db.js';
import { domainState } from '../domains/domain-state.js';

/** How many records of each type a domain has, and in all: exact, kept in the transaction that changes the rows. */
export const recordCounts = {
  /** So many more of each type, or fewer. The transaction has locked the domain's row. */
  async add(db: Db, manager: EntityManager, domainId: number, by: ReadonlyMap<string, number>): Promise<void> {
    const all = [...by.values()].reduce((sum, more) => sum + more, 0);
    if (all) await domainState.addRecords(db, manager, domainId, all);
    for (const [type, more] of by) {
      if (!more) continue;
      const sql = 'UPDATE record_counts SET hits = hits + ? WHERE domain_id = ? AND type = ?';
      if (await db.run(sql, [more, domainId, type], manager)) continue;
      const first = 'INSERT INTO record_counts (domain_id, type, hits) VALUES (?, ?, ?)';
      await db.run(first, [domainId, type, more], manager);
    }
  },

  /** Counts anew what is there. */
  async again(db: Db, manager: EntityManager, domainId: number): Promise<void> {
    await db.run('DELETE FROM record_counts WHERE domain_id = ?', [domainId], manager);
    await db.run(
      `INSERT INTO record_counts (domain_id, type, hits)
       SELECT domain_id, type, COUNT(*) FROM dns_records WHERE domain_id = ? GROUP BY domain_id, type`,
      [domainId],
      manager,
    );
    const sum = 'SELECT COALESCE(SUM(hits), 0) AS n FROM record_counts WHERE domain_id = ?';
    const all = await db.row<{ n: number | string }>(sum, [domainId], manager);
    await domainState.setRecords(db, manager, domainId, Number(all?.n));
  },

  /** How many records of a type a domain has. */
  async of(db: Db, domainId: number, type: string): Promise<number> {
    const sql = 'SELECT hits FROM record_counts WHERE domain_id = ? AND type = ?';
    return (await db.row<{ hits: number }>(sql, [domainId, type]))?.hits ?? 0;
  },
};
