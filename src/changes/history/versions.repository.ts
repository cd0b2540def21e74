import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db, marks } from '../../platform/database/db.js';
import type { Version } from './version.entity.js';

/** How many records a version made, changed and took away. */
export type Counts = Pick<Version, 'created' | 'updated' | 'deleted'>;

/** The states that the records of domains had. Whoever writes has locked the row of the domain. */
@Injectable()
export class VersionsRepository {
  constructor(private readonly db: Db) {}

  newest(domainId: number, manager: EntityManager): Promise<Pick<Version, 'version' | 'change_set_id'> | undefined> {
    const sql = 'SELECT version, change_set_id FROM versions WHERE domain_id = ? ORDER BY version DESC LIMIT 1';
    return this.db.row(sql, [domainId], manager);
  }

  async insert(version: Omit<Version, 'id'>, manager: EntityManager): Promise<void> {
    await this.db.insert('versions', { ...version }, manager);
  }

  /** More of the same version. */
  async add(
    domainId: number,
    version: number,
    { created, updated, deleted }: Counts,
    manager: EntityManager,
  ): Promise<void> {
    const sql = `UPDATE versions SET created = created + ?, updated = updated + ?, deleted = deleted + ?
      WHERE domain_id = ? AND version = ?`;
    await this.db.run(sql, [created, updated, deleted, domainId, version], manager);
  }

  /** The last versions of these sets, of which the changes go: nothing before them can be found any more. */
  async cut(sets: readonly number[], manager: EntityManager): Promise<void> {
    const last = await this.db.rows<Pick<Version, 'domain_id' | 'version'>>(
      `SELECT domain_id, MAX(version) AS version FROM versions WHERE change_set_id IN (${marks(sets.length)})
        GROUP BY domain_id`,
      sets,
      manager,
    );
    for (const { domain_id, version } of last) {
      const where = 'WHERE domain_id = ? AND version';
      await this.db.run(`DELETE FROM versions ${where} < ?`, [domain_id, version], manager);
      const sql = `UPDATE versions SET change_set_id = NULL, inherited = ? ${where} = ?`;
      await this.db.run(sql, [true, domain_id, version], manager);
    }
  }
}
