import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../platform/database/db.js';
import { SEALED_HEAD } from '../platform/database/sealed-values.js';
import type { AuditChain } from './audit.entity.js';
import type { Ends } from './chain.js';

/** Both ends of the chain as stored, with its key and signature. */
export type StoredEnds = Omit<AuditChain, 'id'>;

/** The table `audit_chain`, which has one row. */
@Injectable()
export class AuditChainRepository {
  constructor(private readonly db: Db) {}

  /** Undefined when somebody deleted the row. */
  read(manager?: EntityManager): Promise<StoredEnds | undefined> {
    const sql =
      'SELECT seq, hash, start_seq, start_hash, unsealed_seq, secret, signature FROM audit_chain WHERE id = 1';
    return this.db.row(sql, [], manager);
  }

  /** Locks the row until the transaction ends. */
  async lock(manager: EntityManager): Promise<void> {
    await this.db.lock(manager, 'audit_chain', { id: 1 });
  }

  /** @param signature null: keeps the stored one */
  async store(ends: Ends, secret: string, signature: string | null, manager?: EntityManager): Promise<void> {
    await this.db.run(
      `UPDATE audit_chain SET seq = ?, hash = ?, start_seq = ?, start_hash = ?, unsealed_seq = ?, secret = ?,
         signature = COALESCE(?, signature) WHERE id = 1`,
      [ends.seq, ends.hash, ends.start_seq, ends.start_hash, ends.unsealed_seq, secret, signature],
      manager,
    );
  }

  /** Replaces the sealed key where the old one is still stored. @returns how many rows changed */
  replaceSecret(old: string, fresh: string): Promise<number> {
    return this.db.run('UPDATE audit_chain SET secret = ? WHERE id = 1 AND secret = ?', [fresh, old]);
  }

  /** Removes the key and the signature where the sealed key still begins with this head. */
  async dropSecret(head: string, manager?: EntityManager): Promise<void> {
    const sql = `UPDATE audit_chain SET secret = NULL, signature = NULL
      WHERE id = 1 AND SUBSTR(secret, 1, ${SEALED_HEAD}) = ?`;
    await this.db.run(sql, [head], manager);
  }
}
