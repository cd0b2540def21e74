import { createSecretKey, type KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { randomHex } from '../../common/hash.js';
import { SECRET_BOX } from '../../config/config.module.js';
import type { SecretBox } from '../../config/secret-box.js';
import { Db } from '../../database/db.js';

const NAME = 'signing_secret';
const CONTEXT = 'settings.signing_secret';

/** The secret that signs user JWTs: made when the first administrator is, stored encrypted, the same on every replica. */
@Injectable()
export class SigningKey {
  private key: KeyObject | null = null;

  constructor(
    private readonly db: Db,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** The key, or null before initialisation. A KeyObject: with text, jsonwebtoken would parse it anew at each request. */
  async get(): Promise<KeyObject | null> {
    if (this.key) return this.key;
    const row = await this.db.row<{ content: string }>('SELECT content FROM settings WHERE name = ?', [NAME]);
    if (row) this.key = createSecretKey(Buffer.from(this.box.decrypt(row.content, CONTEXT), 'hex'));
    return this.key;
  }

  /** 256 fresh bits, in the transaction that creates the first user. */
  async create(manager: EntityManager): Promise<void> {
    await this.db.run('DELETE FROM settings WHERE name = ?', [NAME], manager);
    const sealed = this.box.encrypt(randomHex(32), CONTEXT);
    await this.db.run('INSERT INTO settings (name, content) VALUES (?, ?)', [NAME, sealed], manager);
    this.key = null;
  }
}
