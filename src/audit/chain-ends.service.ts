import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { randomHex } from '../common/hash.js';
import { SECRET_BOX } from '../config/config.module.js';
import type { SecretBox } from '../config/secret-box.js';
import { Db } from '../database/db.js';
import { type Renewal, SEALED_HEAD, SealedValues } from '../database/sealed-values.js';
import type { AuditCheckpoint } from './audit.dto.js';
import type { AuditChain } from './audit.entity.js';
import { ChainKeys, type Ends } from './chain.js';

const SECRET = 'audit_chain.secret';

/** Where the chain begins and ends: the one row of `audit_chain`, with the key that signs it. */
@Injectable()
export class ChainEnds {
  /** of the newest secret that was asked for */
  private known: { sealed: string; keys: ChainKeys } | undefined;

  constructor(
    private readonly db: Db,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('the key of the audit log', {
      heads: async () => [(await this.read())?.secret],
      renew: () => this.renew(sealed),
      // the next entry makes another one; those before it are held by their hashes alone
      each: async () => {
        const head = (await this.read())?.secret?.slice(0, SEALED_HEAD);
        if (!head) return [];
        const sql = `UPDATE audit_chain SET secret = NULL, signature = NULL
          WHERE id = 1 AND SUBSTR(secret, 1, ${SEALED_HEAD}) = ?`;
        return [{ of: 'its seals and signatures', head, drop: (manager) => db.run(sql, [head], manager) }];
      },
    });
  }

  private async renew(values: SealedValues): Promise<Renewal> {
    const secret = (await this.read())?.secret;
    const fresh = secret && values.renewed(secret, SECRET);
    if (!fresh) return { renewed: 0, unreadable: secret && !this.box.knows(secret) ? 1 : 0 };
    const renewed = await this.db.run('UPDATE audit_chain SET secret = ? WHERE id = 1 AND secret = ?', [fresh, secret]);
    return { renewed, unreadable: 0 };
  }

  /** Undefined when somebody took the row out. */
  read(manager?: EntityManager): Promise<Omit<AuditChain, 'id'> | undefined> {
    const sql =
      'SELECT seq, hash, start_seq, start_hash, unsealed_seq, secret, signature FROM audit_chain WHERE id = 1';
    return this.db.row(sql, [], manager);
  }

  /** The same, locked until the transaction ends. @throws Error */
  async lock(manager: EntityManager): Promise<Omit<AuditChain, 'id'>> {
    await this.db.lock(manager, 'audit_chain', { id: 1 });
    const ends = await this.read(manager);
    if (!ends) throw new Error('the audit chain has no start');
    return ends;
  }

  /** A new secret, as it is stored. */
  newSecret(): string {
    return this.box.encrypt(randomHex(32), SECRET);
  }

  /** Whether a recorded key is one of this installation. */
  knows(sealed: string): boolean {
    try {
      return Boolean(this.keysOf(sealed));
    } catch {
      return false;
    }
  }

  keysOf(sealed: string): ChainKeys {
    if (this.known?.sealed !== sealed) this.known = { sealed, keys: new ChainKeys(this.box.decrypt(sealed, SECRET)) };
    return this.known.keys;
  }

  /** In the transaction that locked it. @param signature null: stays what it was */
  async store(manager: EntityManager, ends: Ends, secret: string, signature: string | null): Promise<void> {
    await this.db.run(
      `UPDATE audit_chain SET seq = ?, hash = ?, start_seq = ?, start_hash = ?, unsealed_seq = ?, secret = ?,
         signature = COALESCE(?, signature) WHERE id = 1`,
      [ends.seq, ends.hash, ends.start_seq, ends.start_hash, ends.unsealed_seq, secret, signature],
      manager,
    );
  }

  /** The end of the chain as it is signed; null while it is not, or not by us. */
  checkpointOf({ secret, signature, ...ends }: Omit<AuditChain, 'id'>): AuditCheckpoint | null {
    if (!secret) return null;
    const keys = this.keysOf(secret);
    if (!signature || !keys.signs(ends, signature)) return null;
    return {
      seq: ends.seq,
      hash: ends.hash,
      start_seq: ends.start_seq ?? 1,
      start_hash: ends.start_hash ?? '',
      unsealed_seq: ends.unsealed_seq ?? 0,
      signature,
      public_key: keys.publicKey,
    };
  }
}
