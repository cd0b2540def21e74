import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Origin, signedIn } from '../../access/access.js';
import { networkOf } from '../../platform/common/cidr.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { randomHex } from '../../platform/common/hash.js';
import type { SecuritySettings } from '../../settings/settings.dto.js';
import type { Session } from './session.entity.js';
import { type SessionRow, SessionsRepository } from './sessions.repository.js';

/** A proof shown in a session; `mfa`: several factors at a provider that is trusted with them (`trusted_2fa`). */
export type Shown = 'password' | 'totp' | 'recovery' | 'passkey' | 'oauth' | 'mfa';

/** What a session that is not fresh is refused. */
export type FreshReason = 'fresh_for_binding' | 'fresh_for_email' | 'fresh_for_password' | 'fresh_proof_needed';

/** How long a session counts as fresh: its owner is taken to be still present. */
const FRESH_MS = 5 * 60_000;

/** A passkey counts: it verifies the user by a PIN or biometrics. */
const SECOND_FACTORS: readonly string[] = ['totp', 'recovery', 'passkey', 'mfa'] satisfies Shown[];

/** Parses the column of a session. */
export const amrOf = (text: string | null): Shown[] => (text ? JSON.parse(text) : []);

/** Whether a second factor was shown, and not switched off since. */
export const showedSecondFactor = (amr: readonly Shown[]): boolean =>
  amr.some((shown) => SECOND_FACTORS.includes(shown));

type ShownSession = Omit<SessionRow, 'amr'> & { amr: Shown[] };

/**
 * The sessions of users. A JWT is valid as long as the row of its session, which each request reads; deleting the row
 * ends the session on every replica.
 */
@Injectable()
export class SessionsService {
  constructor(private readonly sessions: SessionsRepository) {}

  /** Starts a session, whose method is the first proof; deletes expired sessions of the user. */
  async create(
    manager: EntityManager,
    userId: number,
    { ip, userAgent }: Origin,
    amr: [Shown, ...Shown[]],
    life: SecuritySettings['session'],
  ): Promise<Session> {
    await this.sessions.deleteExpiredOf(userId, now(), manager);
    const session = {
      sid: randomHex(32),
      user_id: userId,
      created_at: now(),
      last_active_at: now(),
      expires_at: now(life.absolute_days * 86_400_000),
      ip,
      user_agent: userAgent,
      method: amr[0],
      amr,
    };
    return { ...session, id: await this.sessions.insert(session, manager) };
  }

  /** The live sessions of a user, the newest first. */
  async list(userId: number, life: SecuritySettings['session']): Promise<ShownSession[]> {
    const rows = await this.sessions.live(userId, now(), now(-life.idle_minutes * 60_000));
    return rows.map((row) => ({ ...row, amr: amrOf(row.amr) }));
  }

  /**
   * Adds a proof to a session. Call it in a transaction that locks the user.
   * @returns false when the session has ended
   */
  async showed(manager: EntityManager, id: number | null, shown: Shown): Promise<boolean> {
    const before = await this.sessions.amr(id, manager);
    if (before === undefined) return false;
    const amr = [...new Set([...amrOf(before), shown])];
    return this.sessions.setAmr(id, JSON.stringify(amr), manager);
  }

  /**
   * Removes factors that were switched off from all sessions of a user. Call it in a transaction that locks the user.
   */
  async forget(manager: EntityManager, userId: number, factors: Shown[]): Promise<void> {
    for (const { id, amr } of await this.sessions.amrs(userId, manager)) {
      const left = amrOf(amr).filter((shown) => !factors.includes(shown));
      await this.sessions.setAmr(id, JSON.stringify(left), manager);
    }
  }

  /** What a JWT of the session says of it; undefined when it has ended. */
  named(id: number | null): Promise<Pick<Session, 'sid' | 'expires_at'> | undefined> {
    return this.sessions.named(id);
  }

  /** The proofs of a session that still count. */
  async shownIn(id: number | null): Promise<Shown[]> {
    return amrOf((await this.sessions.amr(id)) ?? null);
  }

  /** Whether a live session of this name came from the network. */
  async knowsNetwork(username: string, network: string): Promise<boolean> {
    return (await this.sessions.addresses(username, now())).some((ip) => networkOf(ip) === network);
  }

  /** @returns whether the user had such a session */
  end(manager: EntityManager, userId: number, id: number): Promise<boolean> {
    return this.sessions.delete(id, userId, manager);
  }

  /** Ends all sessions of a user, or all but one. @returns how many */
  endAll(manager: EntityManager, userId: number, except: number | null = null): Promise<number> {
    return this.sessions.deleteAll(userId, except, manager);
  }

  /**
   * Refuses unless the session began just now: for changes that would turn a stolen or open session into permanent
   * access.
   * @throws AppError 403001
   */
  async assertFresh(caller: Caller, reason: FreshReason): Promise<void> {
    const fresh = await this.sessions.beganAfter(signedIn(caller).sessionId, now(-FRESH_MS));
    if (!fresh) throw errors.forbidden(reason, {}, { required: 'fresh' });
  }
}
