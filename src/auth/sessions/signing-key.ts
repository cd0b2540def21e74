import { createSecretKey, type KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { EntityManager } from 'typeorm';
import { randomHex } from '../../common/hash.js';
import { SECRET_BOX } from '../../config/config.module.js';
import type { SecretBox } from '../../config/secret-box.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { Session } from './session.entity.js';

const CONTEXT = 'settings.signing_secret';

/**
 * The secret that signs user JWTs: made when the first administrator is, stored encrypted, the same on every replica.
 */
@Injectable()
export class SigningKey {
  private key: KeyObject | null = null;

  constructor(
    private readonly settings: SettingsService,
    private readonly jwt: JwtService,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * The key, or null before initialisation. A KeyObject: with text, jsonwebtoken would parse it anew at each request.
   */
  async get(): Promise<KeyObject | null> {
    if (this.key) return this.key;
    const sealed = await this.settings.signingSecret();
    if (sealed) this.key = createSecretKey(Buffer.from(this.box.decrypt(sealed, CONTEXT), 'hex'));
    return this.key;
  }

  /** A JWT of a session, good for so many minutes, and no longer than the session. */
  async sign(
    userId: number,
    { sid, expires_at }: Pick<Session, 'sid' | 'expires_at'>,
    minutes: number,
  ): Promise<string> {
    const secret = await this.get();
    if (!secret) throw new Error('no signing secret yet');
    const seconds = Math.min(minutes * 60, Math.floor((Date.parse(expires_at) - Date.now()) / 1000));
    return this.jwt.signAsync(
      { sid },
      { subject: String(userId), algorithm: 'HS256', expiresIn: Math.max(1, seconds), privateKey: secret },
    );
  }

  /** 256 fresh bits, in the transaction that creates the first user. */
  async create(manager: EntityManager): Promise<void> {
    await this.settings.storeSigningSecret(manager, this.box.encrypt(randomHex(32), CONTEXT));
    this.key = null;
  }
}
