import { Body, Controller, Get, HttpCode, Param, type PipeTransform, Post, Put } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { errors } from '../platform/common/errors.js';
import { Conditional, type Conditions, Given, Tagged } from '../platform/http/conditions.js';
import { AuditRules, AuditRulesInput } from './audit-rules.dto.js';
import { NotificationsInput, NotificationsView } from './channels.dto.js';
import { CONFIRMED_SECTIONS, type ConfirmedSection } from './confirmation.js';
import { DoorsInput, DoorsSettings } from './doors.dto.js';
import { OauthInput, OauthView } from './oauth-settings.dto.js';
import {
  Confirmed,
  GeneralInput,
  GeneralView,
  SecurityInput,
  SecurityView,
  SmtpInput,
  SmtpView,
} from './settings.dto.js';
import { SettingsService } from './settings.service.js';

const SectionPipe: PipeTransform<string, ConfirmedSection> = {
  transform: (value) => {
    const section = CONFIRMED_SECTIONS.find((name) => name === value);
    if (!section) throw errors.notFound('section');
    return section;
  },
};

const IfMatch = () =>
  Conditional({
    'If-Match':
      'the `ETag` of the section as it was read: 412001 with the section (`settings`) when it is another one by now',
  });

@ApiTags('Settings')
@Controller('settings')
@Access({ role: Role.Admin })
export class SettingsController {
  constructor(private readonly settings: SettingsService) {}

  /** General settings. */
  @Get()
  @Tagged()
  general(): Promise<GeneralView> {
    return this.settings.view('general');
  }

  /**
   * Changes general settings. Fields that are left out stay. A `base_url` that an administrator sets waits until a
   * super administrator saves or confirms it: mails, passkeys and OAuth go on with the one before.
   */
  @Put()
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateGeneral(@Body() body: GeneralInput, @Me() me: Caller, @Given() conditions: Conditions): Promise<GeneralView> {
    return this.settings.updateGeneral(body, me, conditions);
  }

  /** Limits, sessions, passwords, who needs a second factor, and where people may sign in from. */
  @Get('security')
  @Tagged()
  security(): Promise<SecurityView> {
    return this.settings.view('security');
  }

  /**
   * Changes security settings. Fields that are left out stay, inside objects, too. Everything acts at the very next
   * request. What an administrator sets binds administrators and users; super administrators are bound by what one of
   * them set last (else the defaults).
   */
  @Put('security')
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateSecurity(
    @Body() body: SecurityInput,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<SecurityView> {
    return this.settings.updateSecurity(body, me, conditions);
  }

  /** The mail server. */
  @Get('smtp')
  @Tagged()
  smtp(): Promise<SmtpView> {
    return this.settings.view('smtp');
  }

  /**
   * Changes the mail server. A password that is left out stays, and must be sent again when host or port change or
   * `security` becomes `none`. A server that an administrator sets serves tests and notifications until a super
   * administrator saves or confirms it; links and codes go through the last confirmed one.
   */
  @Put('smtp')
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateSmtp(@Body() body: SmtpInput, @Me() me: Caller, @Given() conditions: Conditions): Promise<SmtpView> {
    return this.settings.updateSmtp(body, me, conditions);
  }

  /** OpenID and OAuth 2.0 providers that people may sign in with. */
  @Get('oauth')
  @Tagged()
  oauth(): Promise<OauthView> {
    return this.settings.view('oauth');
  }

  /**
   * Changes them. The list of providers is replaced as a whole; a client secret that is left out stays. Nobody can sign
   * in at a provider whose addresses or client an administrator set, until a super administrator saves or confirms
   * them.
   */
  @Put('oauth')
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateOauth(@Body() body: OauthInput, @Me() me: Caller, @Given() conditions: Conditions): Promise<OauthView> {
    return this.settings.updateOauth(body, me, conditions);
  }

  /** Which doors of other protocols are open. */
  @Get('doors')
  @Tagged()
  doors(): Promise<DoorsSettings> {
    return this.settings.view('doors');
  }

  /** Opens and closes doors. Doors that are left out stay; at the very next request a closed one is 404. */
  @Put('doors')
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateDoors(@Body() body: DoorsInput, @Me() me: Caller, @Given() conditions: Conditions): Promise<DoorsSettings> {
    return this.settings.updateDoors(body, me, conditions);
  }

  /** Channels that notices go through: mail, webhooks and chats. */
  @Get('notifications')
  @Tagged()
  notifications(): Promise<NotificationsView> {
    return this.settings.view('notifications');
  }

  /**
   * Changes them. The list of channels is replaced as a whole; a secret that is left out stays, and must be sent again
   * when the address that it goes to changes. `config` by type: email `{to}` · webhook `{url, secret?}` · telegram
   * `{token, chat_id, api_url?}` · slack, discord, wecom `{url}` · dingtalk, feishu `{url, secret?}`. Addresses that
   * are not public are refused unless `OUTBOUND_ALLOW` lists them.
   */
  @Put('notifications')
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateNotifications(
    @Body() body: NotificationsInput,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<NotificationsView> {
    return this.settings.updateNotifications(body, me, conditions);
  }

  /** How long the audit log is kept, and what in it notifies. */
  @Get('audit-rules')
  @Tagged()
  auditRules(): Promise<AuditRules> {
    return this.settings.view('audit-rules');
  }

  /**
   * Changes it. The list of rules is replaced as a whole. A rule whose matching entries reach its threshold within its
   * time notifies once in that time, whatever the number of processes. Entries that are removed leave a signed
   * beginning of the chain, so that what is kept can still be verified.
   */
  @Put('audit-rules')
  @Fails('precondition')
  @IfMatch()
  @Tagged()
  @Access({ role: Role.Admin, noTokens: true })
  @Audited('settings.update')
  updateAuditRules(
    @Body() body: AuditRulesInput,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<AuditRules> {
    return this.settings.updateAuditRules(body, me, conditions);
  }

  /**
   * Confirms whatever waits in `general`, `smtp` or `oauth` at this moment: from then on it serves for links, codes and
   * sign-ins. To confirm no more than what was read, send the `ETag` of the section as `If-Match`.
   */
  @Post(':section/confirm')
  @HttpCode(200)
  @ApiParam({ name: 'section', schema: { type: 'string', pattern: `^(${CONFIRMED_SECTIONS.join('|')})$` } })
  @Access({ role: Role.Super, noTokens: true })
  @Fails('precondition')
  @IfMatch()
  @Audited('settings.confirm')
  confirm(
    @Param('section', SectionPipe) section: ConfirmedSection,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<Confirmed> {
    return this.settings.confirm(section, me, conditions);
  }
}
