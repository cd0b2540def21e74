import { Body, Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, type Caller, Fails, Me, Role } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { alsoJudge } from '../../platform/common/validation.js';
import type { Config } from '../../platform/config/config.js';
import { CONFIG } from '../../platform/config/config.module.js';
import { UserView } from '../../users/user.dto.js';
import { UsersService } from '../../users/users.service.js';
import { SecondFactorInput } from '../oauth/oauth-login.dto.js';
import { OauthLogin } from '../oauth/oauth-login.service.js';
import { PasswordInput, ResetConfirmInput, ResetInput } from '../password/password.dto.js';
import { PasswordService } from '../password/password.service.js';
import { AnswersToken, dropSessionCookie } from '../sessions/session-cookie.js';
import { LoginResult } from '../sessions/sessions.dto.js';
import { LoginInput, RegisterInput, TokenResult } from './login.dto.js';
import { LoginService } from './login.service.js';

@ApiTags('Authentication')
@Controller('auth')
export class AuthController {
  constructor(
    private readonly logins: LoginService,
    private readonly oauth: OauthLogin,
    private readonly passwords: PasswordService,
    private readonly users: UsersService,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    alsoJudge(RegisterInput, (input) => users.problems(input, Role.User));
  }

  /**
   * Password login. Answers 401001 for a wrong name, password or code, 403001 in a network that may not sign in, 423001
   * while the name is locked in your network, 429001 over the rate limit. When the second factor is on and no code was
   * sent, the answer is HTTP 200 with `code` -2 and `data.types`: send the same again with `totpCode` or
   * `recoveryCode`.
   */
  @Post('login')
  @HttpCode(200)
  @Access({ public: true, rate: 'login' })
  @Fails('secondFactor', 'unauthenticated', 'forbidden', 'locked')
  @Audited('auth.login_failed')
  @AnswersToken()
  login(@Body() body: LoginInput, @Me() me: Caller): Promise<LoginResult> {
    return this.logins.login(body, me);
  }

  /**
   * Ends a sign-in at a provider that answered `code` -2, with the `challenge_id` of that answer and a code. Answers
   * 401001 for a challenge that is unknown, used or older than five minutes, and for a wrong code, which counts as a
   * failed login: 423001 while the name is locked in your network, 429001 over the rate limit.
   */
  @Post('second-factor')
  @HttpCode(200)
  @Access({ public: true, rate: 'login' })
  @Fails('secondFactor', 'unauthenticated', 'locked')
  @Audited('auth.login_failed')
  @AnswersToken()
  secondFactor(@Body() body: SecondFactorInput, @Me() me: Caller): Promise<LoginResult> {
    return this.oauth.secondFactor(body, me);
  }

  /**
   * Makes an account (role 1) for oneself, where the settings allow it. Answers 403001 where they do not, 409001 when
   * the name or the address is taken.
   */
  @Post('register')
  @Access({ public: true, rate: 'public' })
  @Fails('forbidden', 'conflict')
  @Audited('auth.register')
  register(@Body() body: RegisterInput, @Me() me: Caller): Promise<UserView> {
    return this.users.register(body, me);
  }

  /** The signed-in user; for an API token its creator, with the token's effective role. */
  @Get('me')
  @Access({ unproven: true, scope: null })
  me(@Me() me: Caller): Promise<UserView> {
    return this.logins.me(me);
  }

  /** Ends this session, and removes its cookie. */
  @Post('logout')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Audited('auth.logout')
  async logout(
    @Me() me: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.logins.logout(me);
    dropSessionCookie(request, response, this.config);
  }

  /** The next JWT of this session. A session ends at last when its absolute life does, refreshed or not. */
  @Post('refresh')
  @HttpCode(200)
  @Access({ noTokens: true, unproven: true })
  @Audited('auth.refresh')
  @AnswersToken()
  refresh(@Me() me: Caller): Promise<TokenResult> {
    return this.logins.refresh(me);
  }

  /**
   * Changes one's own password and ends all other sessions. A wrong old password is 401001 and counts as a failed
   * login; 423001 after too many. Who has none yet sets the first one within five minutes of signing in (`old_password`
   * may then be anything), else 403001.
   */
  @Post('password')
  @HttpCode(200)
  @Access({ noTokens: true })
  @Fails('locked')
  @Audited('auth.password')
  password(@Body() body: PasswordInput, @Me() me: Caller): Promise<void> {
    return this.passwords.change(body, me);
  }

  /**
   * Mails a link to a new password, when the account exists, has an address, and a mail server is set up. The answer is
   * always the same.
   */
  @Post('password-reset')
  @HttpCode(200)
  @Access({ public: true, rate: 'login' })
  @Audited('auth.password_reset_request')
  requestReset(@Body() body: ResetInput, @Me() me: Caller): Promise<void> {
    return this.passwords.requestReset(body, me);
  }

  /**
   * Sets a new password with the token of the mail, which works once and for 30 minutes, and ends all sessions. Answers
   * 401001 for any other token.
   */
  @Post('password-reset/confirm')
  @HttpCode(200)
  @Access({ public: true, rate: 'public' })
  @Fails('unauthenticated')
  @Audited('auth.password_reset')
  confirmReset(@Body() body: ResetConfirmInput, @Me() me: Caller): Promise<void> {
    return this.passwords.confirmReset(body, me);
  }
}
