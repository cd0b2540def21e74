import { Injectable } from '@nestjs/common';
import { sha256 } from '../common/hash.js';
import { secondsUntilFree, sizeOf } from './buckets.js';
import { RateStorage } from './rate-storage.js';

/** The result of counting a request. */
export interface Counted {
  /** why it is refused; null: it is admitted */
  refused: 'rate_limited' | 'changes_rate_limited' | null;
  left: number;
  seconds: number;
}

/** Counts requests in leaky buckets, in whatever protocol they come. */
@Injectable()
export class RateCounts {
  constructor(private readonly storage: RateStorage) {}

  /** Counts a request, and separately its record changes: reading stays possible after many. @param limit a minute */
  async evenly(key: string, limit: number, changes: number): Promise<Counted> {
    const { buckets } = this.storage;
    const size = sizeOf(limit);
    const requests = await buckets.fill(sha256(key), 1, size);
    const left = Math.max(0, Math.floor(size.burst - requests.used));
    if (!requests.taken) return { refused: 'rate_limited', left: 0, seconds: secondsUntilFree(size, requests.used) };
    const made = changes ? await this.ofChanges(key, limit, changes) : null;
    if (made?.refused) return made;
    return { refused: null, left, seconds: Math.max(1, Math.ceil(requests.used / size.perSecond)) };
  }

  /** Counts record changes alone. @param limit a minute */
  async ofChanges(key: string, limit: number, changes: number): Promise<Counted> {
    const size = sizeOf(limit);
    const { taken, used } = await this.storage.buckets.fill(sha256(`${key}|changes`), changes, size);
    return taken
      ? { refused: null, left: Math.max(0, Math.floor(size.burst - used)), seconds: 1 }
      : { refused: 'changes_rate_limited', left: 0, seconds: secondsUntilFree(size, used) };
  }
}
