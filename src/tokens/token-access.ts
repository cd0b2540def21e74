import type { Principal, Scope } from '../access/access.js';
import { rulesWithinScopes } from '../access/scopes.js';
import type { Verdict } from '../domains/access-rights.js';
import { inCidrs, parseCidr } from '../platform/common/cidr.js';
import { now } from '../platform/common/clock.js';
import { securityFrom } from '../settings/documents.js';
import type { SecuritySettings } from '../settings/settings.dto.js';
import type { TokenRow } from './api-tokens.repository.js';
import { rulesFrom } from './rules/compiled-rules.js';

/** The reason for a token whose creator lacks the second factor that `require_2fa_role` demands. */
export const NO_FACTOR = 'The creator of the token must have a second factor and has none';

/** Whether a user has no second factor although the role requires one. */
export const lacksFactor = (
  { role, has_factor }: Pick<TokenRow, 'role' | 'has_factor'>,
  { require_2fa_role: required }: SecuritySettings,
): boolean => required !== null && role >= required && !has_factor;

const say = (source: Verdict['source'], reason: string): Verdict => ({ allowed: false, reason, rule: null, source });

/** Why a token is invalid now, wherever it is used; null: it is valid. */
export function tokenEnd(row: TokenRow): Verdict | null {
  const time = now();
  if (!row.is_active) return say('token', 'The token is disabled');
  if (row.status !== 1) return say('creator', 'The creator of the token is disabled');
  if (row.start_time && time < row.start_time) return say('window', `The token is not valid before ${row.start_time}`);
  if (row.end_time && time > row.end_time) return say('window', `The token expired at ${row.end_time}`);
  const unused = row.last_used_at ?? row.created_at;
  if (row.max_unused_days !== null && unused < now(-row.max_unused_days * 86_400_000))
    return say('window', `The token was not used for ${row.max_unused_days} days`);
  return null;
}

/** Whether a token may be used at all, now and from this address. */
export function judgeToken(row: TokenRow, ip: string): Verdict {
  const end = tokenEnd(row);
  if (end) return end;
  const networks: string[] = row.allowed_cidrs ? JSON.parse(row.allowed_cidrs) : [];
  if (networks.length && !inCidrs(ip, networks.map(parseCidr)))
    return say('network', `The token may not be used from ${ip}`);
  if (lacksFactor(row, securityFrom(row.security, row.role))) return say('creator', NO_FACTOR);
  return { allowed: true, reason: 'The token is valid', rule: null, source: 'token' };
}

/**
 * The principal of a token: its creator, within the token's limits.
 * @param at scope of the integration in use; null: the API
 */
export function tokenPrincipal(row: TokenRow, at: Scope | null = null): Principal {
  const allowedServices: string[] = JSON.parse(row.allowed_services);
  return {
    kind: 'token',
    userId: row.user_id,
    username: row.username,
    language: row.language,
    role: Math.min(row.max_role, row.role),
    sessionId: null,
    lacksSecondFactor: false,
    ratePerMinute: securityFrom(row.security, row.role).rate_limits.token,
    token: {
      id: row.id,
      name: row.name,
      allowedDomains: row.narrowed ? JSON.parse(row.allowed_domains) : null,
      allowedServices,
      rules: rulesWithinScopes(row.rules ? rulesFrom(row.rules) : null, allowedServices, at),
    },
  };
}
