import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { now, timeMs } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { randomHex, sha256 } from '../../platform/common/hash.js';
import { SECRET_BOX } from '../../platform/config/config.module.js';
import type { SecretBox } from '../../platform/config/secret-box.js';
import { Db } from '../../platform/database/db.js';
import { SealedValues } from '../../platform/database/sealed-values.js';
import { SettingsService } from '../../settings/settings.service.js';
import { UsersRepository } from '../../users/users.repository.js';
import { PasswordService } from '../password/password.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import type { TotpSetup } from './second-factor.dto.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

/** Loaded when somebody sets up, or enters, a code. */
const otp = () => import('otplib');

const CONTEXT = 'second_factors.secret';
const SEED_BYTES = 20;
const STEP_S = 30;
const RECOVERY_CODES = 10;

/** `2f8a-…`: 80 random bits, so that a plain hash of them is safe. */
const recoveryCode = () => randomHex(10).replace(/(.{5})(?=.)/g, '$1-');
const recoveryHash = (code: string) => sha256(code.toLowerCase().replace(/[^0-9a-f]/g, ''));

/** A user's authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 s) and recovery codes. */
@Injectable()
export class SecondFactorService {
  constructor(
    private readonly db: Db,
    private readonly factors: SecondFactorsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly audit: AuditService,
    private readonly settings: SettingsService,
    private readonly sessions: SessionsService,
    private readonly users: UsersRepository,
    private readonly passwords: PasswordService,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    for (const column of ['secret', 'pending'] as const)
      sealed.keep(column === 'secret' ? 'seeds of authenticator apps' : 'seeds that wait for their first code', {
        fleeting: column === 'pending',
        heads: () => factors.heads(column),
        renew: () =>
          sealed.renewColumn<number>(
            CONTEXT,
            0,
            (id, head, limit) => factors.sealedOtherwise(column, id, head, limit),
            (id, old, fresh) => factors.replace(column, id, old, fresh),
          ),
        // the user's second factor stays on: a password alone must not suffice
        each: async () =>
          Promise.all(
            (await factors.identifiedHeads(column)).map(async ({ id, head }) => ({
              of: `user ${id} (${(await users.get(id)).username})`,
              head,
              drop: (manager: EntityManager) => factors.drop(column, id, head, manager),
            })),
          ),
      });
  }

  /** A fresh seed that waits for its first code. @throws AppError 409001 when the second factor is on */
  async setup(caller: Caller): Promise<TotpSetup> {
    const { userId, username } = signedIn(caller);
    await this.assertMayEnrol(caller);
    // also where its seed was dropped: a session alone must not replace it
    if ((await this.users.get(userId)).totp_enabled) throw errors.conflict('second_factor_on');
    const [{ generateSecret, generateURI }, { default: QRCode }] = await Promise.all([otp(), import('qrcode')]);
    const secret = generateSecret({ length: SEED_BYTES });
    const { site_name } = await this.settings.read('general');
    const sealed = this.box.encrypt(secret, CONTEXT);
    await this.db.transaction(async (manager) => {
      await this.factors.deletePending(userId, manager);
      await this.factors.insertPending(userId, sealed, now(), manager);
      const target = { type: 'user', id: userId, name: username };
      await this.audit.write(manager, caller, { action: 'auth.2fa_setup', target });
    });
    // a colon would end the issuer in the label
    const issuer = site_name.replaceAll(':', ' ').trim() || 'Zoneward';
    const otpauth_url = generateURI({ issuer, label: username, secret });
    return { secret, otpauth_url, qr_code: await QRCode.toDataURL(otpauth_url) };
  }

