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
import type { PermissionInput, PermissionView } from './permission.dto.js';

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

  /** @throws AppError 403001, 404001, also for a permission of another team */
  remove(caller: Caller, teamId: number, id: number): Promise<void> {
    return this.teams.change(caller, teamId, 'manage', async (manager, team) => {
      const row = await this.db.row<PermissionView>(
        `SELECT ${COLUMNS} FROM domain_permissions WHERE id = ? AND team_id = ?`,
        [id, teamId],
        manager,
      );
      if (!row) throw errors.notFound('Permission');
      await manager.delete(DomainPermission, { id });
      await this.countOnce(manager, teamId, row.domain_id);
      await this.audit.write(manager, caller, {
        action: 'permission.delete',
        ...about(row),
        before: { team: team.name, ...row },
      });
    });
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
