import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { AnswersToken } from '../sessions/session-cookie.js';
import { BrowserFlows } from './browser-flows.service.js';
import { AuthorizationUrl, OauthCallback, OauthStart, OauthStatus } from './oauth.dto.js';
import { OauthService } from './oauth.service.js';
import { OauthResult } from './oauth-login.dto.js';

@ApiTags('Authentication')
@Controller('auth/oauth')
export class OauthController {
  constructor(
    private readonly oauth: OauthService,
    private readonly flows: BrowserFlows,
  ) {}

  /** The providers that one can sign in at. */
  @Get('status')
  @Access({ public: true })
  status(): Promise<OauthStatus> {
    return this.oauth.status();
  }

  /**
   * Begins a sign-in at a provider (OpenID Connect or OAuth 2.0, authorization code with PKCE). Send the browser to
   * `auth_url`. It comes back to `redirect` with `code` and `state` for `callback`. Sets a cookie, without which the
   * callback is refused. Answers 404001 for an unknown provider and 500002 when it does not answer.
   */
  @Post('start')
  @HttpCode(200)
  @Access({ public: true, rate: 'public' })
  @Fails('notFound', 'provider')
  @Audited('oauth.start')
  start(
    @Body() body: OauthStart,
    @Me() me: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AuthorizationUrl> {
    return this.flows.startSignIn(body, me, request, response);
  }

  /**
   * Finishes what `start` began, in the same browser and once. Answers `token` and `user`, or `bound` when it was begun
   * by `POST /api/security/bind-oauth`. When the account has an authenticator app and the provider no `trusted_2fa`,
   * the answer is HTTP 200 with `code` -2 and `data: {types, challenge_id}`: send the code to `POST
   * /api/auth/second-factor`. Answers 401001 for whatever cannot be verified, 403001 in a network that may not sign in,
   * 404001 when the provider is gone, 409001 when a binding is taken, and 500002 when the provider does not answer.
   */
  @Post('callback')
  @HttpCode(200)
  @Access({ public: true, rate: 'public' })
  @Fails('secondFactor', 'unauthenticated', 'forbidden', 'notFound', 'conflict', 'provider')
  @Audited('oauth.callback')
  @AnswersToken()
  callback(
    @Body() body: OauthCallback,
    @Me() me: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OauthResult> {
    return this.flows.callback(body, me, request, response);
  }
}
