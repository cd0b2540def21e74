import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { Logger } from '../../platform/common/logger.js';
import type { User } from '../../users/user.entity.js';
import { UsersRepository } from '../../users/users.repository.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { Refusals } from '../sessions/refusals.service.js';
import type { LoginResult } from '../sessions/sessions.dto.js';
import { SignIn } from '../sessions/sign-in.service.js';
import { assertionJson } from './credential-json.js';
import type { PasskeyLoginFinish, PasskeyStart } from './passkeys.dto.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { CHALLENGE_MINUTES, credentialKey, userHandle } from './passkeys.service.js';
import { RelyingParty, webauthn } from './relying-party.js';

interface Challenge {
  challenge: string;
  /** lower case; null: the passkey identifies the user */
  username: string | null;
}

/** The user who signed in, or why it was refused: for the audit log, never for the answer. */
type PasskeyLogin = { user: User } | { refused: string; name: string };

/** Sign-in with a passkey. */
@Injectable()
export class PasskeyLoginService {
  constructor(
    private readonly passkeys: PasskeysRepository,
    private readonly users: UsersRepository,
    private readonly challenges: ChallengesService,
    private readonly relyingParty: RelyingParty,
    private readonly signIn: SignIn,
    private readonly refusals: Refusals,
    private readonly logger: Logger,
  ) {}

  /**
   * Options for `navigator.credentials.get`. They list no credentials, with or without a name: all passkeys here are
   * discoverable, so the answer reveals neither whether the user exists nor which passkeys there are.
   */
  async start(username: string | undefined): Promise<PasskeyStart> {
    const { id: rpID } = await this.relyingParty.identity();
    const timeout = CHALLENGE_MINUTES * 60_000;
    const { generateAuthenticationOptions } = await webauthn();
    const options = await generateAuthenticationOptions({ rpID, timeout, userVerification: 'required' });
    const content: Challenge = {
      challenge: options.challenge,
      username: username === undefined || username === null ? null : username.trim().toLowerCase(),
    };
    const challenge_id = await this.challenges.open('passkey-login', CHALLENGE_MINUTES, content);
    return { challenge_id, options: { ...options } };
  }

  /** Signs in with an assertion, which stands for both factors. @throws AppError 401001 whatever is wrong, 403001 */
  async finish(input: PasskeyLoginFinish, caller: Caller): Promise<LoginResult> {
    const found = await this.verify(input);
    if ('user' in found) return this.signIn.signIn(found.user, caller, ['passkey']);
    return this.refusals.refuse(caller, found.name, found.refused, errors.unauthenticated('passkey_refused'));
  }

  /** Verifies an assertion. The challenge is used up in any case. */
  private async verify({ challenge_id, response: body }: PasskeyLoginFinish): Promise<PasskeyLogin> {
    const open = await this.challenges.take<Challenge>('passkey-login', challenge_id);
    const given = open?.content.username ?? '';
    if (!open) return { refused: 'unknown, used or expired challenge', name: given };
    const response = assertionJson(body);
    if (!response) return { refused: 'malformed passkey response', name: given };
    const passkey = await this.passkeys.find({ credential_key: credentialKey(response.id) });
    const user = passkey && (await this.users.find({ id: passkey.user_id }));
    if (!user) return { refused: 'unknown passkey', name: given };

    const refused = (why: string): PasskeyLogin => ({ refused: why, name: user.username });
    if (given && given !== user.username_key) return refused('passkey of another user than named');
    const handle = Buffer.from(response.response.userHandle ?? '', 'base64url');
    if (handle.length !== 32 || !timingSafeEqual(handle, userHandle(user))) return refused('wrong user handle');
    let use: { counter: number; backedUp: boolean };
    try {
      use = await this.relyingParty.verifyUse(response, open.content.challenge, passkey.public_key);
    } catch (error) {
      return refused(`passkey not verified: ${printable(error as Error)}`);
    }
    const counted = await this.count(passkey.id, use);
    if (counted === 'gone') return refused('unknown passkey');
    if (counted === 'backwards') {
      this.logger.warn({ passkey: passkey.id, user: user.id, shown: use.counter }, 'signature counter went backwards');
      return refused('signature counter went backwards');
    }
    if (user.status !== 1) return refused('disabled');
    return { user };
  }

  /**
   * Stores the signature counter. A counter that does not grow indicates a copy of the key; authenticators without a
   * counter always send 0. The comparison is part of the update, so that of two uses of one value at once one passes.
   */
  private async count(id: number, use: { counter: number; backedUp: boolean }): Promise<'ok' | 'gone' | 'backwards'> {
    for (;;) {
      const counter = await this.passkeys.counter(id);
      if (counter === undefined) return 'gone';
      const stored = Number(counter);
      if ((stored || use.counter) && use.counter <= stored) return 'backwards';
      if (await this.passkeys.storeUse(id, counter, use, now())) return 'ok';
    }
  }
}

/** The messages of the library may contain what the client sent. */
const printable = ({ message }: Error) => message.replace(/[^ -~]/g, '?').slice(0, 200);
