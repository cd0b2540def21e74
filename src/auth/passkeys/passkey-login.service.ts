import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { now } from '../../common/clock.js';
import { log } from '../../common/logger.js';
import type { User } from '../../users/user.entity.js';
import { UsersRepository } from '../../users/users.repository.js';
import { ChallengesService } from '../sessions/challenges.service.js';
import { assertionJson } from './credential-json.js';
import type { PasskeyLoginFinish, PasskeyStart } from './passkeys.dto.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { CHALLENGE_MINUTES, credentialKey, userHandle } from './passkeys.service.js';
import { RelyingParty, webauthn } from './relying-party.js';

interface Challenge {
  challenge: string;
  /** lower case; null: the passkey says who it is */
  username: string | null;
}

/** Who signed in, or why nobody did: in words for the audit log, never for the answer. */
type PasskeyLogin = { user: User } | { refused: string; name: string };

/** Signing in with a passkey. Ends with the user that it belongs to; the session is begun elsewhere. */
@Injectable()
export class PasskeyLoginService {
  constructor(
    private readonly passkeys: PasskeysRepository,
    private readonly users: UsersRepository,
    private readonly challenges: ChallengesService,
    private readonly relyingParty: RelyingParty,
  ) {}

  /**
   * Options for `navigator.credentials.get`. They name no credentials, with or without a name: all passkeys here are
   * discoverable, and so the answer cannot tell whether there is such a user, or which passkeys they have. Nothing is
   * looked up, either.
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

  /** Checks what the browser sent. The challenge is used up, whatever comes of it. */
  async verify({ challenge_id, response: body }: PasskeyLoginFinish): Promise<PasskeyLogin> {
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
      log().warn({ passkey: passkey.id, user: user.id, shown: use.counter }, 'signature counter went backwards');
      return refused('signature counter went backwards');
    }
    if (user.status !== 1) return refused('disabled');
    return { user };
  }

  /**
   * Moves the stored counter on. A counter that does not grow says that there is a second copy of the key;
   * authenticators that do not count always say 0. The comparison is part of the update, so that of two uses of one
   * value at once one passes.
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

/** The library repeats in its words what the stranger sent. */
const printable = ({ message }: Error) => message.replace(/[^ -~]/g, '?').slice(0, 200);
