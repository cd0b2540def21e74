import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks, type SqlValue } from '../../platform/database/db.js';
import type { PlannedChange } from '../gate/planned.js';
import { stateOf, storedState } from '../history/states.js';
import type { Plan, PlanChange, PlanOutcome, PlanState } from './plan.entity.js';

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
  door, door_key, wish, subject, decider_id, decider, decided_at, decision, group_id, outcome, change_set_id, created_at, expires_at`;
/** A plan that is not stored yet. */
export type NewPlan = Omit<Plan, 'id' | 'domain' | 'outcome'>;
type PlanRow = Omit<Plan, 'outcome'> & { outcome: string | null };
const stored = ({ outcome, ...row }: PlanRow): Plan => ({
  ...row,
  outcome: outcome === null ? null : (JSON.parse(outcome) as PlanOutcome),
});
/** Plans with no end yet, whose time may be over. */
const ALIVE = "state IN ('open', 'waiting', 'approved')";

/** Who asked for a plan. */
export type Asker = Pick<Plan, 'user_id' | 'username' | 'token_id' | 'token_name'>;

/** Who has decided on a plan that waited, when, and with which words. */
export type Decision = Pick<Plan, 'decider_id' | 'decider' | 'decided_at' | 'decision'>;
export const UNDECIDED: Decision = { decider_id: null, decider: null, decided_at: null, decision: null };

/** rows of one INSERT */
const CHUNK = 50;

@Injectable()
export class PlansRepository {
  constructor(private readonly db: Db) {}

  /** @returns its id */
  async insert(
    plan: NewPlan,
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

  /** An id that no plan has, nor gets. @param plan which is not stored */
  async reserve(plan: NewPlan, manager: EntityManager): Promise<number> {
    const id = await this.insert(plan, [], manager);
    await this.db.run('DELETE FROM plans WHERE id = ?', [id], manager);
    return id;
  }

  async one(id: number): Promise<Plan | undefined> {
    const row = await this.db.row<PlanRow>(`SELECT ${PLAN} FROM plans WHERE id = ?`, [id]);
    return row && stored(row);
  }

  /** The plans of a group, in the order of their ids. */
  async ofGroup(group: number): Promise<Plan[]> {
    const sql = `SELECT ${PLAN} FROM plans WHERE group_id = ? ORDER BY id`;
    return (await this.db.rows<PlanRow>(sql, [group])).map(stored);
  }

  /** Says why one was not applied with the others of its group. */
  async tell(id: number, outcome: PlanOutcome): Promise<void> {
    await this.db.run('UPDATE plans SET outcome = ? WHERE id = ?', [JSON.stringify(outcome), id]);
  }

  /** Opens one again whose change set has changed nothing. @returns 0 where it is another one's by now */
  reopen(id: number, changeSet: number): Promise<number> {
    const sql = `UPDATE plans SET state = 'open', change_set_id = NULL
      WHERE id = ? AND state = 'applied' AND change_set_id = ?`;
    return this.db.run(sql, [id, changeSet]);
  }

  /** The ids of those whose approval has begun and not ended. */
  async approved(at: string): Promise<number[]> {
    const sql = "SELECT id FROM plans WHERE state = 'approved' AND expires_at > ?";
    return (await this.db.rows<{ id: number }>(sql, [at])).map(({ id }) => id);
  }

  /** Discards the plans of a group that are open. */
  async discardGroup(group: number, manager: EntityManager): Promise<void> {
    await this.db.run("UPDATE plans SET state = 'discarded' WHERE group_id = ? AND state = 'open'", [group], manager);
  }

  /**
   * How many plans of a user are open or discarded and have not expired, and the changes in them.
   * @param most changes that are counted
   */
  async countUnapplied(userId: number, at: string, most: number): Promise<{ plans: number; changes: number }> {
    const unapplied = "FROM plans WHERE state IN ('open', 'discarded') AND user_id = ? AND expires_at > ?";
    const some = `SELECT 1 FROM plan_changes WHERE plan_id IN (SELECT id ${unapplied}) LIMIT ?`;
    const sql = `SELECT (SELECT COUNT(*) ${unapplied}) AS plans, (SELECT COUNT(*) FROM (${some}) AS counted) AS changes`;
    const values = [userId, at, userId, at, most];
    const row = await this.db.row<Record<'plans' | 'changes', number | string>>(sql, values);
    return { plans: Number(row?.plans ?? 0), changes: Number(row?.changes ?? 0) };
  }

  /** Those of a domain that have a state at this moment, newest first. @param state undefined: any */
  async page(
    domainId: number,
    state: PlanState | undefined,
    at: string,
    limit: number,
    offset: number,
  ): Promise<{ total: number; rows: Plan[] }> {
    const [where, values] = inState(state, at);
    const sql = `SELECT ${PLAN} FROM plans WHERE domain_id = ? AND ${where} ORDER BY id DESC LIMIT ? OFFSET ?`;
    const rows = (await this.db.rows<PlanRow>(sql, [domainId, ...values, limit, offset])).map(stored);
    const count = `SELECT COUNT(*) AS n FROM plans WHERE domain_id = ? AND ${where}`;
    const total = await this.db.row<{ n: number | string }>(count, [domainId, ...values]);
    return { total: Number(total?.n ?? 0), rows };
  }

  /** One that waits for the same changes, asked for by the same, and has time left. */
  async waiting(
    domainId: number,
    { user_id, token_id }: Pick<Plan, 'user_id' | 'token_id'>,
    wish: string,
    at: string,
    manager: EntityManager,
  ): Promise<Plan | undefined> {
    const is = (column: string, value: number | null) => (value === null ? `${column} IS NULL` : `${column} = ?`);
    const sql = `SELECT ${PLAN} FROM plans WHERE domain_id = ? AND state = 'waiting' AND wish = ? AND expires_at > ?
      AND ${is('user_id', user_id)} AND ${is('token_id', token_id)} ORDER BY id LIMIT 1`;
    const who = [user_id, token_id].filter((value) => value !== null);
    const row = await this.db.row<PlanRow>(sql, [domainId, wish, at, ...who], manager);
    return row && stored(row);
  }

  /** An open plan waits for its approval, in the name of who wants it applied. @returns 0 where it has an end */
  wait(id: number, fields: Readonly<Record<string, SqlValue>>, manager: EntityManager): Promise<number> {
    const sets = Object.keys(fields).map((name) => `${name} = ?`);
    const sql = `UPDATE plans SET state = 'waiting', ${sets.join(', ')} WHERE id = ? AND state = 'open'`;
    return this.db.run(sql, [...Object.values(fields), id], manager);
  }

  /** Decides on one that waits, or whose applying was cut off. @returns 0 where it has an end */
  decide(
    id: number,
    state: 'waiting' | 'approved' | 'rejected',
    { decider_id, decider, decided_at, decision }: Decision,
    from: readonly ('waiting' | 'approved')[],
    manager?: EntityManager,
  ): Promise<number> {
    const sql = `UPDATE plans SET state = ?, decider_id = ?, decider = ?, decided_at = ?, decision = ?
      WHERE id = ? AND state IN (${marks(from.length)})`;
    return this.db.run(sql, [state, decider_id, decider, decided_at, decision, id, ...from], manager);
  }

  /** Discards what waits for a subject in a domain. @param but one that stays */
  async outdate(domainId: number, subject: string, but: number, manager: EntityManager): Promise<void> {
    const sql = `UPDATE plans SET state = 'discarded' WHERE domain_id = ? AND state = 'waiting' AND subject = ? AND id <> ?`;
    await this.db.run(sql, [domainId, subject, but], manager);
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

  /** Gives a plan its end. @returns 0 where it had one */
  end(id: number, state: PlanState, changeSet: number | null, manager?: EntityManager): Promise<number> {
    const sql = `UPDATE plans SET state = ?, change_set_id = ? WHERE id = ? AND ${ALIVE}`;
    return this.db.run(sql, [state, changeSet, id], manager);
  }

  /**
   * Deletes unfinished ones that expired before `expired`, and all that expired before `ended`.
   */
  async prune(expired: string, ended: string): Promise<void> {
    await this.db.run(`DELETE FROM plans WHERE expires_at < ? AND outcome IS NULL AND ${ALIVE}`, [expired]);
    await this.db.run('DELETE FROM plans WHERE expires_at < ?', [ended]);
  }
}

/** Which plans have a state at a moment: one whose time is over has expired. */
function inState(state: PlanState | undefined, at: string): [where: string, values: SqlValue[]] {
  if (state === undefined) return ['1 = 1', []];
  if (state === 'expired') return [`${ALIVE} AND expires_at <= ?`, [at]];
  return [`state = ? AND (expires_at > ? OR NOT (${ALIVE}))`, [state, at]];
}
