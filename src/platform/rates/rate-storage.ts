import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler';
import { RedisLink } from '../redis/redis-link.js';
import { Buckets } from './buckets.js';

// atomic in Redis: concurrent replicas never leave a key without expiry
const COUNT = `local hits = redis.call('INCR', KEYS[1])
if hits == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {hits, redis.call('PTTL', KEYS[1])}`;

/**
 * Counts in Redis when `REDIS_URL` is set, so that replicas count together; else, and while Redis is unavailable, in
 * this process, so that limits always apply.
 */
@Injectable()
export class RateStorage implements ThrottlerStorage, OnModuleInit, OnApplicationShutdown {
  readonly buckets: Buckets;
  private readonly memory = new ThrottlerStorageService();

  constructor(private readonly redis: RedisLink) {
    this.buckets = new Buckets(redis);
  }

  onModuleInit(): void {
    this.redis.start();
  }

  async increment(...args: Parameters<ThrottlerStorage['increment']>): ReturnType<ThrottlerStorage['increment']> {
    const [key, ttl, limit] = args;
    const { client } = this.redis;
    if (!client) return this.memory.increment(...args);
    try {
      const [hits, ms] = (await client.eval(COUNT, 1, `zoneward:rate:${key}`, ttl)) as [number, number];
      const seconds = Math.max(1, Math.ceil(ms / 1000));
      return { totalHits: hits, timeToExpire: seconds, isBlocked: hits > limit, timeToBlockExpire: seconds };
    } catch {
      // the link reports that Redis is unavailable
      return this.memory.increment(...args);
    }
  }

  onApplicationShutdown(): void {
    this.memory.onApplicationShutdown();
  }
}
