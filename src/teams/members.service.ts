import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, Role, signedIn } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { assertUnchanged } from '../platform/common/read-only.js';
import { type LimitRule, LimitsService } from '../platform/limits/limits.service.js';
import { UsersRepository } from '../users/users.repository.js';
import type { MemberInput, MemberRole, MemberView } from './team.dto.js';
import { TeamMembersRepository } from './team-members.repository.js';
import { assertRight, TeamsService } from './teams.service.js';

/** attempts of one user to add members to any team */
const ADDED: LimitRule = { max: 30, windowS: 3600, blockS: 3600, maxBlockS: 3600 };

/** The user that a body names by exactly one of two fields. @throws AppError 400001 */
function searched({ user_id, username }: MemberInput) {
  if (user_id !== undefined && username !== undefined)
    throw errors.field('username', 'cannot be sent together with user_id', 'conflict');
  if (username !== undefined) return { field: 'username', by: { username_key: username.trim().toLowerCase() } };
  if (user_id === undefined) throw errors.field('user_id', 'is needed, or username', 'required');
  return { field: 'user_id', by: { id: user_id } };
}

const target = (member: MemberView) => ({ type: 'member', id: member.user_id, name: member.username });

/** The members of teams. A team that has an owner keeps one. */
@Injectable()
export class MembersService {
  constructor(
    private readonly members: TeamMembersRepository,
    private readonly users: UsersRepository,
    private readonly teams: TeamsService,
    private readonly limits: LimitsService,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError 400001, 403001, 404001 */
  async list(me: Principal, teamId: number, query: PageQuery): Promise<{ total: number; list: MemberView[] }> {
    await this.teams.open(me, teamId, 'see');
    return this.members.list(teamId, query);
  }

  /** @throws AppError 403001, 404001 */
  async get(me: Principal, teamId: number, userId: number): Promise<MemberView> {
    await this.teams.open(me, teamId, 'see');
    return this.member(teamId, userId);
  }

  /**
   * Adds a user, by id or by name. Attempts of users who are not administrators are limited, failures included: else
   * they could enumerate ids and names.
   * @throws AppError 400001 no such user, 403001, 404001, 409001 a member already, 429001
   */
  async add(caller: Caller, teamId: number, input: MemberInput): Promise<MemberView> {
    const { role = 'member' } = input;
    const need = role === 'member' ? 'manage' : 'own';
    const me = signedIn(caller);
    await this.teams.open(me, teamId, need);
    const { field, by } = searched(input);
    if (me.role < Role.Admin) {
      const wait = await this.limits.hit({ kind: 'members', network: `user ${me.userId}` }, ADDED);
      if (wait) throw errors.tooMany('members_rate_limited', wait);
    }
    return this.teams.change(caller, teamId, need, async (manager, team) => {
      // locked: the user may be deleted or disabled concurrently
      const user = await this.users.lockActive(by, manager);
      if (!user) throw errors.field(field, 'is no active user', 'choice');
      const { id: user_id, username, nickname } = user;
      if (await this.members.find(teamId, user_id, manager)) throw errors.taken(field, 'member_already');
      const joined_at = now();
      await this.members.insert({ team_id: teamId, user_id, role, joined_at }, manager);
      const member = { user_id, username, nickname, role, joined_at };
      const after = { team: team.name, team_id: teamId, ...member };
      await this.audit.write(manager, caller, { action: 'member.create', target: target(member), after });
      return member;
    });
  }

  /** @throws AppError 403001, 404001, 409001 for the last owner */
  setRole(caller: Caller, teamId: number, userId: number, patch: MemberRole): Promise<MemberView> {
    return this.teams.change(caller, teamId, 'own', async (manager, team) => {
      const member = await this.member(teamId, userId, manager);
      assertUnchanged(patch, member);
      const { role } = patch;
      if (role === member.role) {
        this.audit.notNeeded(caller);
        return member;
      }
      await this.members.setRole(teamId, userId, role, manager);
      await this.assertOwnerLeft(manager, teamId, member);
      const after = { ...member, role };
      await this.audit.write(manager, caller, {
        action: 'member.update',
        target: target(member),
        before: { team: team.name, team_id: teamId, ...member },
        after: { team: team.name, team_id: teamId, ...after },
      });
      return after;
    });
  }

  /** Removes a member; everybody may leave. @throws AppError 403001, 404001, 409001 for the last owner */
  remove(caller: Caller, teamId: number, userId: number): Promise<void> {
    const me = signedIn(caller);
    const leaving = me.userId === userId;
    return this.teams.change(caller, teamId, leaving ? 'see' : 'manage', async (manager, team) => {
      const member = await this.member(teamId, userId, manager);
      if (!leaving && member.role !== 'member') assertRight(me, team, 'own');
      await this.members.delete(teamId, userId, manager);
      await this.assertOwnerLeft(manager, teamId, member);
      await this.audit.write(manager, caller, {
        action: 'member.delete',
        target: target(member),
        before: { team: team.name, team_id: teamId, ...member },
      });
    });
  }

  private async assertOwnerLeft(manager: EntityManager, teamId: number, before: MemberView): Promise<void> {
    if (before.role !== 'owner') return;
    if (!(await this.members.hasOwner(teamId, manager))) {
      throw errors.conflict('last_owner');
    }
  }

  private async member(teamId: number, userId: number, manager?: EntityManager): Promise<MemberView> {
    const member = await this.members.find(teamId, userId, manager);
    if (!member) throw errors.notFound('member');
    return member;
  }
}
