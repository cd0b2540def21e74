import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import { COUNTED, DomainPermission } from './domain.entity.js';
import type { DomainPermissionView, PermissionView } from './permission.dto.js';
import { shownName } from './zone-identity.js';

/** What a right is besides its id: the right, who gave it, and whether it is counted. */
type Values = Omit<PermissionView, 'id'> & Pick<DomainPermission, 'granted_by' | 'repeated'>;

const COLUMNS = 'id, team_id, domain_id, domain_name, permission, host';
const WITH_TEAM = 'p.id, p.team_id, p.domain_id, p.domain_name, p.permission, p.host, t.name AS team_name';

/** Rights as their teams see them. */
const OF_TEAM = {
  columns: 'p.id, p.team_id, p.domain_id, p.domain_name, p.permission, p.host, d.apart',
  from: 'domain_permissions p JOIN domains d ON d.id = p.domain_id',
};
type TeamRow = PermissionView & { apart: string };
const shown = ({ apart, domain_name: name, ...row }: TeamRow): PermissionView => ({
  ...row,
  domain_name: shownName({ name, apart }),
});

/** Rights as the owners of domains see them. */
const ON_DOMAIN = {
  columns: `${WITH_TEAM}, p.granted_by`,
  from: 'domain_permissions p JOIN teams t ON t.id = p.team_id',
};

/** SQL of `domain_permissions`. */
@Injectable()
export class DomainPermissionsRepository {
  constructor(private readonly db: Db) {}

  /** The rights of a team. @throws AppError 400001 for an unknown `sort` */
  async ofTeam(teamId: number, query: PageQuery): Promise<{ total: number; list: PermissionView[] }> {
    const { total, list } = await listRows<TeamRow>(this.db, query, {
      ...OF_TEAM,
      where: 'p.team_id = ?',
      values: [teamId],
      sorts: { domain_name: 'p.domain_name', id: 'p.id', permission: 'p.permission' },
      fallback: 'domain_name',
      id: 'p.id',
      search: ['p.domain_name'],
    });
    return { total, list: list.map(shown) };
  }

  /** One right of a team, as `ofTeam` shows it. */
  async oneOfTeam(id: number, teamId: number): Promise<PermissionView | undefined> {
    const sql = `SELECT ${OF_TEAM.columns} FROM ${OF_TEAM.from} WHERE p.id = ? AND p.team_id = ?`;
    const row = await this.db.row<TeamRow>(sql, [id, teamId]);
    return row && shown(row);
  }

  /** The rights of all teams on a domain. @throws AppError 400001 for an unknown `sort` */
  ofDomain(domainId: number, query: PageQuery): Promise<{ total: number; list: DomainPermissionView[] }> {
    return listRows<DomainPermissionView>(this.db, query, {
      ...ON_DOMAIN,
      where: 'p.domain_id = ?',
      values: [domainId],
      sorts: { team_name: 't.name', id: 'p.id', permission: 'p.permission' },
      fallback: 'team_name',
      id: 'p.id',
      search: ['LOWER(t.name)'],
    });
  }

  /** One right on a domain, as `ofDomain` shows it. */
  oneOfDomain(id: number, domainId: number): Promise<DomainPermissionView | undefined> {
    const sql = `SELECT ${ON_DOMAIN.columns} FROM ${ON_DOMAIN.from} WHERE p.id = ? AND p.domain_id = ?`;
    return this.db.row(sql, [id, domainId]);
  }

  /** The rights of a team on a domain. */
  between(
    teamId: number,
    domainId: number,
    manager: EntityManager,
  ): Promise<Pick<DomainPermission, 'id' | 'permission' | 'host'>[]> {
    const sql = 'SELECT id, permission, host FROM domain_permissions WHERE team_id = ? AND domain_id = ?';
    return this.db.rows(sql, [teamId, domainId], manager);
  }

  /** @returns its id */
  async add(values: Values, manager: EntityManager): Promise<number> {
    return Number((await manager.insert(DomainPermission, values)).identifiers[0]?.id);
  }

  /** The rights on a domain, as they are stored. */
  whole(domainId: number, manager: EntityManager): Promise<DomainPermission[]> {
    return manager.find(DomainPermission, { where: { domain_id: domainId }, order: { id: 'ASC' } });
  }

  /** A right that was there before, under its id. */
  async bringBack(row: Omit<DomainPermission, 'team' | 'domain'>, manager: EntityManager): Promise<void> {
    await this.db.insert('domain_permissions', { ...row }, manager);
  }

  findInTeam(id: number, teamId: number, manager: EntityManager): Promise<PermissionView | undefined> {
    const sql = `SELECT ${COLUMNS} FROM domain_permissions WHERE id = ? AND team_id = ?`;
    return this.db.row(sql, [id, teamId], manager);
  }

  async teamOf(id: number, domainId: number, manager: EntityManager): Promise<number | undefined> {
    const sql = 'SELECT team_id FROM domain_permissions WHERE id = ? AND domain_id = ?';
    return (await this.db.row<{ team_id: number }>(sql, [id, domainId], manager))?.team_id;
  }

  findWithTeam(
    id: number,
    manager: EntityManager,
  ): Promise<(PermissionView & Pick<DomainPermissionView, 'team_name'>) | undefined> {
    const sql = `SELECT ${WITH_TEAM} FROM domain_permissions p JOIN teams t ON t.id = p.team_id WHERE p.id = ?`;
    return this.db.row(sql, [id], manager);
  }

  async delete(id: number, manager: EntityManager): Promise<void> {
    await manager.delete(DomainPermission, { id });
  }

  /** Makes one of the rights that a team has on a domain the counted one, unless one is. */
  async countOnce(teamId: number, domainId: number, manager: EntityManager): Promise<void> {
    const rows = await this.db.rows<{ id: number; repeated: boolean | number | null }>(
      'SELECT id, repeated FROM domain_permissions WHERE team_id = ? AND domain_id = ? ORDER BY repeated, id',
      [teamId, domainId],
      manager,
    );
    const [first] = rows;
    if (!first || rows.some((row) => row.repeated === COUNTED)) return;
    await manager.update(DomainPermission, { id: first.id }, { repeated: COUNTED });
  }
}
