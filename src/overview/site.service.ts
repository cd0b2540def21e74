import { Injectable } from '@nestjs/common';
import { type Caller, Role, signedIn } from '../access/access.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { LoginService } from '../auth/login/login.service.js';
import { OauthService } from '../auth/oauth/oauth.service.js';
import { RelyingParty } from '../auth/passkeys/relying-party.js';
import { profileView } from '../auth/profile/profile.service.js';
import { DomainsService } from '../domains/domains.service.js';
import { AppError } from '../platform/common/errors.js';
import { PROVIDERS_TAG } from '../providers/providers.controller.js';
import { SettingsService } from '../settings/settings.service.js';
import { TokensService } from '../tokens/tokens.service.js';
import { userView } from '../users/user-view.js';
import type { BootstrapView, SiteView } from './site.dto.js';

/** The data that a page requests first. */
@Injectable()
export class SiteService {
  constructor(
    private readonly settings: SettingsService,
    private readonly parties: RelyingParty,
    private readonly oauth: OauthService,
    private readonly logins: LoginService,
    private readonly domains: DomainsService,
    private readonly accounts: AccountsService,
    private readonly tokens: TokensService,
  ) {}

  /** For anonymous callers: nothing that reveals the version, or who has an account. */
  async site(): Promise<SiteView> {
    const [{ site_name, language, background_image, registration_enabled }, { providers }, passkeys] =
      await Promise.all([this.settings.read('general'), this.oauth.status(), this.hasPasskeys()]);
    return {
      name: site_name,
      language,
      background_image,
      registration_enabled,
      sign_in: { password: true, passkeys, oauth: providers },
    };
  }

  /** For signed-in users: all that a page shows before it requests anything else. */
  async bootstrap(caller: Caller): Promise<BootstrapView> {
    const me = signedIn(caller);
    const [user, general, { password_policy }, domains, accounts, tokens] = await Promise.all([
      this.logins.stored(caller),
      this.settings.read('general'),
      this.settings.securityFor(me.role),
      this.domains.count(me),
      me.role >= Role.Admin ? this.accounts.count() : null,
      this.tokens.count(me.userId),
    ]);
    const { site_name, language, timezone, background_image, registration_enabled, default_ttl } = general;
    const shown = { site_name, language, timezone, background_image, registration_enabled, default_ttl };
    return {
      me: { ...userView(user), role: me.role },
      profile: profileView(user),
      settings: { ...shown, password_policy },
      providers: { href: '/api/providers', etag: PROVIDERS_TAG },
      counts: { domains, accounts, tokens },
      renew_at: new Date(me.renewAt as number).toISOString(),
    };
  }

  private async hasPasskeys(): Promise<boolean> {
    try {
      await this.parties.identity();
      return true;
    } catch (error) {
      // an unavailable database is another error
      if (error instanceof AppError) return false;
      throw error;
    }
  }
}
