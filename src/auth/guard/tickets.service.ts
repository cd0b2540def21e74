import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../../access/access.js';
import { now } from '../../platform/common/clock.js';
import { errors, fieldError } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { ApiTokenStrategy, credentialOf, isApiToken, JwtStrategy } from './strategies.js';

const SECONDS = 30;

/** Of a session the claims of its JWT, of an API token the hash of its text: judges a caller, but signs nobody in. */
export type Proof = { sid: string; sub: string; exp: number } | { hash: string };

/** The proof of a request that the guard has let in by its `Authorization`. */
export function proofOf(request: Request): Proof {
  const credential = credentialOf(request);
  if (isApiToken(credential)) return { hash: sha256(credential) };
  const { sid, sub, exp } = JSON.parse(Buffer.from(String(credential).split('.')[1] as string, 'base64url').toString());
  return { sid, sub, exp };
}

/**
 * Tickets for clients that can send no header, such as the `EventSource` of a browser: one opens one request, within 30
 * seconds, with the rights that its credential has then.
 */
@Injectable()
export class Tickets {
  constructor(
    private readonly challenges: ChallengesService,
    private readonly sessions: JwtStrategy,
    private readonly tokens: ApiTokenStrategy,
  ) {}

  async issue(userId: number, proof: Proof): Promise<{ ticket: string; expires_at: string }> {
    const expires_at = now(SECONDS * 1000);
    return { ticket: await this.challenges.open('ticket', SECONDS / 60, proof, { userId }), expires_at };
  }

  /** Uses a ticket up. @throws AppError 400001 beside a credential, 401001 when it is unknown, used or over */
  async take(request: Request, ticket: unknown): Promise<Proof> {
    if (credentialOf(request) !== null)
      throw errors.validation([fieldError('ticket', 'takes the place of Authorization: leave out one', 'conflict')]);
    const found = typeof ticket === 'string' ? await this.challenges.take<Proof>('ticket', ticket) : null;
    if (!found) throw errors.unauthenticated('ticket_unknown');
    return found.content;
  }

  /**
   * The principal of a proof; null when its credential has ended.
   * @param used whether this counts as a use of the credential
   * @throws AppError 403001
   */
  judge(proof: Proof, ip: string, used: boolean): Promise<Principal | null> {
    return 'hash' in proof
      ? this.tokens.judge(proof.hash, ip, used)
      : this.sessions.judge(proof.sid, proof.sub, ip, used);
  }
}
