import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { Logger } from '../../platform/common/logger.js';
import { Db, isDuplicate } from '../../platform/database/db.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { User } from '../../users/user.entity.js';
import { UsersRepository } from '../../users/users.repository.js';
import { FreshnessService } from '../second-factor/freshness.service.js';
import type { Proof } from '../second-factor/second-factor.dto.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignInMethods } from '../sessions/sign-in-methods.js';
import { registrationJson } from './credential-json.js';
import type { Passkey } from './passkey.entity.js';
import type { PasskeyCreated, PasskeyRegistration, PasskeyStart, PasskeyView } from './passkeys.dto.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { ALGORITHMS, type NewCredential, RelyingParty, webauthn } from './relying-party.js';

/** Lifetime of the challenges of both ceremonies. */
export const CHALLENGE_MINUTES = 5;

const MOST = 25;

interface Challenge {
  challenge: string;
  sessionId: number | null;
}

/**
 * The WebAuthn user handle: the same for all passkeys of a user, and opaque. It includes the time of creation because
 * users of installations that share a host name have the same ids: an authenticator keeps one credential per host and
 * handle, and would replace that of the other installation.
 */
export const userHandle = ({ id, created_at }: Pick<User, 'id' | 'created_at'>) =>
  new Uint8Array(createHash('sha256').update(`zoneward user ${id} of ${created_at}`).digest());

/** The key of a credential in the database. */
export const credentialKey = (id: string): string => sha256(id);

const view = ({ id, name, transports, backed_up, created_at, last_used_at }: Passkey): PasskeyView => ({
  id,
  name,
  transports,
  backed_up: Boolean(backed_up),
  created_at,
  last_used_at,
});

