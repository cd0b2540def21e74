import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { SECRET_BOX } from '../config/config.module.js';
import type { SecretBox } from '../config/secret-box.js';
import { Db } from '../database/db.js';
import { SEALED_HEAD, SealedValues } from '../database/sealed-values.js';
import { Events } from '../events/events.js';
import { SettingsService } from '../settings/settings.service.js';
import { SECRET, type TemplateName, type Templates } from './templates.js';

/** The encrypted part of a mail in the outbox. */
export interface MailContent {
  language: string;
  /** of a mail from before there was one: UTC */
  timezone?: string;
  values: Record<string, string | number>;
  /** of a notice: the delivery that it is the mail of */
  delivery?: number;
}

export const MAIL_CONTEXT = 'mails.content';

/** Whose language and time zone a mail is written in. */
export interface Reader {
  language: string;
  /** null: that of the installation */
  timezone: string | null;
}

/** Puts mails into the outbox. Another part sends them. */
@Injectable()
export class Mailer {
  constructor(
    private readonly db: Db,
    private readonly settings: SettingsService,
    private readonly events: Events,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    sealed: SealedValues,
  ) {
    sealed.keep('mails that wait', {
      fleeting: true,
      heads: async () => {
        const sql = `SELECT SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM mails WHERE state = 'waiting'`;
        return (await db.rows<{ head: string }>(sql)).map(({ head }) => head);
      },
      renew: () =>
        sealed.renewColumn(
          MAIL_CONTEXT,
          0,
          (id, head, limit) =>
            db.rows<{ id: number; sealed: string }>(
              `SELECT id, content AS sealed FROM mails WHERE state = 'waiting' AND id > ?
                AND SUBSTR(content, 1, ${SEALED_HEAD}) <> ? ORDER BY id LIMIT ${limit}`,
              [id, head],
            ),
          (id, old, fresh) => db.run('UPDATE mails SET content = ? WHERE id = ? AND content = ?', [fresh, id, old]),
        ),
      each: async () => {
        const sql = `SELECT id, template, SUBSTR(content, 1, ${SEALED_HEAD}) AS head FROM mails WHERE state = 'waiting'`;
        return (await db.rows<{ id: number; template: string; head: string }>(sql)).map(({ id, template, head }) => ({
          of: `mail ${id} (${template})`,
          head,
          drop: (manager) => db.run("DELETE FROM mails WHERE id = ? AND state = 'waiting'", [id], manager),
        }));
      },
    });
  }

  /** Whether there is a mail server for such a mail; left out: for news, which hold no secret. */
  async enabled(template: TemplateName = 'new-device'): Promise<boolean> {
    const { enabled, host } = SECRET.includes(template)
      ? await this.settings.confirmed('smtp')
      : await this.settings.read('smtp');
    return enabled && host !== '';
  }

  /**
   * Writes a mail, in the transaction of what it tells of. `reader`: null: as the installation's settings
   * say; `delivery`: the row of a notice, which is told when the mail cannot be sent.
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
