import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { monotonicMs, now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import type { StoredChannel } from '../settings/channels.js';
import { SettingsService } from '../settings/settings.service.js';
import type { ChannelTestResult } from './deliveries.dto.js';
import { ChannelError, Hooks } from './hooks.service.js';
import { MailError } from './mail-error.js';
import { renderMail } from './templates.js';
import { deliver } from './transport.js';

/** the longest time of a test, in ms */
const LIMIT_MS = 9_500;

/** Tests a stored channel. */
@Injectable()
export class ChannelTest {
  constructor(
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
    private readonly hooks: Hooks,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Sends a message at once, also through a channel that is off. @throws AppError 404001 */
  async send(id: string, caller: Caller): Promise<ChannelTestResult> {
    const channel = await this.settings.channel(id);
    if (!channel) throw errors.notFound('channel');
    const result = await this.deliver(channel).then(
      () => ({ success: true, message: 'The channel took the message' }),
      (error: unknown) => {
        if (!(error instanceof MailError) && !(error instanceof ChannelError)) throw error;
        return { success: false, message: error.message };
      },
    );
    const target = { type: 'channel', id, name: channel.name };
    const after = { type: channel.type, ...result };
    await this.audit.append(caller, { action: 'settings.notifications_test', target, after });
    return result;
  }

  private async deliver(channel: StoredChannel): Promise<void> {
    const { language, timezone, site_name: site } = await this.settings.read('general');
    if (channel.type !== 'email') {
      const text = 'This message was sent to try the channel.';
      const message = { delivery: `${randomUUID()}.${channel.id}`, event: 'test', text, domain: null, details: {} };
      return this.hooks.send(channel, { ...message, time: now(), site }, LIMIT_MS);
    }
    const smtp = await this.settings.smtp();
    if (!smtp.host || !smtp.from) throw new MailError('The settings name no mail server, or no sender', false);
    const mail = renderMail('test', language, { time: now() }, site, timezone);
    const end = monotonicMs() + LIMIT_MS;
    for (const to of channel.config.to as string[])
      await deliver(smtp, this.config.outboundDeny, { to, mail }, Math.max(1, Math.ceil(end - monotonicMs())));
  }
}
