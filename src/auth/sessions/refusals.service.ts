import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import { StrangersLog } from '../../audit/strangers-log.service.js';
import { networkOf } from '../../platform/common/cidr.js';
import { type AppError, errors } from '../../platform/common/errors.js';
import { type LimitRule, LimitsService } from '../../platform/limits/limits.service.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import type { LoginLimit } from '../../settings/settings.dto.js';
import { SettingsService } from '../../settings/settings.service.js';

/**
 * The limit of failed logins of one network on any names. They are counted after they happened, so the one that reaches
 * the limit blocks.
 */
const networkRule = ({ network_failures, window_minutes }: LoginLimit): LimitRule => ({
  max: network_failures - 1,
  windowS: window_minutes * 60,
  blockS: window_minutes * 60,
  maxBlockS: window_minutes * 60,
});

const counted = ({ ip }: Caller) => ({ kind: 'failures', network: networkOf(ip) });

/** Counts failed logins of any kind for the network, and logs them. */
@Injectable()
export class Refusals {
  constructor(
    private readonly limits: LimitsService,
    private readonly settings: SettingsService,
    private readonly strangers: StrangersLog,
    private readonly metrics: Metrics,
  ) {}

  /** @throws AppError 429001 in a network with too many failures */
  async assertOpen(caller: Caller): Promise<void> {
    const throttled = await this.limits.blockedFor(counted(caller));
    if (throttled) throw errors.tooMany('network_rate_limited', throttled);
  }

  /** One more failure of the network. */
  async count(caller: Caller): Promise<void> {
    const { login_limit } = await this.settings.securityFor(null);
    await this.limits.hit(counted(caller), networkRule(login_limit));
  }

  /** Logs a failure. @param why for the audit log */
  log(caller: Caller, name: string, why: string): Promise<void> {
    this.metrics.logins.inc({ result: 'failed' });
    const target = { type: 'user', id: null, name: name.slice(0, 64) };
    return this.strangers.append(caller, { action: 'auth.login_failed', target, result: 'failed', error: why });
  }

  /** Counts and logs a failure, and ends the request with its error. @throws AppError 401001 */
  async refuse(caller: Caller, name: string, why: string, refusal: AppError): Promise<never> {
    await this.count(caller);
    await this.log(caller, name, why);
    throw refusal;
  }
}
