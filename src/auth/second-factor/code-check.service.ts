import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { errors } from '../../platform/common/errors.js';
import { type LimitRule, LimitsService } from '../../platform/limits/limits.service.js';
import type { User } from '../../users/user.entity.js';
import { type Attempt, Attempts } from '../password/attempts.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { Codes } from './second-factor.dto.js';
import { SecondFactorService } from './second-factor.service.js';

/** Which of the two is checked when both are sent. */
export const codeKind = ({ totpCode }: Codes): 'totp' | 'recovery' => (totpCode ? 'totp' : 'recovery');

/**
 * The limit of wrong codes for one account from any network: only somebody who knows its password can cause them, so
 * strangers cannot lock it.
 */
const CODES_ANYWHERE: LimitRule = { max: 20, windowS: 3600, blockS: 3600, maxBlockS: 3600 };

/** Checks codes of the second factor, inside the limits of attempts. */
@Injectable()
export class CodeCheck {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly attempts: Attempts,
    private readonly limits: LimitsService,
    private readonly sessions: SessionsService,
  ) {}

  /** Checks a code; failures count as failed logins. @throws AppError 401001 wrong or used, 423, 429 */
  async check(user: User, codes: Codes, caller: Caller): Promise<void> {
    await this.attempts.guarded(user.username_key, caller, (attempt) => this.within(attempt, user, codes));
  }

  /** The same as a part of an attempt. @throws AppError code -2 without a code, 401001 with a wrong or used one, 423 */
  async within({ username, network }: Attempt, user: User, { totpCode, recoveryCode }: Codes): Promise<void> {
    if (!totpCode && !recoveryCode) throw errors.secondFactor();
    const anywhere = { kind: 'codes', network: 'anywhere', username };
    const blocked = await this.limits.blockedFor(anywhere);
    if (blocked && !(await this.sessions.knowsNetwork(user.username_key, network)))
      throw errors.locked('codes_locked', blocked);
    const right = totpCode
      ? await this.secondFactor.useCode(user.id, totpCode)
      : await this.secondFactor.useRecoveryCode(user.id, recoveryCode as string);
    if (right) return;
    await this.limits.hit(anywhere, CODES_ANYWHERE);
    const dropped = totpCode && (await this.secondFactor.isDropped(user.id));
    throw errors.wrong(totpCode ? 'totpCode' : 'recoveryCode', dropped ? 'authenticator_lost' : 'wrong_code');
  }
}
