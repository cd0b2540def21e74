import {
  type ExecutionContext,
  Inject,
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest, ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler';
import { ACCESS, type AccessRule, type ZoneRequest } from '../../common/access.js';
import { networkOf } from '../../common/cidr.js';
import { errors } from '../../common/errors.js';
import { sha256 } from '../../common/hash.js';
import { RedisLink } from '../../redis/redis-link.js';
import { SettingsService } from '../../settings/settings.service.js';

const WINDOW_S = 60;

/** Which rate counts a request, and on whose account. */
interface Bucket {
  /** of the settings: login, public, user or token */
  name: string;
  limit: number;
  key: string;
}

type Limited = ZoneRequest & { bucket?: Bucket };

/**
 * Requests a minute, by the settings: of strangers by network, of users and tokens by their id. Runs after the access
 * guard, which says who is asking.
 */
@Injectable()
export class RateGuard extends ThrottlerGuard {
  @Inject(SettingsService) private readonly settings!: SettingsService;
  @Inject(Reflector) private readonly rules!: Reflector;

  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Limited>();
    const { principal, ip } = request.caller;
    if (principal) {
      const { token, userId, ratePerMinute: limit } = principal;
      const name = token ? 'token' : 'user';
      if (limit) request.bucket = { name, limit, key: `${name}|${token?.id ?? userId}` };
      return !limit;
    }
    const rule = this.rules.getAllAndOverride<AccessRule | undefined>(ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!rule?.rate) return true;
    const limit = (await this.settings.securityFor(null)).rate_limits[rule.rate];
    if (limit) request.bucket = { name: rule.rate, limit, key: `${rule.rate}|${networkOf(ip)}` };
    return !limit;
  }

  /**
   * Counts, and tells how many are left: in the fields of draft-ietf-httpapi-ratelimit-headers, and in those that
   * clients know from before.
   */
  protected override async handleRequest({ context, ttl }: ThrottlerRequest): Promise<boolean> {
    const { bucket, res: response } = context.switchToHttp().getRequest<Limited>();
    const { name, limit, key } = bucket as Bucket;
    const hits = await this.storageService.increment(sha256(key), ttl, limit, ttl, name);
    const left = hits.isBlocked ? 0 : Math.max(0, limit - hits.totalHits);
    const seconds = Math.max(1, hits.isBlocked ? hits.timeToBlockExpire : hits.timeToExpire);
    const fields = {
      'RateLimit-Policy': `"${name}";q=${limit};w=${WINDOW_S}`,
      RateLimit: `"${name}";r=${left};t=${seconds}`,
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': left,
      'X-RateLimit-Reset': seconds,
    };
    for (const [field, value] of Object.entries(fields)) response?.setHeader(field, value);
    if (hits.isBlocked) throw errors.tooMany('Too many requests; try again later', seconds);
    return true;
  }
}

/** For `ThrottlerModule`: one throttler, whose limit the guard has found already. */
export const THROTTLERS = [
  {
    ttl: WINDOW_S * 1000,
    limit: (context: ExecutionContext) => context.switchToHttp().getRequest<Limited>().bucket?.limit ?? 0,
  },
];

// one step at Redis: two replicas that count at once never make a key that does not end
const COUNT = `local hits = redis.call('INCR', KEYS[1])
if hits == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {hits, redis.call('PTTL', KEYS[1])}`;

/**
 * Counts in Redis when `REDIS_URL` is set, so that replicas count together; else, and while Redis is away, in this
 * process: a limit never falls away.
 */
@Injectable()
export class RateStorage implements ThrottlerStorage, OnModuleInit, OnApplicationShutdown {
  private readonly memory = new ThrottlerStorageService();

  constructor(private readonly redis: RedisLink) {}

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
      // the link tells when it is away
      return this.memory.increment(...args);
    }
  }

  onApplicationShutdown(): void {
    this.memory.onApplicationShutdown();
  }
}
