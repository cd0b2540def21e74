import { monotonicMs } from '../common/clock.js';
import type { RedisLink } from '../redis/redis-link.js';

/** How fast a bucket empties, and what it holds. */
interface Size {
  perSecond: number;
  /** level above which nothing is admitted */
  burst: number;
  /** level to which one admitted request may fill it */
  most: number;
}

/** The result of an attempt to fill a bucket. */
interface Filled {
  taken: boolean;
  /** the level now */
  used: number;
}

const MINUTE_MS = 60_000;
const MINUTE_S = 60;
/** burst in seconds of the rate, and the least burst whatever the rate is */
const BURST_S = 4;
const LEAST_BURST = 60;

/**
 * The bucket of a limit per minute: four seconds' worth may come at once, or 60, but never more than those of a minute.
 * A single request costs a minute at most.
 */
export function sizeOf(perMinute: number): Size {
  const burst = Math.min(perMinute, Math.max(LEAST_BURST, Math.floor((perMinute / MINUTE_S) * BURST_S)));
  return { perSecond: perMinute / MINUTE_S, burst, most: burst + perMinute };
}

/** Seconds until one more is admitted. */
export const secondsUntilFree = ({ perSecond, burst }: Size, used: number): number =>
  Math.max(1, Math.ceil((used + 1 - burst) / perSecond));

// atomic in Redis, by its clock: concurrent replicas agree
const FILL = `local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local kept = redis.call('HMGET', KEYS[1], 'used', 'at')
local cost, rate, burst, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local used = math.max(0, tonumber(kept[1] or '0') - (now - tonumber(kept[2] or now)) * rate / 1000)
local taken = used + 1 <= burst
if taken then used = math.min(used + cost, most) end
redis.call('HSET', KEYS[1], 'used', tostring(used), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(used / rate * 1000) + 1000)
return {taken and 1 or 0, tostring(used)}`;

/**
 * Leaky buckets: each request fills its bucket by its cost, and the bucket empties evenly. A request is admitted when
 * there is room for one, whatever its cost is: later requests wait for the excess. Kept in Redis when `REDIS_URL` is
 * set, so that replicas count together; else, and while Redis is unavailable, in this process.
 */
export class Buckets {
  private readonly kept = new Map<string, { used: number; at: number; perSecond: number }>();
  private tidied = 0;

  constructor(private readonly redis: Pick<RedisLink, 'client'>) {}

  async fill(key: string, cost: number, size: Size): Promise<Filled> {
    const { client } = this.redis;
    if (!client) return this.here(key, cost, size);
    try {
      const { perSecond, burst, most } = size;
      const answer = await client.eval(FILL, 1, `zoneward:bucket:${key}`, cost, perSecond, burst, most);
      const [taken, used] = answer as [number, string];
      return { taken: taken === 1, used: Number(used) };
    } catch {
      // the link reports that Redis is unavailable
      return this.here(key, cost, size);
    }
  }

  private here(key: string, cost: number, { perSecond, burst, most }: Size): Filled {
    const now = monotonicMs();
    this.tidy(now);
    const known = this.kept.get(key) ?? { used: 0, at: now };
    const left = Math.max(0, known.used - ((now - known.at) / 1000) * perSecond);
    const taken = left + 1 <= burst;
    const used = taken ? Math.min(left + cost, most) : left;
    this.kept.set(key, { used, at: now, perSecond });
    return { taken, used };
  }

  /** Deletes empty buckets, once a minute. */
  private tidy(now: number): void {
    if (now - this.tidied < MINUTE_MS) return;
    this.tidied = now;
    for (const [key, { used, at, perSecond }] of this.kept)
      if (((now - at) / 1000) * perSecond >= used) this.kept.delete(key);
  }
}
