import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Caller, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { SettingsService } from '../../settings/settings.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { browserOf, markBrowser, unmarkBrowser } from './browser.js';
import type { AuthorizationUrl, OauthBindStart, OauthCallback, OauthStart } from './oauth.dto.js';
import { OauthService } from './oauth.service.js';
import type { OauthResult } from './oauth-login.dto.js';
import { OauthLogin } from './oauth-login.service.js';

/** The flows at providers, with the cookie that binds each to its browser. */
@Injectable()
export class BrowserFlows {
  constructor(
    private readonly oauth: OauthService,
    private readonly logins: OauthLogin,
    private readonly settings: SettingsService,
    private readonly sessions: SessionsService,
    private readonly audit: AuditService,
  ) {}

  /** Begins a sign-in. */
  async startSignIn(
    input: OauthStart,
    caller: Caller,
    request: Request,
    response: Response,
  ): Promise<AuthorizationUrl> {
    const browser = markBrowser(request, response, await this.settings.publicUrl());
    const auth_url = await this.oauth.start(input, browser, null);
    // nothing has changed yet, and strangers must not fill the log: the callback logs the result
    this.audit.notNeeded(caller);
    return { auth_url };
  }

  /** Begins to bind an identity to the caller. @throws AppError 403001 in a session that is not fresh */
  async startBinding(
    input: OauthBindStart,
    caller: Caller,
    request: Request,
    response: Response,
  ): Promise<AuthorizationUrl> {
    const browser = markBrowser(request, response, await this.settings.publicUrl());
    await this.sessions.assertFresh(caller, 'fresh_for_binding');
    const { userId, sessionId } = signedIn(caller);
    return { auth_url: await this.oauth.start(input, browser, { userId, sessionId: sessionId as number }) };
  }

  /** Ends either flow, in the browser that began it. */
  async callback(input: OauthCallback, caller: Caller, request: Request, response: Response): Promise<OauthResult> {
    const publicUrl = await this.settings.publicUrl();
    const result = await this.logins.callback(input, browserOf(request, publicUrl), caller);
    unmarkBrowser(response, publicUrl);
    return result;
  }
}
