import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, within } from '../platform/common/clock.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { zoned } from '../platform/common/time-zone.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Db, isDatabaseDown } from '../platform/database/db.js';
import { Installation } from '../platform/database/installation.js';
import { Events } from '../platform/events/events.js';
import { Jobs } from '../platform/jobs/jobs.js';
import type { StoredChannel } from '../settings/channels.js';
import { SettingsService } from '../settings/settings.service.js';
import type { DeliveryState } from './deliveries.dto.js';
import { DeliveriesRepository, type DueDelivery } from './deliveries.repository.js';
import { ChannelError, Hooks } from './hooks.service.js';
import { Mailer } from './mailer.service.js';
import type { Message } from './messages.js';

const TICK_MS = 2_000;
const SEND_MS = 15_000;
/** a claimed delivery is due again after this, which is longer than any sending */
const LEASE_MS = 60_000;
const STOP_MS = 5_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KEEP_MS = 30 * 24 * HOUR;
/** older notices say when they happened: a chat would show them as if it were now */
const LATE_MS = HOUR;
/** delay after each failure; the last one is used for all further ones */
const DELAYS = [0.2, 0.5, 2, 5, 15, 30, 60].map((minutes) => minutes * MINUTE);
/** tries of a message that the receiver refuses: it must not block its channel for a day */
const REFUSED_TRIES = 5;

/**
 * Sends the waiting deliveries. Each channel has its own queue and, in a process, its own worker, so that a channel
 * that is unavailable delays no other; only the oldest delivery of a channel is tried, so that they arrive in order.
 * The process that wrote a delivery looks at once, and the process that runs the job looks regularly; the one whose
 * compare-and-set moves `next_at` sends: the new `next_at` is its lease. No transaction is open meanwhile. A process
 * that dies leaves a delivery that is due when the lease ends, and it may have died after the channel accepted the
 * message: each is delivered at least once, a second time only then, and with the same delivery id.
 */
@Injectable()
export class Courier implements OnModuleInit, BeforeApplicationShutdown {
  private readonly pool = new FairPool('notices');
  /** by channel */
  private readonly workers = new Map<string, Promise<void>>();
  private looking: Promise<void> | null = null;
  private again = false;
  private stopped = false;

  constructor(
    private readonly db: Db,
    private readonly deliveries: DeliveriesRepository,
    private readonly database: DatabaseService,
    private readonly settings: SettingsService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly hooks: Hooks,
    private readonly mailer: Mailer,
    private readonly installation: Installation,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.events.on('notice.queued', () => this.wake());
    this.jobs.schedule('notifications', TICK_MS, async () => this.wake());
    this.jobs.schedule('notifications.tidy', HOUR, () => this.tidy());
  }

  /** Runs before the database is closed: the outcome of what was sent must be stored. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await within(Promise.all([this.looking, ...this.workers.values()]), STOP_MS);
  }

  /** Starts a look, and does not wait for it: a channel that hangs would delay the next one. */
  private wake(): void {
    this.again = true;
    this.looking ??= this.look()
      .catch((error) => this.report(error))
      .finally(() => {
        this.looking = null;
      });
  }

  private async look(): Promise<void> {
    while (this.again && !this.stopped && this.database.open && !this.installation.halted) {
      this.again = false;
      for (const channel of await this.deliveries.waitingChannels()) {
        if (this.workers.has(channel)) continue;
        const worker = this.pool
          .run({ user: channel, target: channel }, () => this.work(channel))
          .catch((error) => this.report(error))
          .finally(() => this.workers.delete(channel));
        this.workers.set(channel, worker);
      }
    }
  }

  /** Sends the due deliveries of a channel, until none is due, one has to wait, or another process has the lease. */
  private async work(channel: string): Promise<void> {
    while (!this.stopped) {
      const row = await this.claim(channel);
      if (!row) return;
      try {
        await this.deliver(row);
      } catch (error) {
        if (isDatabaseDown(error)) throw error;
        if (!(await this.failed(row, error as Error))) return;
      }
    }
  }