  /**
   * Turns the second factor on with a first code.
   * @returns recovery codes, shown this once
   * @throws AppError 401001 wrong code, 409001 no enrolment waits
   */
  async enable(code: string, caller: Caller): Promise<string[]> {
    const { userId, username, sessionId } = signedIn(caller);
    await this.assertMayEnrol(caller);
    const pending = (await this.factors.seeds(userId))?.pending;
    if (!pending) throw errors.conflict('no_enrolment');
    const step = await this.stepOf(code, pending);
    if (step === null) throw errors.wrong('code', 'wrong_first_code');
    const codes = Array.from({ length: RECOVERY_CODES }, recoveryCode);
    await this.db.transaction(async (manager) => {
      if (!(await this.factors.confirm(userId, pending, step, manager))) throw errors.conflict('enrolment_replaced');
      await this.users.setTotp(userId, true, manager);
      await this.sessions.showed(manager, sessionId, 'totp');
      await this.storeCodes(manager, userId, codes);
      const target = { type: 'user', id: userId, name: username };
      await this.audit.write(manager, caller, { action: 'auth.2fa_enable', target });
    });
    return codes;
  }

  /** Turns the second factor off, with the password and a code. @throws AppError 401001, 409001 */
  async turnOff(password: string, code: string, caller: Caller): Promise<void> {
    const user = await this.passwords.confirm(caller, password, 'password', async ({ id, totp_enabled }) => {
      if (!totp_enabled) throw errors.conflict('second_factor_off');
      if (!(await this.useCode(id, code)) && !(await this.useRecoveryCode(id, code)))
        throw errors.wrong('code', 'wrong_code');
    });
    await this.db.transaction(async (manager) => {
      await this.remove(manager, user.id);
      const target = { type: 'user', id: user.id, name: user.username };
      await this.audit.write(manager, caller, { action: 'auth.2fa_disable', target });
    });
  }

  /**
   * Deletes the second factor and the recovery codes. Sessions lose it as a proof from the next request on.
   * @returns whether there was one
   */
  async remove(manager: EntityManager, userId: number): Promise<boolean> {
    const removed = await this.factors.delete(userId, manager);
    await this.recoveryCodes.deleteAll(userId, manager);
    await this.users.setTotp(userId, false, manager);
    await this.sessions.forget(manager, userId, ['totp', 'recovery']);
    return removed;
  }

  /** Uses a code of the app, which must be right, and newer than the last that was used. Of two at once one wins. */
  async useCode(userId: number, code: string): Promise<boolean> {
    const secret = (await this.factors.seeds(userId))?.secret;
    if (!secret) return false;
    const step = await this.stepOf(code, secret);
    return step !== null && this.factors.useStep(userId, secret, step);
  }

  /** Whether the seed was dropped because its key was lost: no code can be right. */
  async isDropped(userId: number): Promise<boolean> {
    return !(await this.factors.seeds(userId))?.secret;
  }

  /** Uses up a recovery code. */
  useRecoveryCode(userId: number, code: string): Promise<boolean> {
    return this.recoveryCodes.delete(userId, recoveryHash(code));
  }

  /**
   * Where a second factor is required, a password alone must not add one to a user who has passkeys: that would bypass
   * them.
   */
  private async assertMayEnrol(caller: Caller): Promise<void> {
    const { userId, lacksSecondFactor } = signedIn(caller);
    if (lacksSecondFactor && (await this.factors.hasPasskey(userId)))
      throw errors.forbidden('passkey_first', {}, { required: '2fa' });
  }

  /** The time step that a code belongs to, now or one to either side; null when it is wrong. */
  private async stepOf(code: string, sealed: string): Promise<number | null> {
    const token = code.replace(/\s/g, '');
    if (!/^\d{6}$/.test(token)) return null; // otplib throws on another length
    const secret = this.box.decrypt(sealed, CONTEXT);
    const { verify } = await otp();
    const result = await verify({ secret, token, epoch: Math.floor(timeMs() / 1000), epochTolerance: STEP_S });
    return result.valid && 'timeStep' in result ? result.timeStep : null;
  }

  private async storeCodes(manager: EntityManager, userId: number, codes: string[]): Promise<void> {
    await this.recoveryCodes.deleteAll(userId, manager);
    for (const code of codes) await this.recoveryCodes.insert(userId, recoveryHash(code), manager);
  }
}
