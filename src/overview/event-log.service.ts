import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now, sleep, wallMs, within } from '../platform/common/clock.js';
import { withoutDeadline } from '../platform/common/deadline.js';
import { Logger } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import { Events, type Readers } from '../platform/events/events.js';
import type { LoggedEvent } from './event.entity.js';
import { EventsLogRepository, type NewEvent } from './events-log.repository.js';
import type { StreamEvent } from './stream.dto.js';
import { Wake } from './wake.service.js';

/** a stream that comes back later than this gets a `reset` */
const KEPT_MS = 86_400_000;
const KEPT_ROWS = 10_000;
const PRUNE_EVERY_MS = 600_000;
/** events that one statement inserts */
const ROWS = 50;
/** events that are kept in memory while the database is unavailable */
const MOST_WAITING = 1000;
const AGAIN_MS = 1000;
const STOP_WAIT_MS = 1000;

/**
 * Stores events for streams after the commit of a change, which does not wait for it. A crash in between loses the
 * event, not the change; streams end with the process, and clients that reconnect read anew what they show.
 */
@Injectable()
export class EventLog implements OnModuleInit, OnModuleDestroy {
  private waiting: NewEvent[] = [];
  private writing: Promise<void> | null = null;
  private stopping = false;
  private pruned = 0;

  constructor(
    private readonly db: Db,
    private readonly log: EventsLogRepository,
    private readonly events: Events,
    private readonly wake: Wake,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    const { events } = this;
    events.on('records.changed', (domain_id, change_set_id, progress) =>
      this.add('records.changed', { domain_id, change_set_id, ...progress }, domain_id),
    );
    events.on('records.synced', (domain_id, touched) => this.add('records.synced', { domain_id, touched }, domain_id));
    events.on('domain.created', (domain_id) => this.add('domain.created', { domain_id }, domain_id));
    events.on('domains.removed', (domains) => {
      for (const [domain_id, readers] of domains) this.add('domain.removed', { domain_id }, domain_id, readers);
    });
    events.on('failover.switched', (domain_id, rule_id, active) =>
      this.add('failover.switched', { domain_id, rule_id, active }, domain_id),
    );
    events.on('account.synced', (account_id, result) => this.add('account.synced', { account_id, ...result }));
    events.on('job.changed', ({ what, ...data }) => this.add(`job.${what}`, data));
    events.on('settings.changed', (section) => this.add('settings.changed', { section }));
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    if (this.writing) await within(this.writing, STOP_WAIT_MS);
  }

  /** The newest number; 0 when nothing has happened yet. */
  newest(): Promise<number> {
    return this.log.newestId();
  }

  /** The events behind a number, in the order of their commits. */
  after(id: number, most: number): Promise<LoggedEvent[]> {
    return this.log.after(id, most);
  }

  /** What a stream missed between two numbers; null when some of it was removed, or when it is too much to send. */
  async missed(from: number, to: number, most: number): Promise<LoggedEvent[] | null> {
    if (from + 1 < (await this.log.oldestId())) return null;
    const rows = (await this.log.after(from, most + 1)).filter(({ id }) => id <= to);
    return rows.length > most ? null : rows;
  }

  private add(type: StreamEvent, data: object, domain_id: number | null = null, readers: Readers | null = null): void {
    // thousands of domains that are removed with their account, or a database that is unavailable for long
    if (this.waiting.length >= MOST_WAITING)
      this.waiting = [{ type: 'reset', domain_id: null, readers: null, data: { reason: 'too_much' } }];
    this.waiting.push({ type, domain_id, readers, data });
    // of no request: it stores what others tell meanwhile, too
    this.writing ??= withoutDeadline(() => this.write());
  }

  private async write(): Promise<void> {
    while (this.waiting.length) {
      const rows = this.waiting.splice(0, ROWS);
      try {
        await this.store(rows, now());
        this.wake.tell();
      } catch (error) {
        this.waiting.unshift(...rows);
        this.logger.warn({ err: (error as Error).message }, 'events cannot be written down for streams; trying again');
        if (this.stopping) return;
        await sleep(AGAIN_MS);
      }
      await this.prune().catch((error: Error) =>
        this.logger.warn({ err: error.message }, 'old events cannot be removed'),
      );
    }
    // in one step with the look above: an event that comes between them would wait for the next one
    this.writing = null;
  }

  private async store(rows: readonly NewEvent[], at: string): Promise<void> {
    // one statement is committed in the order of the ids that it was given, where no other writes meanwhile
    if (this.db.isSerial) return this.log.insert(rows, at);
    await this.db.transaction(async (manager) => {
      await this.takeTurn(manager);
      await this.log.insert(rows, at, manager);
    });
  }

  /**
   * Databases assign ids before the commit: an event that is committed late would be skipped behind a later one.
   * Writers lock the newest row, which makes the order of ids that of the commits.
   */
  private async takeTurn(manager: EntityManager): Promise<void> {
    for (let newest = await this.log.newestId(manager); newest; ) {
      await this.log.lock(newest, manager);
      const last = await this.log.newestId(manager);
      if (last === newest) return;
      newest = last;
    }
  }

  /** Keeps the newest row, so that no database restarts its ids. */
  private async prune(): Promise<void> {
    if (wallMs() < this.pruned + PRUNE_EVERY_MS) return;
    this.pruned = wallMs();
    const newest = await this.newest();
    await this.log.removeOld(newest - KEPT_ROWS, now(-KEPT_MS), newest);
  }
}
