import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import { ACCESS, type AccessRule, AUDITED, type ZoneRequest } from '../../access/access.js';
import { networkOf } from '../../platform/common/cidr.js';
import { errors } from '../../platform/common/errors.js';
import { sha256 } from '../../platform/common/hash.js';
import { type Counted, RateCounts } from '../../platform/rates/rate-counts.js';
import { SettingsService } from '../../settings/settings.service.js';

const WINDOW_S = 60;

/** The rate limiter of a request, and the key that it counts under. */
interface Bucket {
  /** of a signed-in user or token: a leaky bucket; else a fixed window */
  isEven: boolean;
  /** the number of record changes of the request */
  changes: number;
  /** name in the settings: login, public, user or token */
  name: string;
  limit: number;
  key: string;
}

type Limited = ZoneRequest & { bucket?: Bucket };

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/**
 * The number of record changes of a request, by its audit action; each entry of a list counts, of sets each record, of
 * a zone that is made those that come with it.
 */
function changesOf(action: unknown, body: unknown): number {
  const { changes, values, rrsets } = (body ?? {}) as Record<string, unknown>;
  const sets: unknown[] = Array.isArray(rrsets) ? rrsets : [];
  const inSets = sets.reduce<number>((sum, set) => {
    const { records } = (set ?? {}) as Record<string, unknown>;
    return sum + Math.max(1, lengthOf(records));
  }, 0);
  if (action === 'domain.create') return inSets;
  if (typeof action !== 'string' || !action.startsWith('record.')) return 0;
  return Math.max(1, lengthOf(changes) + lengthOf(values) + inSets);
}

/**
 * Limits requests per minute, by the settings: anonymous ones by network, those of users and tokens by their id. Users
 * and tokens may send bursts, and their record changes are counted separately, each entry of a list. Runs after the
 * access guard, which identifies the caller.
 */
@Injectable()
export class RateGuard extends ThrottlerGuard {
  @Inject(SettingsService) private readonly settings!: SettingsService;
  @Inject(Reflector) private readonly rules!: Reflector;
  @Inject(RateCounts) private readonly counts!: RateCounts;

  protected override async shouldSkip(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Limited>();
    const { principal, ip } = request.caller;
    if (principal) {
      const { token, userId, ratePerMinute: limit } = principal;
      const name = token ? 'token' : 'user';
      const changes = changesOf(Reflect.getMetadata(AUDITED, context.getHandler()), request.body);
      const key = `${name}|${token?.id ?? userId}`;
      if (limit) request.bucket = { isEven: true, name, limit, key, changes };
      return !limit;
    }
    const rule = this.rules.getAllAndOverride<AccessRule | undefined>(ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!rule?.rate) return true;
    const limit = (await this.settings.securityFor(null)).rate_limits[rule.rate];
    if (limit)
      request.bucket = { isEven: false, name: rule.rate, limit, key: `${rule.rate}|${networkOf(ip)}`, changes: 0 };
    return !limit;
  }

  /**
   * Counts a request, and sends the remaining quota in the fields of draft-ietf-httpapi-ratelimit-headers, and in the
   * older `X-RateLimit-*`.
   */
  protected override async handleRequest({ context, ttl }: ThrottlerRequest): Promise<boolean> {
    const { bucket, res: response } = context.switchToHttp().getRequest<Limited>();
    const { name, limit, key, changes, isEven } = bucket as Bucket;
    const count = isEven ? this.counts.evenly(key, limit, changes) : this.inWindow(bucket as Bucket, ttl);
    const { refused, left, seconds } = await count;
    const fields = {
      'RateLimit-Policy': `"${name}";q=${limit};w=${WINDOW_S}`,
      RateLimit: `"${name}";r=${left};t=${seconds}`,
      'X-RateLimit-Limit': limit,
      'X-RateLimit-Remaining': left,
      'X-RateLimit-Reset': seconds,
    };
    for (const [field, value] of Object.entries(fields)) response?.setHeader(field, value);
    if (refused) throw errors.tooMany(refused, seconds);
    return true;
  }

  private async inWindow({ name, limit, key }: Bucket, ttl: number): Promise<Counted> {
    const hits = await this.storageService.increment(sha256(key), ttl, limit, ttl, name);
    const left = hits.isBlocked ? 0 : Math.max(0, limit - hits.totalHits);
    const seconds = Math.max(1, hits.isBlocked ? hits.timeToBlockExpire : hits.timeToExpire);
    return { refused: hits.isBlocked ? 'rate_limited' : null, left, seconds };
  }
}

/** For `ThrottlerModule`: one throttler, whose limit the guard has already determined. */
export const THROTTLERS = [
  {
    ttl: WINDOW_S * 1000,
    limit: (context: ExecutionContext) => context.switchToHttp().getRequest<Limited>().bucket?.limit ?? 0,
  },
];
