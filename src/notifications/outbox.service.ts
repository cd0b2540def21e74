import { type BeforeApplicationShutdown, Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type Cancel, every, now, sleep, timeMs } from '../platform/common/clock.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { sha256 } from '../platform/common/hash.js';
import { Logger } from '../platform/common/logger.js';
import { POOLS } from '../platform/common/pools.js';
import type { Config } from '../platform/config/config.js';
import { CONFIG, SECRET_BOX } from '../platform/config/config.module.js';
import type { SecretBox } from '../platform/config/secret-box.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { isDatabaseDown } from '../platform/database/db.js';
import { Installation } from '../platform/database/installation.js';
import { Events } from '../platform/events/events.js';
import { Jobs } from '../platform/jobs/jobs.js';
import type { Documents } from '../settings/documents.js';
import { SettingsService } from '../settings/settings.service.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { MailError } from './mail-error.js';
import { MAIL_CONTEXT, type MailContent } from './mailer.service.js';
import { type DueMail, type MailOutcome, MailsRepository } from './mails.repository.js';
import { renderMail, SECRET, type TemplateName, type Templates } from './templates.js';
import { deliver } from './transport.js';

const TICK_MS = 2_000;
/** due mails that are read at once */
const LOOK = 8;
const SEND_MS = 30_000;
/** a claimed mail is due again after this, which is longer than any sending */
const LEASE_MS = 60_000;
const STOP_MS = 5_000;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** delay after each failure, without a try after the last one: ten tries in about a day */
const DELAYS = [0.1, 0.5, 2, 5, 15, 60, 180, 420, 720].map((minutes) => minutes * MINUTE);
/** older mails are not sent */
const LIFE_MS = 26 * HOUR;
const KEEP_MS = 30 * 24 * HOUR;

/**
 * Sends the mails of the outbox. All replicas look for them, and the one whose compare-and-set moves `next_at` sends:
 * the new `next_at` is its lease. No transaction is open meanwhile. A process that dies leaves a mail that becomes due
 * when the lease ends, and it may have died after the server accepted the mail and before that was stored: each mail is
 * sent at least once, a second time only then, and with the same Message-ID. Mails are no jobs: each replica looks by
 * itself, and sends several at once.
 */
@Injectable()
export class Outbox implements OnModuleInit, BeforeApplicationShutdown {
  private readonly pool = new FairPool('mails');
  private readonly workers = new Set<Promise<void>>();
  private stopWaking: Cancel | undefined;
  private stopped = false;

  constructor(
    private readonly mails: MailsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly database: DatabaseService,
    private readonly settings: SettingsService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly installation: Installation,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.events.on('mail.queued', () => this.wake());
    this.events.on('database.opened', () => {
      if (this.stopWaking || this.stopped) return;
      this.stopWaking = every(TICK_MS, () => this.wake());
    });
    this.jobs.schedule('mails.tidy', HOUR, () => this.tidy());
  }

  /** Runs before the database is closed: the outcome of a mail that was sent must be stored. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    this.stopWaking?.();
    if (this.workers.size) await Promise.race([Promise.all(this.workers), sleep(STOP_MS)]);
  }

  /** Starts one more worker, unless enough are running: each looks again before it ends. */
  private wake(): void {
    if (this.stopped || !this.database.open || this.installation.halted) return;
    if (this.workers.size >= POOLS.mails.all) return;
    const worker: Promise<void> = this.work()
      .catch((error) => this.report(error))
      .finally(() => this.workers.delete(worker));
    this.workers.add(worker);
  }

  private async work(): Promise<void> {
    while (!this.stopped) {
      const claimed = await this.claim();
      if (!claimed) return;
      this.wake();
      await this.send(claimed.row, claimed.smtp).finally(claimed.leave);
    }
  }

  /** Claims the next due mail; its `next_at` is the lease, and `tries` counts this try. */
  private async claim(): Promise<{ row: DueMail; smtp: Documents['smtp']; leave: () => void } | null> {
    for (;;) {
      const rows = await this.mails.due(now(), LOOK);
      const free = rows.filter(({ recipient }) => !this.pool.isFull({ user: recipient }));
      if (!free.length) return null;
      if (!(await this.settings.read('smtp')).enabled) return null;
      for (const row of free) {
        const leave = this.pool.take({ user: row.recipient });
        if (!leave) continue;
        const claimed = await this.take(row).catch((error) => {
          leave();
          throw error;
        });
        if (claimed) return { ...claimed, leave };
        leave();
      }
    }
  }

