import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { namesAbove } from '../dns/names.js';
import { Db, marks } from '../platform/database/db.js';
import { Domain } from './domain.entity.js';
import { DOMAIN_COLUMNS, type DomainRow } from './readable-domains.repository.js';
import type { Binding, KnownZone } from './zone-identity.js';

/** ids or names in one statement that reads, and rows of one that writes */
const CHUNK = 500;
const ROWS = 200;

/** SQL of `domains`: what changes them, and reads them whoever asks. */
@Injectable()
export class DomainsRepository {
  constructor(private readonly db: Db) {}

  find(id: number, manager?: EntityManager): Promise<DomainRow | undefined> {
    return this.db.row<DomainRow>(
      `SELECT ${DOMAIN_COLUMNS} FROM domains d JOIN dns_accounts a ON a.id = d.account_id WHERE d.id = ?`,
      [id],
      manager,
    );
  }

  /** All domains that are synchronised, with the number of their cached records. */
  active(): Promise<Pick<Domain, 'id' | 'records_count'>[]> {
    return this.db.rows("SELECT id, records_count FROM domains WHERE status = 'active' ORDER BY id");
  }

  /** The domains of an account with one of these names, public ones. */
  async named(accountId: number, names: readonly string[]): Promise<DomainRow[]> {
    const found: DomainRow[] = [];
    for (let i = 0; i < names.length; i += CHUNK) {
      const some = names.slice(i, i + CHUNK);
      const sql = `SELECT ${DOMAIN_COLUMNS} FROM domains d JOIN dns_accounts a ON a.id = d.account_id
        WHERE d.account_id = ? AND d.apart = '' AND d.name IN (${marks(some.length)})`;
      found.push(...(await this.db.rows<DomainRow>(sql, [accountId, ...some])));
    }
    return found;
  }

  /** Which of these ids are domains. */
  async existing(ids: readonly number[]): Promise<Set<number>> {
    const found = new Set<number>();
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      const sql = `SELECT id FROM domains WHERE id IN (${marks(some.length)})`;
      for (const { id } of await this.db.rows<{ id: number }>(sql, some)) found.add(id);
    }
    return found;
  }

  async isInAccount(accountId: number, name: string): Promise<boolean> {
    const sql = "SELECT 1 AS one FROM domains WHERE account_id = ? AND name = ? AND apart = ''";
    return Boolean(await this.db.row(sql, [accountId, name]));
  }

  /** The first public domains with this name, or below or above it, that do not belong to this user. */
  overlapping(name: string, userId: number, manager?: EntityManager): Promise<{ id: number; name: string }[]> {
    const above = namesAbove(name);
    return this.db.rows(
      `SELECT id, name FROM domains WHERE apart = '' AND (owner_id IS NULL OR owner_id <> ?)
          AND (name IN (${marks(above.length)}) OR name LIKE ? ESCAPE '!')
        ORDER BY name LIMIT 20`,
      [userId, ...above, `%.${name.replace(/_/g, '!_')}`],
      manager,
    );
  }

  /** The role of the owner; 0: it has none, or one who is disabled. */
  async ownerRole(id: number): Promise<number> {
    const sql = `SELECT u.role FROM domains d JOIN users u ON u.id = d.owner_id WHERE d.id = ? AND u.status = 1`;
    return Number((await this.db.row<{ role: number }>(sql, [id]))?.role ?? 0);
  }

  /** @returns its id */
  async add(domain: Partial<Domain>, manager: EntityManager): Promise<number> {
    return Number((await manager.insert(Domain, domain)).identifiers[0]?.id);
  }

  /** A row that was there before, under its id: TypeORM has PostgreSQL number it anew. */
  async bringBack(domain: Partial<Omit<Domain, 'account' | 'owner'>>, manager: EntityManager): Promise<void> {
    await this.db.insert('domains', domain, manager);
  }

  /** A whole row, as it is stored. */
  whole(id: number, manager: EntityManager): Promise<Domain | null> {
    return manager.findOneBy(Domain, { id });
  }

  async addAll(domains: readonly Partial<Domain>[], manager: EntityManager): Promise<void> {
    for (let i = 0; i < domains.length; i += ROWS) await manager.insert(Domain, domains.slice(i, i + ROWS));
  }

  async update(id: number, changes: Partial<Omit<Domain, 'account' | 'owner'>>, manager: EntityManager): Promise<void> {
    await manager.update(Domain, { id }, changes);
  }

  async delete(id: number, manager: EntityManager): Promise<void> {
    await manager.delete(Domain, { id });
  }

  /** @returns false when there is no such domain */
  lock(id: number, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'domains', { id });
  }

  /** Locks those of an account. */
  lockAll(accountId: number, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'domains', { account_id: accountId });
  }

  ofAccount(accountId: number): Promise<KnownZone[]> {
    return this.db.rows('SELECT id, name, apart, remote_id, status FROM domains WHERE account_id = ?', [accountId]);
  }

  async activeIds(accountId: number): Promise<number[]> {
    const sql = `SELECT id FROM domains WHERE account_id = ? AND status = 'active' ORDER BY id`;
    return (await this.db.rows<{ id: number }>(sql, [accountId])).map(({ id }) => id);
  }

  /** The provider lists these again, or they are bound to other zones. */
  async markListed(bindings: readonly Binding[], manager: EntityManager): Promise<void> {
    for (let i = 0; i < bindings.length; i += ROWS) {
      const some = bindings.slice(i, i + ROWS);
      const each = `CASE id ${some.map(() => 'WHEN ? THEN ?').join(' ')} END`;
      await this.db.run(
        `UPDATE domains SET status = 'active', remote_id = ${each}, apart = ${each} WHERE id IN (${marks(some.length)})`,
        [
          ...some.flatMap(({ domain, remote_id }) => [domain.id, remote_id]),
          ...some.flatMap(({ domain, apart }) => [domain.id, apart]),
          ...some.map(({ domain }) => domain.id),
        ],
        manager,
      );
    }
  }

  /** One whose zone is gone leaves its name to another domain of the account. */
  async standApart(id: number, zoneId: string, manager: EntityManager): Promise<void> {
    await this.db.run('UPDATE domains SET apart = ? WHERE id = ?', [zoneId, id], manager);
  }

  /** The provider does not list these any more. */
  async markMissing(ids: readonly number[], manager: EntityManager): Promise<void> {
    for (let i = 0; i < ids.length; i += ROWS) {
      const some = ids.slice(i, i + ROWS);
      await this.db.run(`UPDATE domains SET status = 'missing' WHERE id IN (${marks(some.length)})`, some, manager);
    }
  }

  /**
   * How many domains, or cached records, there are by how long ago the cache followed the provider.
   * @param ages an hour, a day and a week ago
   */
  async countByAge(what: 'domains' | 'records', ages: readonly string[]): Promise<Record<string, number>> {
    const sum = what === 'domains' ? 'COUNT(*)' : 'SUM(records_count)';
    const sql = `SELECT CASE WHEN synced_at IS NULL THEN 'never' WHEN synced_at > ? THEN 'hour' WHEN synced_at > ? THEN 'day'
        WHEN synced_at > ? THEN 'week' ELSE 'older' END AS age, ${sum} AS n FROM domains WHERE status = 'active' GROUP BY 1`;
    const rows = await this.db.rows<{ age: string; n: number | string }>(sql, ages);
    return Object.fromEntries(rows.map(({ age, n }) => [age, Number(n)]));
  }
}
