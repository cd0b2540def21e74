import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, signedIn } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { errors } from '../platform/common/errors.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db } from '../platform/database/db.js';
import { TeamsService } from '../teams/teams.service.js';
import { COUNTED, REPEATED } from './domain.entity.js';
import { DomainPermissionsRepository } from './domain-permissions.repository.js';
import { DomainPolicy } from './domain-policy.js';
import { DomainsRepository } from './domains.repository.js';
import type { DomainPermissionView, PermissionInput, PermissionView } from './permission.dto.js';

/** The entry's domain and target. */
const about = ({ id, domain_id, domain_name: name }: PermissionView) => ({
  domain: { id: domain_id, name },
  target: { type: 'permission', id, name },
});

/** What teams may do with domains. */
@Injectable()
export class PermissionsService {
  constructor(
    private readonly db: Db,
    private readonly permissions: DomainPermissionsRepository,
    private readonly domains: DomainsRepository,
    private readonly teams: TeamsService,
    private readonly policy: DomainPolicy,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError 400001, 403001, 404001 */
  async list(me: Principal, teamId: number, query: PageQuery): Promise<{ total: number; list: PermissionView[] }> {
    await this.teams.open(me, teamId, 'see');
    return this.permissions.ofTeam(teamId, query);
  }

  /** @throws AppError 403001, 404001, also for a permission of another team */
  async get(me: Principal, teamId: number, id: number): Promise<PermissionView> {
    await this.teams.open(me, teamId, 'see');
    const permission = await this.permissions.oneOfTeam(id, teamId);
    if (!permission) throw errors.notFound('permission');
    return permission;
  }

  /**
   * Gives a team a right on a domain, which is for its owner and for administrators.
   * @throws AppError 400001, 403001, 404001, 409001
   */
  async create(caller: Caller, teamId: number, input: PermissionInput): Promise<PermissionView> {
    const { permission, host = null } = input;
    if (host !== null && permission === 'read') {
      throw errors.field('host', 'goes with permission "write" only: reading is of the whole domain', 'conflict');
    }
    const me = signedIn(caller);
    await this.teams.open(me, teamId, 'manage');
    const { id: domain_id, name: domain_name } = await this.policy.open(me, input.domain_id, 'own');
    return this.teams.change(caller, teamId, 'manage', async (manager, team) => {
      // the domain may be deleted at this moment
      if (!(await this.domains.lock(domain_id, manager))) throw errors.notFound('domain');
      const others = await this.permissions.between(teamId, domain_id, manager);
      const equal = others.find((other) => other.permission === permission && other.host === host);
      if (equal) throw errors.taken('domain_id', 'permission_exists', {}, { id: equal.id });
      const row = { team_id: teamId, domain_id, domain_name, permission, host };
      const repeated = others.length ? REPEATED : COUNTED;
      const id = await this.permissions.add({ ...row, granted_by: me.userId, repeated }, manager);
      const created = { id, ...row };
      await this.audit.write(manager, caller, {
        action: 'permission.create',
        ...about(created),
        after: { team: team.name, ...created },
      });
      return created;
    });
  }

  /** The rights of all teams on a domain. @throws AppError 400001 */
  ofDomain(domainId: number, query: PageQuery): Promise<{ total: number; list: DomainPermissionView[] }> {
    return this.permissions.ofDomain(domainId, query);
  }

  /** One right on a domain. @throws AppError 404001, also for a permission on another domain */
  async getOnDomain(domainId: number, id: number): Promise<DomainPermissionView> {
    const permission = await this.permissions.oneOfDomain(id, domainId);
    if (!permission) throw errors.notFound('permission');
    return permission;
  }

  /** @throws AppError 403001, 404001, also for a permission of another team */
  remove(caller: Caller, teamId: number, id: number): Promise<void> {
    return this.teams.change(caller, teamId, 'manage', async (manager, team) => {
      const row = await this.permissions.findInTeam(id, teamId, manager);
      if (!row) throw errors.notFound('permission');
      await this.drop(manager, caller, row, team.name);
    });
  }

  /**
   * Takes a right on a domain from a team, for whom the guard let at the domain as its owner.
   * @throws AppError 404001, also for a permission on another domain
   */
  takeBack(caller: Caller, domainId: number, id: number): Promise<void> {
    return this.db.transaction(async (manager) => {
      const team = await this.permissions.teamOf(id, domainId, manager);
      if (team === undefined) throw errors.notFound('permission');
      // every change of a team locks it: which of its permissions is counted is decided by one after the other
      await this.teams.lock(manager, team);
      const row = await this.permissions.findWithTeam(id, manager);
      if (!row) throw errors.notFound('permission');
      const { team_name, ...permission } = row;
      await this.drop(manager, caller, permission, team_name);
    });
  }

  private async drop(manager: EntityManager, caller: Caller, row: PermissionView, team: string): Promise<void> {
    await this.permissions.delete(row.id, manager);
    await this.permissions.countOnce(row.team_id, row.domain_id, manager);
    await this.audit.write(manager, caller, { action: 'permission.delete', ...about(row), before: { team, ...row } });
  }
}
