import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Role } from '../access/access.js';
import type { DomainPermission } from '../domains/domain.entity.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db, type SqlValue } from '../platform/database/db.js';
import { listRows } from '../platform/database/lists.js';
import { TrashedDomain, TrashedPermission } from './trashed.entity.js';

/** A domain of the trash with its account. */
export type ListedDomain = Omit<TrashedDomain, 'content' | 'account' | 'owner'> & { account_name: string };
export type KeptPermission = Omit<DomainPermission, 'team' | 'domain' | 'domain_name'>;

const COLUMNS = `t.id, t.name, t.apart, t.account_id, t.owner_id, t.deleted_at, t.deleter_id, t.deleter, t.purged_at, t.leaving,
  a.name AS account_name`;
const FROM = 'trashed_domains t JOIN dns_accounts a ON a.id = t.account_id';
/** those that can be restored */
const KEPT = 't.leaving = ? AND t.purged_at > ?';

/**
 * The history of a domain is inherited by its former owner, by members of teams that had a permission on the whole
 * domain, and by administrators.
 */
const INHERITED = `(t.owner_id = ?
  OR EXISTS (SELECT 1 FROM trashed_permissions p JOIN team_members m ON m.team_id = p.team_id
    WHERE p.domain_id = t.id AND p.host IS NULL AND m.user_id = ?)
  OR EXISTS (SELECT 1 FROM users u WHERE u.id = ? AND u.role >= ?))`;

/** rows of one statement */
const ROWS = 200;

/** SQL of `trashed_domains` and `trashed_permissions`. */
@Injectable()
export class TrashedDomainsRepository {
  constructor(private readonly db: Db) {}

  /** @param owner whose they are; null: anybody's @throws AppError 400001 for an unknown `sort` */
  list(owner: number | null, at: string, query: PageQuery): Promise<{ total: number; list: ListedDomain[] }> {
    return listRows<ListedDomain>(this.db, query, {
      columns: COLUMNS,
      from: FROM,
      where: `${KEPT}${owner === null ? '' : ' AND t.owner_id = ?'}`,
      values: [false, at, ...(owner === null ? [] : [owner])],
      sorts: { deleted_at: 't.deleted_at', id: 't.id', name: 't.name', purged_at: 't.purged_at' },
      fallback: '-deleted_at',
      id: 't.id',
      search: ['t.name'],
    });
  }

  /** One that can be restored. */
  find(id: number, at: string, manager?: EntityManager): Promise<ListedDomain | undefined> {
    return this.db.row(`SELECT ${COLUMNS} FROM ${FROM} WHERE t.id = ? AND ${KEPT}`, [id, false, at], manager);
  }

  /** The newest one of a zone of an account that can be restored, and whose history its new owner inherits. */
  async newest(
    { account_id, name, apart, owner_id }: Pick<TrashedDomain, 'account_id' | 'name' | 'apart' | 'owner_id'>,
    at: string,
    manager: EntityManager,
  ): Promise<number | null> {
    const sql = `SELECT t.id FROM trashed_domains t WHERE t.account_id = ? AND t.name = ? AND t.apart = ? AND ${KEPT}
      AND ${INHERITED} ORDER BY t.deleted_at DESC, t.id DESC LIMIT 1`;
    const values = [account_id, name, apart, false, at, owner_id, owner_id, owner_id, Role.Admin];
    return (await this.db.row<{ id: number }>(sql, values, manager))?.id ?? null;
  }

  /** The zones of an account that can be restored. */
  names(accountId: number, at: string): Promise<Pick<TrashedDomain, 'name' | 'apart'>[]> {
    const sql = `SELECT t.name, t.apart FROM trashed_domains t WHERE t.account_id = ? AND ${KEPT}`;
    return this.db.rows(sql, [accountId, false, at]);
  }

  /** Whether there is one with this id, be it on its way out. */
  async has(id: number): Promise<boolean> {
    return (await this.db.row('SELECT id FROM trashed_domains WHERE id = ?', [id])) !== undefined;
  }

  /** Those whose time is over, or that somebody purges. */
  due(at: string, limit: number): Promise<Pick<TrashedDomain, 'id' | 'name' | 'account_id' | 'leaving'>[]> {
    const sql = `SELECT id, name, account_id, leaving FROM trashed_domains WHERE leaving = ? OR purged_at <= ?
      ORDER BY id LIMIT ?`;
    return this.db.rows(sql, [true, at, limit]);
  }

  /** @returns false when there is none with this id */
  lock(id: number, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'trashed_domains', { id });
  }

  /** A whole one; the transaction has locked its row. */
  whole(id: number, manager: EntityManager): Promise<TrashedDomain | null> {
    return manager.findOneBy(TrashedDomain, { id });
  }

  permissions(domainId: number, manager: EntityManager): Promise<KeptPermission[]> {
    const sql = `SELECT id, team_id, domain_id, permission, host, granted_by, repeated FROM trashed_permissions
      WHERE domain_id = ? ORDER BY id`;
    return this.db.rows(sql, [domainId], manager);
  }

  async add(domain: TrashedDomain, permissions: readonly KeptPermission[], manager: EntityManager): Promise<void> {
    await manager.insert(TrashedDomain, domain);
    for (let i = 0; i < permissions.length; i += ROWS)
      await manager.insert(TrashedPermission, permissions.slice(i, i + ROWS) as TrashedPermission[]);
  }

  /** It cannot be restored any more. @returns 0 where somebody has said so already, or before its time */
  leave(id: number, by: string | null, manager: EntityManager): Promise<number> {
    const values: SqlValue[] = [true, id, false];
    const due = by === null ? '' : ' AND purged_at <= ?';
    const sql = `UPDATE trashed_domains SET leaving = ? WHERE id = ? AND leaving = ?${due}`;
    return this.db.run(sql, by === null ? values : [...values, by], manager);
  }

  /** With its permissions. */
  async remove(id: number, manager?: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM trashed_domains WHERE id = ?', [id], manager);
  }
}
