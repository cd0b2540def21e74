import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import type { LeftOut, PlanGroup } from './plan-group.entity.js';

type Row = Omit<PlanGroup, 'failed'> & { failed: string };
const COLUMNS = `id, state, comment, failed, user_id, username, token_id, token_name, applier_id, applier_token_id,
  request_id, forced, reason, override_reason, applied_at, created_at, expires_at`;

/** Who applies a group, and how. */
export type Applier = Pick<
  PlanGroup,
  'applier_id' | 'applier_token_id' | 'request_id' | 'forced' | 'reason' | 'override_reason' | 'applied_at'
>;
export const UNAPPLIED: Applier = {
  ...{ applier_id: null, applier_token_id: null, request_id: '', forced: '', reason: '' },
  ...{ override_reason: null, applied_at: null },
};

/** Plans over many domains. */
@Injectable()
export class PlanGroupsRepository {
  constructor(private readonly db: Db) {}

  async insert(group: Omit<PlanGroup, 'failed'>, manager: EntityManager): Promise<void> {
    await this.db.insert('plan_groups', { ...group, failed: '[]' }, manager);
  }

  /** One whose plans are stored. */
  async one(id: number): Promise<PlanGroup | undefined> {
    const sql = `SELECT ${COLUMNS} FROM plan_groups WHERE id = ? AND state <> 'making'`;
    const row = await this.db.row<Row>(sql, [id]);
    return row && { ...row, failed: JSON.parse(row.failed) as LeftOut[] };
  }

  /** All of its plans are stored. */
  async open(id: number, failed: readonly LeftOut[]): Promise<void> {
    const sql = `UPDATE plan_groups SET state = 'open', failed = ? WHERE id = ? AND state = 'making'`;
    await this.db.run(sql, [JSON.stringify(failed), id]);
  }

  /** Begins to apply it. @returns 0 where it is not open */
  begin(id: number, applier: Applier, manager: EntityManager): Promise<number> {
    const sets = Object.keys(applier).map((name) => `${name} = ?`);
    const sql = `UPDATE plan_groups SET state = 'applying', ${sets.join(', ')} WHERE id = ? AND state = 'open'`;
    return this.db.run(sql, [...Object.values(applier), id], manager);
  }

  /** @returns 0 where it was not in that state */
  end(id: number, from: 'open' | 'applying', state: 'applied' | 'discarded', manager?: EntityManager): Promise<number> {
    return this.db.run('UPDATE plan_groups SET state = ? WHERE id = ? AND state = ?', [state, id, from], manager);
  }

  /** Those that are being applied. */
  async applying(): Promise<number[]> {
    const sql = "SELECT id FROM plan_groups WHERE state = 'applying' ORDER BY id LIMIT 1000";
    return (await this.db.rows<{ id: number }>(sql)).map(({ id }) => id);
  }

  /**
   * Deletes unfinished ones that expired before `expired`, and all that expired before `ended`.
   */
  async prune(expired: string, ended: string): Promise<void> {
    await this.db.run("DELETE FROM plan_groups WHERE expires_at < ? AND state IN ('making', 'open')", [expired]);
    await this.db.run("DELETE FROM plan_groups WHERE expires_at < ? AND state <> 'applying'", [ended]);
  }
}