  /** Claims the oldest delivery of a channel, if it is due and not leased; `tries` counts this try. */
  private async claim(channel: string): Promise<DueDelivery | null> {
    const row = await this.deliveries.oldestWaiting(channel);
    if (!row || row.next_at > now()) return null;
    const lease = now(LEASE_MS);
    const claimed = await this.deliveries.claim(row, lease);
    return claimed ? { ...row, next_at: lease, tries: row.tries + 1 } : null;
  }

  /** @throws ChannelError, and any other error */
  private async deliver(row: DueDelivery): Promise<void> {
    // each earlier try may have ended with its process
    if (row.tries > 1 && now() >= row.until_at) throw new ChannelError('Too late: every try ended without an answer');
    const channel = await this.settings.channel(row.channel);
    if (!channel?.enabled) {
      const why = channel ? 'The channel is off' : 'The channel was removed';
      await this.note(row, 'dead', row.next_at, why);
      return;
    }
    const { site_name: site, timezone } = await this.settings.read('general');
    const { text, details } = JSON.parse(row.content);
    const { event, domain, created_at: time } = row;
    const late = time < now(-LATE_MS) ? { late: zoned(time, timezone) } : {};
    const message = { delivery: `${row.notice}.${row.channel}`, event, text, domain, details, time, site, ...late };
    if (channel.type === 'email') return this.queueMails(row, channel, message);
    await this.hooks.send(channel, message, SEND_MS);
    await this.note(row, 'sent', row.next_at, null);
  }

  /** Hands mails to their own outbox, in one transaction; the outbox reports failures back to the delivery. */
  private async queueMails(
    row: DueDelivery,
    { config }: StoredChannel,
    { event, text, domain, time }: Message,
  ): Promise<void> {
    if (!(await this.mailer.enabled())) throw new ChannelError('Mail is off, or there is no mail server');
    const values = { event, text, domain: domain ?? '', time };
    await this.db.transaction(async (manager) => {
      if (!(await this.note(row, 'sent', row.next_at, null, manager))) return;
      for (const to of config.to as string[]) await this.mailer.queue(manager, to, 'notice', null, values, row.id);
    });
  }

  /** Schedules the next try, or gives up. @returns whether it gave up: then the next delivery follows */
  private async failed(row: DueDelivery, error: Error): Promise<boolean> {
    const { refused, waitMs } = error instanceof ChannelError ? error : { refused: false, waitMs: 0 };
    // the message of an unforeseen error may hold what was sent
    const words = error instanceof ChannelError ? error.message : 'It could not be prepared; the log says more';
    const own = DELAYS[Math.min(row.tries, DELAYS.length) - 1] as number;
    // a receiver that keeps asking for a short wait gets the usual delays in the end
    const least = waitMs > 0 && row.tries <= REFUSED_TRIES ? 0 : own;
    const delay = Math.max(least, Math.min(waitMs, HOUR));
    const over = (refused && row.tries >= REFUSED_TRIES) || now(delay) >= row.until_at;
    const details = { delivery: row.id, channel: row.channel, event: row.event, tries: row.tries };
    if (!(error instanceof ChannelError))
      this.logger.error({ ...details, err: error }, 'a notice could not be prepared');
    else if (over) this.logger.error({ ...details, err: words }, 'a notice could not be delivered');
    else this.logger.warn({ ...details, err: words }, 'a notice could not be delivered yet');
    await this.note(row, over ? 'dead' : 'waiting', over ? row.next_at : now(delay), words);
    return over;
  }

  /** Stores how a try ended. @returns false when the lease is no longer ours */
  private note(
    row: DueDelivery,
    state: DeliveryState,
    nextAt: string,
    error: string | null,
    manager?: EntityManager,
  ): Promise<boolean> {
    const ended_at = state === 'waiting' ? null : now();
    const sent_at = state === 'sent' ? ended_at : null;
    return this.deliveries.storeOutcome(row, { state, next_at: nextAt, sent_at, ended_at, error }, manager);
  }

  private tidy(): Promise<void> {
    return this.deliveries.removeEndedBefore(now(-KEEP_MS));
  }

  /** An unavailable database is not logged here: the next tick tries again. */
  private report(error: unknown): void {
    if (!isDatabaseDown(error)) this.logger.error({ err: error }, 'the outbox of notices could not be worked on');
  }
}
