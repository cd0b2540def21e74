import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { SECRET_BOX } from '../config/config.module.js';
import type { SecretBox } from '../config/secret-box.js';
import { Db } from '../database/db.js';
import { Events } from '../events/events.js';
import { SettingsService } from '../settings/settings.service.js';
import { SECRET, type TemplateName, type Templates } from './templates.js';

/** The encrypted part of a mail in the outbox. */
export interface MailContent {
  language: string;
  values: Record<string, string | number>;
  /** of a notice: the delivery that it is the mail of */
  delivery?: number;
}

export const MAIL_CONTEXT = 'mails.content';

/** Puts mails into the outbox. Another part sends them. */
@Injectable()
export class Mailer {
  constructor(
    private readonly db: Db,
    private readonly settings: SettingsService,
    private readonly events: Events,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /** Whether there is a mail server for such a mail; left out: for news, which hold no secret. */
  async enabled(template: TemplateName = 'new-device'): Promise<boolean> {
    const { enabled, host } = SECRET.includes(template)
      ? await this.settings.confirmed('smtp')
      : await this.settings.read('smtp');
    return enabled && host !== '';
  }

  /**
   * Writes a mail, in the transaction of what it tells of. `language`: the reader's; null: the installation's;
   * `delivery`: the row of a notice, which is told when the mail cannot be sent.
   */
  async queue<N extends TemplateName>(
    manager: EntityManager | undefined,
    recipient: string,
    template: N,
    language: string | null,
    values: Templates[N],
    delivery?: number,
  ): Promise<void> {
    const content: MailContent = {
      language: language ?? (await this.settings.read('general', manager)).language,
      values: { ...values },
      ...(delivery !== undefined && { delivery }),
    };
    await this.db.run(
      `INSERT INTO mails (recipient, template, content, state, tries, next_at, created_at) VALUES (?, ?, ?, 'waiting', 0, ?, ?)`,
      [recipient, template, this.box.encrypt(JSON.stringify(content), MAIL_CONTEXT), now(), now()],
      manager,
    );
    this.db.afterCommit(manager, () => void this.events.emit('mail.queued'));
  }
}
