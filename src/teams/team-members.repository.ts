import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import type { MemberView, TeamRole } from './team.dto.js';
import { TeamMember } from './team.entity.js';

const COLUMNS = 'm.user_id, u.username, u.nickname, m.role, m.joined_at';
const FROM = 'team_members m JOIN users u ON u.id = m.user_id';
const SORTS = { username: 'u.username_key', user_id: 'm.user_id', role: 'm.role', joined_at: 'm.joined_at' };

/** The statements of the table `team_members`. */
@Injectable()
export class TeamMembersRepository {
  constructor(private readonly db: Db) {}

  /** A page of the members of a team. @throws AppError 400001 for an unknown `sort` */
  list(teamId: number, query: PageQuery): Promise<{ total: number; list: MemberView[] }> {
    return listRows<MemberView>(this.db, query, {
      columns: COLUMNS,
      from: FROM,
      where: 'm.team_id = ?',
      values: [teamId],
      sorts: SORTS,
      fallback: 'username',
      id: 'm.user_id',
      search: ['u.username_key', 'LOWER(u.nickname)'],
    });
  }

  find(teamId: number, userId: number, manager?: EntityManager): Promise<MemberView | undefined> {
    const sql = `SELECT ${COLUMNS} FROM ${FROM} WHERE m.team_id = ? AND m.user_id = ?`;
    return this.db.row(sql, [teamId, userId], manager);
  }

  /** The ids of the teams of a user. */
  async teamsOf(userId: number): Promise<Set<number>> {
    const sql = 'SELECT team_id FROM team_members WHERE user_id = ?';
    return new Set((await this.db.rows<{ team_id: number }>(sql, [userId])).map(({ team_id }) => team_id));
  }

  async hasOwner(teamId: number, manager: EntityManager): Promise<boolean> {
    const sql = `SELECT user_id FROM team_members WHERE team_id = ? AND role = 'owner' LIMIT 1`;
    return (await this.db.row(sql, [teamId], manager)) !== undefined;
  }

  async insert(row: Omit<TeamMember, 'team' | 'user'>, manager: EntityManager): Promise<void> {
    await manager.insert(TeamMember, row);
  }

  async setRole(teamId: number, userId: number, role: TeamRole, manager: EntityManager): Promise<void> {
    await manager.update(TeamMember, { team_id: teamId, user_id: userId }, { role });
  }

  async delete(teamId: number, userId: number, manager: EntityManager): Promise<void> {
    await manager.delete(TeamMember, { team_id: teamId, user_id: userId });
  }
}
