import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { answerShort } from '../../platform/common/short-lists.js';
import { IdPipe } from '../../platform/common/validation.js';
import { Proof } from '../second-factor/second-factor.dto.js';
import { AnswersToken } from '../sessions/session-cookie.js';
import { LoginResult } from '../sessions/sessions.dto.js';
import { PasskeyLoginService } from './passkey-login.service.js';
import {
  PasskeyCreated,
  PasskeyLoginFinish,
  PasskeyLoginStart,
  PasskeyName,
  PasskeyRegistration,
  PasskeyStart,
  PasskeyView,
} from './passkeys.dto.js';
import { PasskeysService } from './passkeys.service.js';

@ApiTags('Authentication')
@Controller('auth/webauthn')
export class PasskeysController {
  constructor(
    private readonly passkeys: PasskeysService,
    private readonly logins: PasskeyLoginService,
  ) {}

  /** One's own passkeys, in the order of their ids; all of them unless a page is asked for. */
  @Get()
  @Access({ noTokens: true, unproven: true })
  async list(
    @Me() me: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PasskeyView[]> {
    return answerShort(response, await this.passkeys.list(me), query, {
      sorts: {
        id: (p) => p.id,
        name: (p) => p.name,
        created_at: (p) => p.created_at,
        last_used_at: (p) => p.last_used_at,
      },
      search: (p) => [p.name],
    });
  }

  /**
   * Begins adding a passkey: options for `navigator.credentials.create`. A session that began more than five minutes
   * ago needs `password`, `totpCode` or `recoveryCode` (403001 without, 401001 for wrong ones, which count as failed
   * logins, 423001 after too many); who has an authenticator app and did not show a second factor in it always needs a
   * code.
   * Answers 409001 when one has 25 already. A login that lacks the second factor which its role must show may add the
   * first passkey, no further ones (403001).
   */
  @Post('register/start')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Fails('conflict', 'locked')
  @Audited('passkey.register_start')
  registerStart(@Body() body: Proof, @Me() me: Caller): Promise<PasskeyStart> {
    return this.passkeys.start(body, me);
  }

  /**
   * Stores the passkey. The challenge must come from the same session and works once, also when this call fails.
   * Answers 400001 for a response that does not verify, 409001 for a passkey that is stored already. The session counts
   * as having shown a second factor from then on.
   */
  @Post('register/finish')
  @Access({ noTokens: true, unproven: true })
  @Fails('conflict')
  @Audited('passkey.create')
  registerFinish(@Body() body: PasskeyRegistration, @Me() me: Caller): Promise<PasskeyCreated> {
    return this.passkeys.finish(body, me);
  }

  /** Renames one of one's own passkeys. */
  @Patch(':id')
  @Access({ noTokens: true })
  @Audited('passkey.update')
  rename(@Param('id', IdPipe) id: number, @Body() { name }: PasskeyName, @Me() me: Caller): Promise<PasskeyView> {
    return this.passkeys.rename(id, name, me);
  }

  /** Deletes one of one's own passkeys. Answers 409001 when it is the last way to sign in. */
  @Delete(':id')
  @Access({ noTokens: true })
  @Fails('conflict')
  @Audited('passkey.delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.passkeys.remove(id, me);
  }

  /**
   * Begins a login: options for `navigator.credentials.get`. Without a name the passkey says who it is; with one, only
   * a passkey of that user is taken at `finish`. The options never name passkeys (all of them are discoverable), so
   * that the answer is the same whether there is such a user or not. Answers 409001 where the public address is no host
   * name.
   */
  @Post('login/start')
  @HttpCode(200)
  @Access({ public: true, rate: 'public' })
  @Fails('conflict')
  @Audited('passkey.login_start')
  loginStart(@Body() { username }: PasskeyLoginStart): Promise<PasskeyStart> {
    return this.logins.start(username);
  }

  /**
   * Login with a passkey, which stands for both factors. Answers one and the same 401001 whatever is wrong, 403001 in a
   * network that may not sign in. The challenge works once, also when this call fails. Answers 409001 where the public
   * address is no host name.
   */
  @Post('login/finish')
  @HttpCode(200)
  @Access({ public: true, rate: 'public' })
  @Fails('unauthenticated', 'forbidden', 'conflict')
  @Audited('auth.login_failed')
  @AnswersToken()
  loginFinish(@Body() body: PasskeyLoginFinish, @Me() me: Caller): Promise<LoginResult> {
    return this.logins.finish(body, me);
  }
}