  private async take(row: DueMail): Promise<{ row: DueMail; smtp: Documents['smtp'] } | null> {
    const smtp = await this.settings.smtp(SECRET.includes(row.template));
    const lease = now(LEASE_MS);
    const claimed = await this.mails.claim(row, lease);
    return claimed ? { row: { ...row, next_at: lease, tries: row.tries + 1 }, smtp } : null;
  }

  private async send(row: DueMail, smtp: Documents['smtp']): Promise<void> {
    let expiry = 0;
    try {
      // each earlier try may have ended with its process
      if (row.tries > DELAYS.length + 1) throw new MailError('Every try ended without an answer', true);
      const { language, timezone, values } = this.open(row);
      const secret = SECRET.includes(row.template);
      expiry = Date.parse(row.created_at) + (secret ? Number(values.minutes) * MINUTE : LIFE_MS);
      if (timeMs() >= expiry) throw new MailError('Too late: what it says is not valid any more', true);
      if (!smtp.host) throw new MailError('No super administrator has confirmed a mail server', false);
      const { site_name } = await this.settings.read('general');
      const filled = values as unknown as Templates[TemplateName];
      const mail = renderMail(row.template, language, filled, site_name, timezone);
      const secrets = secret ? [values.code, values.url, String(values.url ?? '').split('token=')[1]] : [];
      const delivery = {
        to: row.recipient,
        mail,
        id: sha256(row.content).slice(0, 32),
        secrets: secrets.filter((value) => value !== undefined).map(String),
      };
      await deliver(smtp, this.config.outboundDeny, delivery, SEND_MS);
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      return this.failed(row, error, expiry);
    }
    await this.note(row, 'sent', row.next_at, null);
  }

  /** Schedules the next try, or gives up. */
  private async failed(row: DueMail, { message, permanent }: MailError, expiry: number): Promise<void> {
    const delay = DELAYS[row.tries - 1];
    const over = permanent || delay === undefined || timeMs() + delay >= expiry;
    const { id, template, tries } = row;
    const details = { mail: id, template, tries, err: message };
    if (over) this.logger.error(details, 'a mail could not be sent');
    else this.logger.warn(details, 'a mail could not be sent yet');
    if (over && template === 'notice') await this.noticeFailed(row, message);
    await this.note(row, over ? 'failed' : 'waiting', over ? row.next_at : now(delay), message);
  }

  /** Marks the delivery of a notice as dead, since its mail was not accepted. */
  private async noticeFailed(row: Pick<DueMail, 'content'>, error: string): Promise<void> {
    let delivery: number | undefined;
    try {
      ({ delivery } = this.open(row));
    } catch {
      return;
    }
    await this.deliveries.failSent(delivery ?? null, error);
  }

  /** Stores how a try ended, if the lease is still ours. A mail that ended keeps no content. */
  private note(row: DueMail, state: MailOutcome['state'], nextAt: string, error: string | null): Promise<void> {
    const sent_at = state === 'sent' ? now() : null;
    const content = state === 'waiting' ? row.content : '';
    return this.mails.storeOutcome(row, { state, next_at: nextAt, sent_at, error, content });
  }

  /** @throws MailError when the key is missing */
  private open(row: Pick<DueMail, 'content'>): MailContent {
    try {
      return JSON.parse(this.box.decrypt(row.content, MAIL_CONTEXT));
    } catch (error) {
      throw new MailError((error as Error).message, true);
    }
  }

  /** Removes old mails, and the contents of mails that were never sent, such as while mail is off. */
  private async tidy(): Promise<void> {
    await this.mails.removeEndedBefore(now(-KEEP_MS));
    const [why, before] = ['Too late: it was never sent', now(-LIFE_MS)];
    for (const notice of await this.mails.waitingNoticesBefore(before)) await this.noticeFailed(notice, why);
    await this.mails.failBefore(before, why);
  }

  /** An unavailable database is not logged here: the next tick tries again. */
  private report(error: unknown): void {
    if (!isDatabaseDown(error)) this.logger.error({ err: error }, 'the outbox of mails could not be worked on');
  }
}
