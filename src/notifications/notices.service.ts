import { randomUUID } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../platform/common/clock.js';
import { Logger } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import { Events, type Notice, type NoticeEvent } from '../platform/events/events.js';
import { clipped, storable } from '../platform/outbound/outbound-error.js';
import { SettingsService } from '../settings/settings.service.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { oneLine } from './templates.js';

const HOUR = 3_600_000;
/** after this a notice is too old to be sent */
export const LIFE_MS = 26 * HOUR;
/** characters; with the site's name they fit into a message of every chat, of which the smallest has 2048 bytes */
const MAX_TEXT = 600;
/** waiting notices of one such event and channel: more would delay all others */
const MOST_WAITING = 50;
/** events that may occur without limit; the others are sent once each, and must not be dropped */
const ENDLESS: ReadonlySet<NoticeEvent> = new Set([
  'account.paused',
  'domain.drift',
  'login.locked',
  'token.created',
  'token.widened',
  'audit.rule',
  'audit.checkpoint',
  'backup.failed',
  'plan.waiting',
  'plan.decided',
]);

/** Writes notices into the outbox: a row for each channel that asks for them. `Courier` sends them. */
@Injectable()
export class Notices implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly deliveries: DeliveriesRepository,
    private readonly settings: SettingsService,
    private readonly events: Events,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.events.on('notice', (notice) => this.tell(undefined, notice));
  }

  /** Whether any channel asks for an event: for callers that send a notice only once. */
  async heard(event: NoticeEvent): Promise<boolean> {
    const { channels } = await this.settings.read('notifications');
    return channels.some(({ enabled, events }) => enabled && events.includes(event));
  }

  /**
   * Queues a notice for its channels, in the transaction of its cause; outside of one, `Events.emit('notice', …)` does
   * the same.
   */
  async tell(manager: EntityManager | undefined, notice: Notice): Promise<void> {
    const { channels } = await this.settings.read('notifications', manager);
    const wanted = channels.filter(
      ({ id, enabled, events }) =>
        enabled && (notice.channels ? notice.channels.includes(id) : events.includes(notice.event)),
    );
    if (!wanted.length) return;
    const write = async (transaction: EntityManager) => {
      const id = randomUUID();
      for (const channel of wanted) await this.insert(transaction, id, channel.id, notice);
      this.db.afterCommit(transaction, () => void this.events.emit('notice.queued'));
    };
    await (manager ? write(manager) : this.db.transaction(write));
  }

  private async insert(manager: EntityManager, id: string, channel: string, notice: Notice): Promise<void> {
    const { event, text, domain = null, details = {} } = notice;
    if (ENDLESS.has(event) && (await this.deliveries.countWaiting(channel, event, manager)) >= MOST_WAITING) {
      this.logger.warn(
        { channel, event },
        'too many notices of this event wait for the channel: it is not told of one more',
      );
      return;
    }
    const content = JSON.stringify({ text: clipped(storable(oneLine(text)), MAX_TEXT), details });
    const created_at = now();
    await this.deliveries.insert(
      { notice: id, channel, event, domain, content, until_at: now(LIFE_MS), created_at },
      manager,
    );
  }
}
