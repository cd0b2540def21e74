import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../../platform/database/db.js';
import { SEALED_HEAD } from '../../platform/database/sealed-values.js';
import { Hook } from './hook.entity.js';

/** What is stored of a hook. */
export type HookRow = Omit<Hook, 'token' | 'domain'>;

/** The table `hooks`. */
@Injectable()
export class HooksRepository {
  constructor(private readonly db: Db) {}

  find(id: number): Promise<HookRow | null> {
    return this.db.source.manager.findOneBy(Hook, { id });
  }

  /** Those of a token, the oldest first. */
  ofToken(tokenId: number): Promise<HookRow[]> {
    return this.db.source.manager.find(Hook, { where: { token_id: tokenId }, order: { id: 'ASC' } });
  }

  count(tokenId: number, manager: EntityManager): Promise<number> {
    return manager.countBy(Hook, { token_id: tokenId });
  }

  async insert(row: Omit<HookRow, 'id'>, manager: EntityManager): Promise<number> {
    const { identifiers } = await manager.insert(Hook, row);
    return Number(identifiers[0]?.id);
  }

  /** @returns how many there were */
  delete(id: number, manager: EntityManager): Promise<number> {
    return this.db.run('DELETE FROM hooks WHERE id = ?', [id], manager);
  }

  /** The heads of all sealed secrets, with what they are for. */
  heads(): Promise<{ id: number; host: string; type: string; head: string }[]> {
    return this.db.rows(`SELECT id, host, type, SUBSTR(secret, 1, ${SEALED_HEAD}) AS head FROM hooks`);
  }

  /** Secrets behind an id whose head differs from this one, in the order of the ids. */
  sealedOtherwise(after: number, head: string, limit: number): Promise<{ id: number; sealed: string }[]> {
    return this.db.rows(
      `SELECT id, secret AS sealed FROM hooks
        WHERE id > ? AND SUBSTR(secret, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
      [after, head],
    );
  }

  /** Replaces a sealed secret, where it is still the old one. @returns how many rows changed */
  replace(id: number, old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE hooks SET secret = ? WHERE id = ? AND secret = ?', [fresh, id, old]);
  }
}
