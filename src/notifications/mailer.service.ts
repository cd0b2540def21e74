import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import { SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { Db } from '../platform/database/db.js';
import { SealedValues } from '../platform/database/sealed-values.js';
import { Events } from '../platform/events/events.js';
import { SettingsService } from '../settings/settings.service.js';
import { MailsRepository } from './mails.repository.js';
import { SECRET, type TemplateName, type Templates } from './templates.js';

/** The encrypted part of a mail in the outbox. */
export interface MailContent {
  language: string;
  /** missing in old mails: UTC */
  timezone?: string;
  values: Record<string, string | number>;
  /** of a notice: the id of its delivery */
  delivery?: number | undefined;
}

export const MAIL_CONTEXT = 'mails.content';

/** The language and time zone that a mail is written in. */
export interface Reader {
  language: string;
  /** null: that of the installation */
  timezone: string | null;
}

/** Puts mails into the outbox; `Outbox` sends them. */
@Injectable()
export class Mailer {
  constructor(
    private readonly db: Db,
    private readonly mails: MailsRepository,
    private readonly settings: SettingsService,
    private readonly events: Events,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('mails that wait', {
      fleeting: true,
      heads: () => mails.heads(),
      renew: () =>
        sealed.renewColumn(
          MAIL_CONTEXT,
          0,
          (id: number, head, limit) => mails.sealedOtherwise(id, head, limit),
          (id: number, old, fresh) => mails.replaceContent(id, old, fresh),
        ),
      each: async () =>
        (await mails.waiting()).map(({ id, template, head }) => ({
          of: `mail ${id} (${template})`,
          head,
          drop: (manager) => mails.removeWaiting(id, manager),
        })),
    });
  }

  /** Whether there is a mail server for mails of a template; by default for one that holds no secret. */
  async enabled(template: TemplateName = 'new-device'): Promise<boolean> {
    const { enabled, host } = SECRET.includes(template)
      ? await this.settings.confirmed('smtp')
      : await this.settings.read('smtp');
    return enabled && host !== '';
  }

  /**
   * Queues a mail, in the transaction of its cause.
   * @param reader null: language and time zone of the installation
   * @param delivery of a notice: is marked as dead when the mail cannot be sent
   */
  async queue<N extends TemplateName>(
    manager: EntityManager | undefined,
    recipient: string,
    template: N,
    reader: Reader | null,
    values: Templates[N],
    delivery?: number,
  ): Promise<void> {
    const general = await this.settings.read('general', manager);
    const content: MailContent = {
      language: reader?.language ?? general.language,
      timezone: reader?.timezone ?? general.timezone,
      values: { ...values },
      delivery,
    };
    const sealed = this.box.encrypt(JSON.stringify(content), MAIL_CONTEXT);
    await this.mails.insert({ recipient, template, content: sealed }, now(), manager);
    this.db.afterCommit(manager, () => void this.events.emit('mail.queued'));
  }
}
