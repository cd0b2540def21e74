import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, type Principal, signedIn } from '../common/access.js';
import { errors } from '../common/errors.js';
import type { PageQuery } from '../common/paging.dto.js';
import { Db } from '../database/db.js';
import { listRows } from '../database/lists.js';
import { TeamsService } from '../teams/teams.service.js';
import { COUNTED, DomainPermission, REPEATED } from './domain.entity.js';
import { DomainPolicy } from './domain-policy.js';
import type { DomainPermissionView, PermissionInput, PermissionView } from './permission.dto.js';

const COLUMNS = 'id, team_id, domain_id, domain_name, permission, host';

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
    private readonly teams: TeamsService,
    private readonly policy: DomainPolicy,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError 400001, 403001, 404001 */
  async list(me: Principal, teamId: number, query: PageQuery): Promise<{ total: number; list: PermissionView[] }> {
    await this.teams.open(me, teamId, 'see');
    return listRows<PermissionView>(this.db, query, {
      columns: COLUMNS,
      from: 'domain_permissions',
      where: 'team_id = ?',
      values: [teamId],
      sorts: { domain_name: 'domain_name', id: 'id', permission: 'permission' },
      fallback: 'domain_name',
      id: 'id',
      search: ['domain_name'],
    });
  }

  /**
   * Gives a team a right on a domain, which is for its owner and for administrators.
   * @throws AppError 400001, 403001, 404001, 409001
   */
  async create(caller: Caller, teamId: number, input: PermissionInput): Promise<PermissionView> {
    const { domain_id, permission, host = null } = input;
    if (host !== null && permission === 'read') {
      throw errors.field('host', 'goes with permission "write" only: reading is of the whole domain', 'conflict');
    }
    const me = signedIn(caller);
    await this.teams.open(me, teamId, 'manage');
    await this.policy.open(me, domain_id, 'own');
    return this.teams.change(caller, teamId, 'manage', async (manager, team) => {
      // the domain may be deleted at this moment
      await this.db.lock(manager, 'domains', { id: domain_id });
      const domain = await this.db.row<{ name: string }>('SELECT name FROM domains WHERE id = ?', [domain_id], manager);
      if (!domain) throw errors.notFound('Domain');
      const others = await this.db.rows<{ id: number; permission: string; host: string | null }>(
        'SELECT id, permission, host FROM domain_permissions WHERE team_id = ? AND domain_id = ?',
        [teamId, domain_id],
        manager,
      );
      const equal = others.find((other) => other.permission === permission && other.host === host);
      if (equal) throw errors.taken('domain_id', 'the team has this permission already', { id: equal.id });
      const row = { team_id: teamId, domain_id, domain_name: domain.name, permission, host };
      const { identifiers } = await manager.insert(DomainPermission, {
        ...row,
        granted_by: me.userId,
        repeated: others.length ? REPEATED : COUNTED,
      });
      const created = { id: Number(identifiers[0]?.id), ...row };
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
    return listRows<DomainPermissionView>(this.db, query, {
      columns: `p.id, p.team_id, p.domain_id, p.domain_name, p.permission, p.host, t.name AS team_name, p.granted_by`,
      from: 'domain_permissions p JOIN teams t ON t.id = p.team_id',
      where: 'p.domain_id = ?',
      values: [domainId],
      sorts: { team_name: 't.name', id: 'p.id', permission: 'p.permission' },
      fallback: 'team_name',
      id: 'p.id',
      search: ['LOWER(t.name)'],
    });
  }

  /** @throws AppError 403001, 404001, also for a permission of another team */
  remove(caller: Caller, teamId: number, id: number): Promise<void> {
    return this.teams.change(caller, teamId, 'manage', async (manager, team) => {
      const row = await this.db.row<PermissionView>(
        `SELECT ${COLUMNS} FROM domain_permissions WHERE id = ? AND team_id = ?`,
        [id, teamId],
        manager,
      );
      if (!row) throw errors.notFound('Permission');
      await this.drop(manager, caller, row, team.name);
    });
  }

  /**
   * Takes a right on a domain from a team, for whom the guard let at the domain as its owner.
   * @throws AppError 404001, also for a permission on another domain
   */
  takeBack(caller: Caller, domainId: number, id: number): Promise<void> {
    return this.db.transaction(async (manager) => {
      const found = await this.db.row<{ team_id: number }>(
        'SELECT team_id FROM domain_permissions WHERE id = ? AND domain_id = ?',
        [id, domainId],
        manager,
      );
      if (!found) throw errors.notFound('Permission');
      // as whoever changes the team: which of its permissions is counted is decided by one after the other
      await this.teams.lock(manager, found.team_id);
      const row = await this.db.row<DomainPermissionView>(
        `SELECT p.id, p.team_id, p.domain_id, p.domain_name, p.permission, p.host, t.name AS team_name
           FROM domain_permissions p JOIN teams t ON t.id = p.team_id WHERE p.id = ?`,
        [id],
        manager,
      );
      if (!row) throw errors.notFound('Permission');
      const { team_name, ...permission } = row;
      await this.drop(manager, caller, permission, team_name);
    });
  }

  private async drop(manager: EntityManager, caller: Caller, row: PermissionView, team: string): Promise<void> {
    await manager.delete(DomainPermission, { id: row.id });
    await this.countOnce(manager, row.team_id, row.domain_id);
    await this.audit.write(manager, caller, { action: 'permission.delete', ...about(row), before: { team, ...row } });
  }

  /** One of the permissions that a team still has on a domain is counted. */
  private async countOnce(manager: EntityManager, teamId: number, domainId: number): Promise<void> {
    const [first, ...rest] = await this.db.rows<{ id: number; repeated: boolean | number | null }>(
      'SELECT id, repeated FROM domain_permissions WHERE team_id = ? AND domain_id = ? ORDER BY repeated, id',
      [teamId, domainId],
      manager,
    );
    if (!first || [first, ...rest].some((row) => row.repeated === COUNTED)) return;
    await manager.update(DomainPermission, { id: first.id }, { repeated: COUNTED });
  }
}
