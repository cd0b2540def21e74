import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, Audited, type Caller, Me, Role } from '../common/access.js';
import { OauthInput, OauthView } from './oauth-settings.dto.js';
import { GeneralInput, GeneralSettings, SecurityInput, SecuritySettings, SmtpInput, SmtpView } from './settings.dto.js';
import { SettingsService } from './settings.service.js';

@ApiTags('Settings')
@Controller('settings')
@Access({ role: Role.Admin })
export class SettingsController {
  constructor(private readonly settings: SettingsService) {}

  /** General settings. */
  @Get()
  general(): Promise<GeneralSettings> {
    return this.settings.read('general');
  }

  /** Changes general settings. Fields that are left out stay. */
  @Put()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateGeneral(@Body() body: GeneralInput, @Me() me: Caller): Promise<GeneralSettings> {
    return this.settings.updateGeneral(body, me);
  }

  /** Limits, sessions, passwords, who needs a second factor, and where people may sign in from. */
  @Get('security')
  security(): Promise<SecuritySettings> {
    return this.settings.security();
  }

  /** Changes security settings. Fields that are left out stay, inside objects, too. Everything acts at the very next request. */
  @Put('security')
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateSecurity(@Body() body: SecurityInput, @Me() me: Caller): Promise<SecuritySettings> {
    return this.settings.updateSecurity(body, me);
  }

  /** The mail server. */
  @Get('smtp')
  smtp(): Promise<SmtpView> {
    return this.settings.smtpView();
  }

  /** Changes the mail server. A password that is left out stays, and must be sent again when the host changes. */
  @Put('smtp')
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateSmtp(@Body() body: SmtpInput, @Me() me: Caller): Promise<SmtpView> {
    return this.settings.updateSmtp(body, me);
  }

  /** OpenID and OAuth 2.0 providers that people may sign in with. */
  @Get('oauth')
  oauth(): Promise<OauthView> {
    return this.settings.oauthView();
  }

  /** Changes them. The list of providers is replaced as a whole; a client secret that is left out stays. */
  @Put('oauth')
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateOauth(@Body() body: OauthInput, @Me() me: Caller): Promise<OauthView> {
    return this.settings.updateOauth(body, me);
  }
}
