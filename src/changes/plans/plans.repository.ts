import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import type { PlannedChange } from '../gate/planned.js';
import { stateOf, storedState } from '../history/states.js';
import type { Plan, PlanChange, PlanState } from './plan.entity.js';

/** A change of a stored plan. */
export type StoredPlanChange = PlannedChange & { position: number; guards: string[] };
type Row = Omit<PlanChange, 'state_before' | 'state_after' | 'plan'> &
  Record<'state_before' | 'state_after', string | null>;

const COLUMNS = [
  ...([
    'plan_id',
    'position',
    'op',
    'record_id',
    'state_before',
    'value_before',
    'state_after',
    'value_after',
  ] as const),
  ...(['base', 'guards'] as const),
];
const PLAN = `id, domain_id, state, comment, version, base, unchanged, warnings, user_id, username, token_id, token_name,
  change_set_id, created_at, expires_at`;
/** rows of one INSERT */
const CHUNK = 50;

@Injectable()
export class PlansRepository {
  constructor(private readonly db: Db) {}

  /** @returns its id */
  async insert(
    plan: Omit<Plan, 'id' | 'domain'>,
    changes: readonly (PlannedChange & { guards: readonly string[] })[],
    manager: EntityManager,
  ): Promise<number> {
    const id = await this.db.insert('plans', { ...plan }, manager);
    for (let i = 0; i < changes.length; i += CHUNK) {
      const some = changes.slice(i, i + CHUNK);
      const values = some.flatMap(({ op, recordId, before, after, base, guards }, at): SqlValue[] => [
        ...[id, i + at + 1, op, recordId, ...storedState(before), ...storedState(after), base, guards.join(',')],
      ]);
      const one = `(${marks(COLUMNS.length)})`;
      const sql = `INSERT INTO plan_changes (${COLUMNS.join(', ')}) VALUES ${some.map(() => one).join(', ')}`;
      await this.db.run(sql, values, manager);
    }
    return id;
  }

  one(id: number): Promise<Plan | undefined> {
    return this.db.row(`SELECT ${PLAN} FROM plans WHERE id = ?`, [id]);
  }

  /** Those of a domain, newest first. */
  async page(domainId: number, limit: number, offset: number): Promise<{ total: number; rows: Plan[] }> {
    const sql = `SELECT ${PLAN} FROM plans WHERE domain_id = ? ORDER BY id DESC LIMIT ? OFFSET ?`;
    const rows = await this.db.rows<Plan>(sql, [domainId, limit, offset]);
    const count = await this.db.row<{ n: number | string }>('SELECT COUNT(*) AS n FROM plans WHERE domain_id = ?', [
      domainId,
    ]);
    return { total: Number(count?.n ?? 0), rows };
  }

  /** In their order. */
  async changes(id: number): Promise<StoredPlanChange[]> {
    const sql = `SELECT ${COLUMNS.join(', ')} FROM plan_changes WHERE plan_id = ? ORDER BY position`;
    return (await this.db.rows<Row>(sql, [id])).map((row) => ({
      ...{ position: row.position, op: row.op, recordId: row.record_id, base: row.base },
      before: stateOf(row.state_before, row.value_before),
      after: stateOf(row.state_after, row.value_after),
      guards: row.guards ? row.guards.split(',') : [],
    }));
  }

  /** Gives an open plan its end. @returns 0 where it had one */
  end(id: number, state: PlanState, changeSet: number | null, manager?: EntityManager): Promise<number> {
    const sql = `UPDATE plans SET state = ?, change_set_id = ? WHERE id = ? AND state = 'open'`;
    return this.db.run(sql, [state, changeSet, id], manager);
  }

  /** Removes those that expired before this moment. */
  async prune(before: string): Promise<void> {
    await this.db.run('DELETE FROM plans WHERE expires_at < ?', [before]);
  }
}
