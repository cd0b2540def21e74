import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../platform/database/db.js';
import type { AuditPending } from './audit.entity.js';
import { HASHED } from './chain.js';
import type { Raw } from './states.js';

/** rows that one statement removes */
const CHUNK = 20;

type Written = Exclude<(typeof HASHED)[number], 'seq'>;
/** The columns of an entry before it is linked: those that are hashed, without the number, its change set and door. */
export const ENTRY_COLUMNS = [
  ...HASHED.filter((column): column is Written => column !== 'seq'),
  'change_set_id',
  'door',
] as const;

/** An entry that is not linked yet. */
type PendingEntry = Raw<AuditPending>;
export type NewEntry = Omit<PendingEntry, 'id'>;

/** The table `audit_pending`. */
@Injectable()
export class AuditPendingRepository {
  constructor(private readonly db: Db) {}

  async insert(entry: NewEntry, manager: EntityManager): Promise<void> {
    await this.db.insert('audit_pending', entry, manager);
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.db.row('SELECT id FROM audit_pending LIMIT 1'));
  }

  /** The oldest entries, by their ids. */
  oldest(limit: number, manager?: EntityManager): Promise<PendingEntry[]> {
    const sql = `SELECT id, ${ENTRY_COLUMNS.join(', ')} FROM audit_pending ORDER BY id LIMIT ${limit}`;
    return this.db.rows(sql, [], manager);
  }

  async remove(ids: readonly number[], manager?: EntityManager): Promise<void> {
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      await this.db.run(`DELETE FROM audit_pending WHERE id IN (${marks(some.length)})`, some, manager);
    }
  }
}
