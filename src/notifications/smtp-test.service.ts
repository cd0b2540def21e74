import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { AuditService } from '../audit/audit.service.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { SettingsService } from '../settings/settings.service.js';
import { MailError } from './mail-error.js';
import type { SmtpTestInput, SmtpTestResult } from './smtp-test.dto.js';
import { renderMail } from './templates.js';
import { deliver } from './transport.js';

/** the longest time of a test, in ms */
const LIMIT_MS = 9_500;

/** Tests the stored mail settings. */
@Injectable()
export class SmtpTest {
  constructor(
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Sends a mail at once, also while mail is off. @throws AppError 400001 when host or sender are not set */
  async send({ to }: SmtpTestInput, caller: Caller): Promise<SmtpTestResult> {
    const smtp = await this.settings.smtp();
    if (!smtp.host) throw errors.field('host', 'is not set: store the mail server first');
    if (!smtp.from) throw errors.field('from', 'is not set: store the sender first');
    const { language, timezone, site_name } = await this.settings.read('general');
    const mail = renderMail('test', language, { time: now() }, site_name, timezone);
    const result = await deliver(smtp, this.config.outboundDeny, { to, mail }, LIMIT_MS).then(
      () => ({ success: true, message: `The mail server took the mail to ${to}` }),
      (error: unknown) => {
        if (!(error instanceof MailError)) throw error;
        return { success: false, message: error.message };
      },
    );
    const target = { type: 'settings', id: null, name: 'smtp' };
    await this.audit.append(caller, { action: 'settings.smtp_test', target, after: { to, ...result } });
    return result;
  }
}
