import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import type { TeamAccount, TeamView } from './team.dto.js';
import { Team } from './team.entity.js';

/** A team as one of its members, or an administrator, sees it. */
export type TeamRow = Omit<TeamView, 'member_count'> & { member_count: number | string };

const COLUMNS = `t.id, t.name, t.description, t.created_by, t.created_at,
  (SELECT COUNT(*) FROM team_members c WHERE c.team_id = t.id) AS member_count,
  (SELECT m.role FROM team_members m WHERE m.team_id = t.id AND m.user_id = ?) AS my_role`;
const SORTS = { id: 't.id', name: 't.name', created_at: 't.created_at' };

/** The statements of the table `teams`. */
@Injectable()
export class TeamsRepository {
  constructor(private readonly db: Db) {}

  /** A page of the teams of a user, or of all teams. @throws AppError 400001 for an unknown `sort` */
  list(userId: number, all: boolean, query: PageQuery): Promise<{ total: number; list: TeamRow[] }> {
    return listRows<TeamRow>(this.db, query, {
      columns: COLUMNS,
      ofColumns: [userId],
      from: 'teams t',
      where: all ? '1 = 1' : 't.id IN (SELECT o.team_id FROM team_members o WHERE o.user_id = ?)',
      values: all ? [] : [userId],
      sorts: SORTS,
      fallback: 'name',
      id: 't.id',
      search: ['LOWER(t.name)'],
    });
  }

  /** A team as this user sees it. */
  find(id: number, userId: number, manager?: EntityManager): Promise<TeamRow | undefined> {
    const sql = `SELECT ${COLUMNS} FROM teams t WHERE t.id = ?`;
    return this.db.row(sql, [userId, id], manager);
  }

  /** The provider accounts of a team. */
  accounts(id: number, manager?: EntityManager): Promise<TeamAccount[]> {
    const sql = 'SELECT id, name, provider FROM dns_accounts WHERE team_id = ? ORDER BY name, id';
    return this.db.rows(sql, [id], manager);
  }

  /** Locks a team until the transaction ends. */
  async lock(id: number, manager: EntityManager): Promise<void> {
    await this.db.lock(manager, 'teams', { id });
  }

  /** @returns the id of the new team */
  async insert(row: Omit<Team, 'id'>, manager: EntityManager): Promise<number> {
    const { identifiers } = await manager.insert(Team, row);
    return Number(identifiers[0]?.id);
  }

  async update(id: number, changes: Pick<Team, 'name' | 'description'>, manager: EntityManager): Promise<void> {
    await manager.update(Team, { id }, changes);
  }

  /** Deletes a team; foreign keys delete members and permissions, and leave its accounts without a team. */
  async delete(id: number, manager: EntityManager): Promise<void> {
    await manager.delete(Team, { id });
  }
}
