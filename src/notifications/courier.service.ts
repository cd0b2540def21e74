import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, within } from '../common/clock.js';
import { FairPool } from '../common/fair-pool.js';
import { log } from '../common/logger.js';
import { zoned } from '../common/zone.js';
import { DatabaseService } from '../database/database.service.js';
import { Db, isDatabaseDown } from '../database/db.js';
import { Installation } from '../database/installation.js';
import { Events } from '../events/events.js';
import { Jobs } from '../jobs/jobs.js';
import type { StoredChannel } from '../settings/channels.js';
import { SettingsService } from '../settings/settings.service.js';
import type { DeliveryState } from './deliveries.dto.js';
import { DeliveriesRepository, type DueDelivery } from './deliveries.repository.js';
import { ChannelError, Hooks } from './hooks.service.js';
import { Mailer } from './mailer.service.js';
import type { Message } from './messages.js';

const TICK_MS = 2_000;
const SEND_MS = 15_000;
/** a claimed delivery is due again after this: longer than any sending */
const LEASE_MS = 60_000;
const STOP_MS = 5_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KEEP_MS = 30 * 24 * HOUR;
/** a chat would show what is older as if it happened now */
const LATE_MS = HOUR;
/** waiting time after each failure; the last one is that of all further ones */
const DELAYS = [0.2, 0.5, 2, 5, 15, 30, 60].map((minutes) => minutes * MINUTE);
/** so often a message is tried that the other side understands and refuses: it must not block its channel for a day */
const REFUSED_TRIES = 5;

/**
 * Delivers what waits for channels. Each channel has its own queue and, in a process, its own worker, so that one that
 * is dead delays no other; only the oldest delivery of a channel is tried, so that they arrive in order. Whoever wrote
 * one looks, and whoever has the job's tick; the one whose compare-and-set moves `next_at` sends: the new `next_at` is
 * its lease. No transaction is open meanwhile. A process that dies leaves a delivery that is due when the lease ends,
 * and it may have died after the channel took it: each is delivered at least once, a second time only then, and with
 * the same delivery id.
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
  ) {}

  onModuleInit(): void {
    this.events.on('notice.queued', () => this.wake());
    this.jobs.schedule('notifications', TICK_MS, async () => this.wake());
    this.jobs.schedule('notifications.tidy', HOUR, () => this.tidy());
  }

  /** Before the others' shutdown, which closes the database: what was sent must be noted. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    await within(Promise.all([this.looking, ...this.workers.values()]), STOP_MS);
  }

  /** Not waited for: a channel that hangs would hold up the next look. */
  private wake(): void {
    this.again = true;
    this.looking ??= this.look()
      .catch(report)
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
          .catch(report)
          .finally(() => this.workers.delete(channel));
        this.workers.set(channel, worker);
      }
    }
  }

  /** Delivers what is due of a channel, until nothing is, one has to wait, or another process is at it. */
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

  /** The oldest delivery of a channel, if it is due and nobody else has it; `tries` counts this try. */
  private async claim(channel: string): Promise<DueDelivery | null> {
    const row = await this.deliveries.oldestWaiting(channel);
    if (!row || row.next_at > now()) return null;
    const lease = now(LEASE_MS);
    const claimed = await this.deliveries.claim(row, lease);
    return claimed ? { ...row, next_at: lease, tries: row.tries + 1 } : null;
  }

  /** @throws ChannelError, and what else goes wrong */
  private async deliver(row: DueDelivery): Promise<void> {
    // the process may have died at each try
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

  /** Mails have an outbox of their own: handing them over is one transaction, and what fails there comes back here. */
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

  /** Waits for the next try, or gives up. @returns whether it gave up: then the next delivery has its turn */
  private async failed(row: DueDelivery, error: Error): Promise<boolean> {
    const { refused, waitMs } = error instanceof ChannelError ? error : { refused: false, waitMs: 0 };
    // of anything unforeseen the words may hold whatever was sent
    const words = error instanceof ChannelError ? error.message : 'It could not be prepared; the log says more';
    const own = DELAYS[Math.min(row.tries, DELAYS.length) - 1] as number;
    // one that asks for a moment again and again does not mean it
    const least = waitMs > 0 && row.tries <= REFUSED_TRIES ? 0 : own;
    const delay = Math.max(least, Math.min(waitMs, HOUR));
    const over = (refused && row.tries >= REFUSED_TRIES) || now(delay) >= row.until_at;
    const details = { delivery: row.id, channel: row.channel, event: row.event, tries: row.tries };
    if (!(error instanceof ChannelError)) log().error({ ...details, err: error }, 'a notice could not be prepared');
    else if (over) log().error({ ...details, err: words }, 'a notice could not be delivered');
    else log().warn({ ...details, err: words }, 'a notice could not be delivered yet');
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
    const sent_at = state === 'sent' ? now() : null;
    return this.deliveries.storeOutcome(row, { state, next_at: nextAt, sent_at, error }, manager);
  }

  private tidy(): Promise<void> {
    return this.deliveries.removeEndedBefore(now(-KEEP_MS));
  }
}

/** A database that is down is asked again at the next tick, and others tell of it. */
function report(error: unknown): void {
  if (!isDatabaseDown(error)) log().error({ err: error }, 'the outbox of notices could not be worked on');
}
