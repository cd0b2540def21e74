import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import type { EntityManager } from 'typeorm';
import { now, timeMs } from '../../platform/common/clock.js';
import { SECRET_BOX } from '../../platform/config/config.module.js';
import type { SecretBox } from '../../platform/config/secret-box.js';
import { MAX_TOKEN_MINUTES } from '../../settings/settings.dto.js';
import { SIGNING_CONTEXT, SigningSecrets } from '../../settings/signing-secrets.js';
import type { Session } from './session.entity.js';

/** the most by which clocks of replicas may differ, in ms */
const SKEW_MS = 300_000;

interface Key {
  key: KeyObject;
  until: string | null;
}

/**
 * The secret that signs user JWTs: generated with the first administrator, stored encrypted, the same on every replica.
 * After a rotation the previous one still verifies what it signed.
 */
@Injectable()
export class SigningKey {
  private keys: Key[] = [];

  constructor(
    private readonly stored: SigningSecrets,
    private readonly jwt: JwtService,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * The key that signed a JWT, or the one that signs now when none did; null before initialisation. A KeyObject: with
   * text, jsonwebtoken would parse it anew at each request.
   */
  async of(jwt: string): Promise<KeyObject | null> {
    const known = this.signerOf(jwt);
    if (known) return known;
    // another process may have rotated it
    await this.load();
    return this.signerOf(jwt) ?? this.keys[0]?.key ?? null;
  }

  /** The key that signs now, or null before initialisation. @throws Error when it cannot be decrypted */
  async get(): Promise<KeyObject | null> {
    if (!this.keys.length) await this.load();
    return this.keys[0]?.key ?? null;
  }

  private signerOf(jwt: string): KeyObject | undefined {
    const end = jwt.lastIndexOf('.');
    const signature = Buffer.from(jwt.slice(end + 1), 'base64url');
    return this.keys.find(({ key, until }) => {
      if (until !== null && until <= now()) return false;
      const made = createHmac('sha256', key)
        .update(jwt.slice(0, Math.max(0, end)))
        .digest();
      return made.length === signature.length && timingSafeEqual(made, signature);
    })?.key;
  }

  private async load(): Promise<void> {
    const secrets = await this.stored.list();
    this.keys = secrets.map(({ sealed, until }) => ({
      key: createSecretKey(Buffer.from(this.box.decrypt(sealed, SIGNING_CONTEXT), 'hex')),
      until,
    }));
  }

  /** A JWT of a session, valid for so many minutes, and no longer than the session. */
  async sign(
    userId: number,
    { sid, expires_at }: Pick<Session, 'sid' | 'expires_at'>,
    minutes: number,
  ): Promise<string> {
    // read each time: what the previous secret signed after a rotation would expire too early
    await this.load();
    const secret = this.keys[0]?.key;
    if (!secret) throw new Error('no signing secret yet');
    const seconds = Math.min(minutes * 60, Math.floor((Date.parse(expires_at) - timeMs()) / 1000));
    return this.jwt.signAsync(
      { sid, iat: Math.floor(timeMs() / 1000) },
      { subject: String(userId), algorithm: 'HS256', expiresIn: Math.max(1, seconds), privateKey: secret },
    );
  }

  /** Generates the secret, in the transaction that creates the first user. */
  async create(manager: EntityManager): Promise<void> {
    await this.stored.create(manager);
    this.keys = [];
  }

  /**
   * Generates a new secret. The previous one verifies as long as any JWT may be valid.
   * @returns until when it verifies
   */
  async rotate(): Promise<string> {
    const until = now(MAX_TOKEN_MINUTES * 60_000 + SKEW_MS);
    await this.stored.rotate(until);
    return until;
  }
}
