import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { randomHex } from '../platform/common/hash.js';
import { SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { type Renewal, SEALED_HEAD, SealedValues } from '../platform/database/sealed-values.js';
import type { AuditCheckpoint } from './audit.dto.js';
import { AuditChainRepository, type StoredEnds } from './audit-chain.repository.js';
import { ChainKeys, type Ends } from './chain.js';

const SECRET = 'audit_chain.secret';

/** Where the chain begins and ends: the one row of `audit_chain`, with the key that signs it. */
@Injectable()
export class ChainEnds {
  /** the keys of the secret that was used last */
  private known: { sealed: string; keys: ChainKeys } | undefined;

  constructor(
    private readonly chain: AuditChainRepository,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('the key of the audit log', {
      heads: async () => [(await this.read())?.secret],
      renew: () => this.renew(sealed),
      // the next link creates another one; older entries are then protected by their hashes alone
      each: async () => {
        const head = (await this.read())?.secret?.slice(0, SEALED_HEAD);
        if (!head) return [];
        return [{ of: 'its seals and signatures', head, drop: (manager) => chain.dropSecret(head, manager) }];
      },
    });
  }

  private async renew(values: SealedValues): Promise<Renewal> {
    const secret = (await this.read())?.secret;
    const fresh = secret && values.renewed(secret, SECRET);
    if (!fresh) return { renewed: 0, unreadable: secret && !this.box.knows(secret) ? 1 : 0 };
    const renewed = await this.chain.replaceSecret(secret, fresh);
    return { renewed, unreadable: 0 };
  }

  /** Undefined when somebody deleted the row. */
  read(manager?: EntityManager): Promise<StoredEnds | undefined> {
    return this.chain.read(manager);
  }

  /** The same, locked until the transaction ends. @throws Error */
  async lock(manager: EntityManager): Promise<StoredEnds> {
    await this.chain.lock(manager);
    const ends = await this.read(manager);
    if (!ends) throw new Error('the audit chain has no start');
    return ends;
  }

  /** A new secret, as it is stored. */
  newSecret(): string {
    return this.box.encrypt(randomHex(32), SECRET);
  }

  /** Whether a recorded key can be decrypted here. */
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

  /** In the transaction that locked it. @param signature null: keeps the stored one */
  store(manager: EntityManager, ends: Ends, secret: string, signature: string | null): Promise<void> {
    return this.chain.store(ends, secret, signature, manager);
  }

  /** The signed end of the chain; null while it is unsigned or its signature is not ours. */
  checkpointOf({ secret, signature, ...ends }: StoredEnds): AuditCheckpoint | null {
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
