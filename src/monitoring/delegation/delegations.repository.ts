import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Reader, readableSql } from '../../domains/readable-domains.repository.js';
import { Db } from '../../platform/database/db.js';
import { type Counted, countedRows, TOTAL } from '../../platform/database/lists.js';
import type { KnownDelegation } from './delegation.entity.js';

/** What is known of a delegation. */
export type StoredDelegation = Pick<KnownDelegation, 'names' | 'names_before' | 'ds' | 'changed_at' | 'broken'>;

/** A delegation with what was critical at the last check. */
export interface BrokenDelegation {
  domain_id: number;
  domain: string;
  /** codes of issues */
  broken: string[];
  checked_at: string | null;
}

const listOf = (text: string | null | undefined) => (text ? (JSON.parse(text) as string[]) : null);

/** SQL of `delegations`. */
@Injectable()
export class DelegationsRepository {
  constructor(private readonly db: Db) {}

  async find(domainId: number, manager?: EntityManager): Promise<StoredDelegation | null> {
    const row = await this.db.row<Record<string, string | null>>(
      'SELECT names, names_before, ds, broken, changed_at FROM delegations WHERE domain_id = ?',
      [domainId],
      manager,
    );
    if (!row) return null;
    return {
      names: listOf(row.names),
      names_before: listOf(row.names_before),
      ds: listOf(row.ds),
      broken: listOf(row.broken),
      changed_at: row.changed_at ?? null,
    };
  }

  /** @returns false when nothing is stored of it */
  lock(domainId: number, manager: EntityManager): Promise<boolean> {
    return this.db.lock(manager, 'delegations', { domain_id: domainId });
  }

  /** @param next when it is due again */
  async save(
    domainId: number,
    known: StoredDelegation,
    checkedAt: string,
    next: string,
    manager: EntityManager,
  ): Promise<void> {
    const lists = [known.names, known.names_before, known.ds, known.broken];
    const texts = lists.map((list) => list && JSON.stringify(list));
    const values = [...texts, known.changed_at, checkedAt, next, domainId];
    const update = `UPDATE delegations SET names = ?, names_before = ?, ds = ?, broken = ?, changed_at = ?, checked_at = ?,
      next_at = ? WHERE domain_id = ?`;
    if (await this.db.run(update, values, manager)) return;
    const insert = `INSERT INTO delegations (names, names_before, ds, broken, changed_at, checked_at, next_at, domain_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    await this.db.run(insert, values, manager);
  }

  async postpone(domainId: number, next: string): Promise<void> {
    const update = 'UPDATE delegations SET next_at = ? WHERE domain_id = ?';
    if (await this.db.run(update, [next, domainId])) return;
    await this.db.run('INSERT INTO delegations (next_at, domain_id) VALUES (?, ?)', [next, domainId]);
  }

  /** Delegations with a critical issue at the last check, of public domains that somebody may read. */
  async broken(reader: Reader, limit: number): Promise<Counted<BrokenDelegation>> {
    const [readable, values] = readableSql(reader, 'k.domain_id');
    const { rows, total } = await countedRows<Omit<BrokenDelegation, 'broken'> & { broken: string }>(
      this.db,
      `SELECT k.domain_id, d.name AS domain, k.broken, k.checked_at, ${TOTAL}
         FROM delegations k JOIN domains d ON d.id = k.domain_id
        WHERE k.broken IS NOT NULL AND k.broken <> '[]' AND d.apart = '' AND ${readable}
        ORDER BY k.domain_id LIMIT ?`,
      [...values, limit],
    );
    return { rows: rows.map((row) => ({ ...row, broken: listOf(row.broken) ?? [] })), total };
  }

  /** Public domains after an id whose delegation is due; those without one when they were made before `madeBefore`. */
  due(
    count: number,
    at: string,
    madeBefore: string,
    after: number,
  ): Promise<{ id: number; name: string; owner_id: number | null }[]> {
    return this.db.rows(
      `SELECT d.id, d.name, d.owner_id FROM domains d LEFT JOIN delegations k ON k.domain_id = d.id
        WHERE d.id > ? AND d.apart = '' AND (k.next_at <= ? OR (k.domain_id IS NULL AND d.created_at < ?))
        ORDER BY d.id LIMIT ?`,
      [after, at, madeBefore, count],
    );
  }
}