/** Adds, renames and deletes a user's own passkeys. */
@Injectable()
export class PasskeysService {
  constructor(
    private readonly db: Db,
    private readonly passkeys: PasskeysRepository,
    private readonly users: UsersRepository,
    private readonly challenges: ChallengesService,
    private readonly relyingParty: RelyingParty,
    private readonly freshness: FreshnessService,
    private readonly signInMethods: SignInMethods,
    private readonly settings: SettingsService,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {}

  /** Options for `navigator.credentials.create`. @throws AppError 401001, 403001, 409001 */
  async start(proof: Proof, caller: Caller): Promise<PasskeyStart> {
    await this.freshness.assertOwner(caller, proof);
    const me = signedIn(caller);
    const { id: rpID } = await this.relyingParty.identity();
    const user = await this.users.get(me.userId);
    const own = await this.passkeys.of(me.userId);
    assertMayAdd(me, own.length);
    const { generateRegistrationOptions } = await webauthn();
    const options = await generateRegistrationOptions({
      rpName: (await this.settings.read('general')).site_name,
      rpID,
      userID: userHandle(user),
      userName: user.username,
      userDisplayName: user.nickname || user.username,
      timeout: CHALLENGE_MINUTES * 60_000,
      attestationType: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: own.map(({ credential_id: id, transports }) => ({ id, transports })),
      supportedAlgorithmIDs: ALGORITHMS,
    });
    const content: Challenge = { challenge: options.challenge, sessionId: me.sessionId };
    const challenge_id = await this.challenges.open('passkey-add', CHALLENGE_MINUTES, content, { userId: me.userId });
    return { challenge_id, options: { ...options } };
  }

  /**
   * Stores the credential that answers a challenge of this session; the challenge is used up in any case. The session
   * counts as having shown a second factor from then on.
   * @throws AppError 400001, 403001, 409001 stored already, or too many
   */
  async finish(input: PasskeyRegistration, caller: Caller): Promise<PasskeyCreated> {
    const me = signedIn(caller);
    const open = await this.challenges.take<Challenge>('passkey-add', input.challenge_id);
    if (!open || open.userId !== me.userId || open.content.sessionId !== me.sessionId)
      throw errors.field('challenge_id', 'is unknown, used, or older than five minutes; start again');
    const credential = await this.verified(input.response, open.content.challenge, caller);
    try {
      return await this.db.transaction((manager) => this.store(manager, credential, input.name, caller, me));
    } catch (error) {
      if (isDuplicate(error)) throw errors.conflict('passkey_known');
      throw error;
    }
  }

  async list(caller: Caller): Promise<PasskeyView[]> {
    return (await this.passkeys.of(signedIn(caller).userId)).map(view);
  }

  /** @throws AppError 404001 */
  async rename(id: number, name: string, caller: Caller): Promise<PasskeyView> {
    const { userId } = signedIn(caller);
    return this.db.transaction(async (manager) => {
      const before = await this.own(manager, id, userId);
      await this.passkeys.rename(id, name, manager);
      const after = { ...before, name };
      const target = { type: 'passkey', id, name };
      await this.audit.write(manager, caller, { action: 'passkey.update', target, before, after });
      return after;
    });
  }

  /** Deletes a passkey; with the last one sessions lose it as a proof. @throws AppError 404001, 409001 */
  async remove(id: number, caller: Caller): Promise<void> {
    const { userId } = signedIn(caller);
    await this.db.transaction(async (manager) => {
      const before = await this.own(manager, id, userId);
      await this.passkeys.delete(id, manager);
      await this.signInMethods.assertLeft(manager, userId);
      if (!(await this.passkeys.of(userId, manager)).length) await this.sessions.forget(manager, userId, ['passkey']);
      const target = { type: 'passkey', id, name: before.name };
      await this.audit.write(manager, caller, { action: 'passkey.delete', target, before });
    });
  }

  /** What others are shown of a user's passkeys. */
  async heldBy(manager: EntityManager, userId: number): Promise<Pick<Passkey, 'id' | 'name'>[]> {
    return (await this.passkeys.of(userId, manager)).map(({ id, name }) => ({ id, name }));
  }

  /** Deletes all passkeys of a user; sessions lose them as a proof. @returns how many */
  async removeAll(manager: EntityManager, userId: number): Promise<number> {
    const removed = await this.passkeys.deleteAll(userId, manager);
    if (removed) await this.sessions.forget(manager, userId, ['passkey']);
    return removed;
  }

  private async own(manager: EntityManager, id: number, userId: number): Promise<PasskeyView> {
    const found = await this.passkeys.find({ id, user_id: userId }, manager);
    if (!found) throw errors.notFound('passkey');
    return view(found);
  }

  private async verified(body: Record<string, unknown>, challenge: string, caller: Caller): Promise<NewCredential> {
    const response = registrationJson(body);
    if (!response) throw errors.field('response', 'must be what navigator.credentials.create gave, as JSON');
    await this.relyingParty.identity(); // its failure is not the fault of the response
    try {
      return await this.relyingParty.verifyCreation(response, challenge);
    } catch (error) {
      this.logger.info({ requestId: caller.requestId, why: (error as Error).message }, 'a new passkey was refused');
      throw errors.field('response', 'does not answer these options: wrong origin, no user verification, or damaged');
    }
  }

  private async store(
    manager: EntityManager,
    { id: credential_id, publicKey, counter, transports, backedUp }: NewCredential,
    wanted: string | undefined,
    caller: Caller,
    me: Principal,
  ): Promise<PasskeyCreated> {
    // of two concurrent registrations the second counts the first
    await this.users.lock(me.userId, manager);
    const names = (await this.passkeys.of(me.userId, manager)).map(({ name }) => name);
    assertMayAdd(me, names.length);
    // a session that ended during the ceremony must not leave a passkey behind
    if (!(await this.sessions.showed(manager, me.sessionId, 'passkey')))
      throw errors.unauthenticated('session_invalid');
    const row = {
      user_id: me.userId,
      name: wanted ?? freeName(names),
      credential_key: credentialKey(credential_id),
      credential_id,
      public_key: publicKey,
      counter: String(counter),
      transports,
      backed_up: backedUp,
      created_at: now(),
      last_used_at: null,
    };
    const id = await this.passkeys.insert(row, manager);
    const target = { type: 'passkey', id, name: row.name };
    await this.audit.write(manager, caller, { action: 'passkey.create', target, after: view({ ...row, id }) });
    return { id, name: row.name };
  }
}

/**
 * A session without a second factor may add the first passkey only: else the password alone would be enough to add one.
 * @throws AppError 403001, 409001
 */
function assertMayAdd({ lacksSecondFactor }: Principal, existing: number): void {
  if (existing && lacksSecondFactor) throw errors.forbidden('passkey_to_add', {}, { required: '2fa' });
  if (existing >= MOST) throw errors.conflict('too_many_passkeys', { max: MOST });
}

/** `Passkey 1`, or the first number that no other has. */
function freeName(names: string[]): string {
  for (let n = 1; ; n++) if (!names.includes(`Passkey ${n}`)) return `Passkey ${n}`;
}
