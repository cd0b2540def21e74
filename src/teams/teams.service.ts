import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, Role, signedIn } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { assertUnchanged, same } from '../platform/common/read-only.js';
import { Db } from '../platform/database/db.js';
import type { TeamDetail, TeamInput, TeamPatch, TeamView } from './team.dto.js';
import { TeamMembersRepository } from './team-members.repository.js';
import { type TeamRow, TeamsRepository } from './teams.repository.js';

/** See the team; manage its members and permissions; own it: delete it, appoint owners and managers. */
type TeamRight = 'see' | 'manage' | 'own';

const HOLDERS: Record<TeamRight, readonly (string | null)[]> = {
  see: ['owner', 'manager', 'member'],
  manage: ['owner', 'manager'],
  own: ['owner'],
};

const view = ({ member_count, ...row }: TeamRow): TeamView => ({ ...row, member_count: Number(member_count) });
const target = ({ id, name }: Pick<TeamView, 'id' | 'name'>) => ({ type: 'team', id, name });

/** @throws AppError 403001 unless the caller holds this right on the team, as its member or as an administrator */
export function assertRight(me: Principal, team: Pick<TeamView, 'id' | 'my_role'>, need: TeamRight): void {
  if (me.role < Role.Admin && !HOLDERS[need].includes(team.my_role)) {
    throw errors.forbidden('insufficient_permission', {}, { required: `team:${team.id}:${need}` });
  }
}

/** Teams, and the rights on them. */
@Injectable()
export class TeamsService {
  constructor(
    private readonly db: Db,
    private readonly teams: TeamsRepository,
    private readonly members: TeamMembersRepository,
    private readonly audit: AuditService,
  ) {}

  /** The ids of the teams of a user. */
  idsOf(userId: number): Promise<Set<number>> {
    return this.members.teamsOf(userId);
  }

  /** A page of the caller's teams (administrators: of all), and how many there are. @throws AppError 400001 */
  async list(me: Principal, query: PageQuery): Promise<{ total: number; list: TeamView[] }> {
    const { total, list } = await this.teams.list(me.userId, me.role >= Role.Admin, query);
    return { total, list: list.map(view) };
  }

  /** @throws AppError 403001, 404001 */
  async get(me: Principal, id: number): Promise<TeamDetail> {
    return this.detail(await this.open(me, id, 'see'));
  }

  private async detail(team: TeamView, manager?: EntityManager): Promise<TeamDetail> {
    return { ...team, accounts: await this.teams.accounts(team.id, manager) };
  }

  /** A new team that the caller owns. */
  create(caller: Caller, { name, description = '' }: TeamInput): Promise<TeamView> {
    const created_by = signedIn(caller).userId;
    const row = { name: name.trim(), description: description.trim(), created_by, created_at: now() };
    return this.db.transaction(async (manager) => {
      const id = await this.teams.insert(row, manager);
      const owner = { team_id: id, user_id: created_by, role: 'owner', joined_at: row.created_at };
      await this.members.insert(owner, manager);
      const team = { id, ...row, member_count: 1, my_role: 'owner' as const };
      await this.audit.write(manager, caller, { action: 'team.create', target: target(team), after: team });
      return team;
    });
  }

  /** @throws AppError 403001, 404001 */
  async update(caller: Caller, id: number, patch: TeamPatch): Promise<TeamDetail> {
    const { name, description } = patch;
    await this.change(caller, id, 'manage', async (manager, before) => {
      assertUnchanged(patch, await this.detail(before, manager));
      const after = {
        ...before,
        name: name?.trim() ?? before.name,
        description: description?.trim() ?? before.description,
      };
      if (same(before, after)) {
        this.audit.notNeeded(caller);
        return;
      }
      await this.teams.update(id, { name: after.name, description: after.description }, manager);
      await this.audit.write(manager, caller, { action: 'team.update', target: target(after), before, after });
    });
    return this.get(signedIn(caller), id);
  }

  /**
   * Deletes a team; foreign keys delete members and permissions, and leave its accounts without a team.
   * @throws AppError 403001, 404001
   */
  remove(caller: Caller, id: number): Promise<void> {
    return this.change(caller, id, 'own', async (manager, before) => {
      await this.teams.delete(id, manager);
      await this.audit.write(manager, caller, { action: 'team.delete', target: target(before), before });
    });
  }

  /**
   * The team as the caller sees it.
   * @throws AppError 403001 (for others also when there is no such team: ids reveal nothing), 404001
   */
  async open(me: Principal, id: number, need: TeamRight, manager?: EntityManager): Promise<TeamView> {
    const row = await this.teams.find(id, me.userId, manager);
    assertRight(me, row ?? { id, my_role: null }, need);
    if (!row) throw errors.notFound('team');
    return view(row);
  }

  /** Locks a team until the transaction ends: its changes follow each other. */
  lock(manager: EntityManager, id: number): Promise<void> {
    return this.teams.lock(id, manager);
  }

  /**
   * A transaction that changes something of a team: they follow each other, and each sees the changes before it.
   * @throws AppError 403001, 404001
   */
  change<T>(
    caller: Caller,
    id: number,
    need: TeamRight,
    work: (manager: EntityManager, team: TeamView) => Promise<T>,
  ): Promise<T> {
    return this.db.transaction(async (manager) => {
      await this.lock(manager, id);
      return work(manager, await this.open(signedIn(caller), id, need, manager));
    });
  }
}
