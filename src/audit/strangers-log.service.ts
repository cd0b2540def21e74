import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Caller } from '../access/access.js';
import { networkOf } from '../platform/common/cidr.js';
import { after, type Cancel, now, wallMs } from '../platform/common/clock.js';
import { Logger } from '../platform/common/logger.js';
import { type AuditEntry, AuditService } from './audit.service.js';
import { noteOutcome } from './outcome.js';

const WINDOW_MS = 60_000;
/** Windows that are open at once; one more ends the oldest early. */
const MOST = 10_000;

interface Window {
  until: number;
  /** how many followed the first, which has a row of its own; `caller` and `entry` are those of the newest */
  count: number;
  caller: Caller;
  entry: AuditEntry;
}

/** Occurrences that have no row yet. */
export interface Pending {
  action: string;
  created_at: string;
  ip: string;
  count: number;
}

/**
 * Writes the audit entries of anonymous callers, bounded, since anybody could fill the log otherwise: of one action,
 * name and network the first is written at once, and those that follow within a minute become one more row when the
 * minute is over or the process ends, with their number in `after.count` and the newest's reason. Each process counts
 * by itself.
 */
@Injectable()
export class StrangersLog implements OnApplicationShutdown {
  private readonly windows = new Map<string, Window>();
  private cancelSweep: Cancel | undefined;

  constructor(
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {}

  async append(caller: Caller, entry: AuditEntry): Promise<void> {
    const key = JSON.stringify([entry.action, entry.target?.name ?? '', networkOf(caller.ip)]);
    const open = this.windows.get(key);
    if (open && open.until > wallMs()) {
      Object.assign(open, { count: open.count + 1, caller: { ...caller }, entry });
      noteOutcome(caller, entry.result ?? 'ok');
      return;
    }
    if (open) {
      await this.end(key, open);
      // another call may have opened the next window meanwhile
      return this.append(caller, entry);
    }
    const oldest = this.windows.size < MOST ? undefined : this.windows.entries().next().value;
    if (oldest) {
      await this.end(...oldest);
      return this.append(caller, entry);
    }
    const fresh = { until: wallMs() + WINDOW_MS, count: 0, caller: { ...caller }, entry };
    this.windows.set(key, fresh);
    this.cancelSweep ??= after(WINDOW_MS, () => void this.sweep(), { idle: true });
    try {
      await this.audit.append(caller, entry);
    } catch (error) {
      // not written: the next entry is the first of its window
      if (this.windows.get(key) === fresh && !fresh.count) this.windows.delete(key);
      throw error;
    }
  }

  /** Entries of an action that are counted and not written yet. */
  pending(action: string): Pending[] {
    const open = [...this.windows.values()].filter((window) => window.count && window.entry.action === action);
    return open.map(({ count, caller: { ip } }) => ({ action, created_at: now(), ip, count }));
  }

  async onApplicationShutdown(): Promise<void> {
    this.cancelSweep?.();
    for (const [key, window] of [...this.windows]) await this.end(key, window);
  }

  private async sweep(): Promise<void> {
    for (const [key, window] of [...this.windows]) if (window.until <= wallMs()) await this.end(key, window);
    this.cancelSweep = this.windows.size ? after(WINDOW_MS, () => void this.sweep(), { idle: true }) : undefined;
  }

  private async end(key: string, window: Window): Promise<void> {
    // when two calls find it over at once, one writes it
    if (this.windows.get(key) !== window) return;
    this.windows.delete(key);
    const { count, caller, entry } = window;
    if (!count) return;
    try {
      await this.audit.append(caller, { ...entry, after: { count } });
    } catch (error) {
      this.logger.error(
        { err: error, action: entry.action, ip: caller.ip, count },
        'what strangers did could not be logged',
      );
    }
  }
}
