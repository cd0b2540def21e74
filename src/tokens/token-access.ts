import type { Principal } from '../common/access.js';
import { inCidrs, parseCidr } from '../common/cidr.js';
import { now } from '../common/clock.js';
import type { Verdict } from '../domains/access-rights.js';
import { securityFrom } from '../settings/documents.js';

/** A token with its creator, as one query reads them. */
export interface TokenRow {
  id: number;
  user_id: number;
  name: string;
  narrowed: boolean | number;
  allowed_domains: string;
  allowed_services: string;
  allowed_cidrs: string | null;
  rules: string | null;
  max_unused_days: number | null;
  start_time: string | null;
  end_time: string | null;
  max_role: number;
  is_active: boolean | number;
  created_at: string;
  last_used_at: string | null;
  username: string;
  role: number;
  status: number;
  security: string | null;
}

/** SELECT of a `TokenRow`; a WHERE follows. */
export const SELECT_TOKEN = `SELECT t.id, t.user_id, t.name, t.narrowed, t.allowed_domains, t.allowed_services, t.allowed_cidrs, t.rules,
    t.max_unused_days, t.start_time, t.end_time, t.max_role, t.is_active, t.created_at, t.last_used_at, u.username, u.role, u.status,
    (SELECT content FROM settings WHERE name = 'security') AS security
  FROM api_tokens t JOIN users u ON u.id = t.user_id`;

/** Whether a token may be used at all, now and from this address. */
export function judgeToken(row: TokenRow, ip: string): Verdict {
  const say = (source: Verdict['source'], reason: string): Verdict => ({ allowed: false, reason, rule: null, source });
  const time = now();
  if (!row.is_active) return say('token', 'The token is disabled');
  if (row.status !== 1) return say('creator', 'The creator of the token is disabled');
  if (row.start_time && time < row.start_time) return say('window', `The token is not valid before ${row.start_time}`);
  if (row.end_time && time > row.end_time) return say('window', `The token expired at ${row.end_time}`);
  const unused = row.last_used_at ?? row.created_at;
  if (row.max_unused_days !== null && unused < now(-row.max_unused_days * 86_400_000))
    return say('window', `The token was not used for ${row.max_unused_days} days`);
  const networks: string[] = row.allowed_cidrs ? JSON.parse(row.allowed_cidrs) : [];
  if (networks.length && !inCidrs(ip, networks.map(parseCidr)))
    return say('network', `The token may not be used from ${ip}`);
  return { allowed: true, reason: 'The token is valid', rule: null, source: 'token' };
}

/** Who asks when a request carries this token: its creator, within the token's limits. */
export const tokenPrincipal = (row: TokenRow): Principal => ({
  kind: 'token',
  userId: row.user_id,
  username: row.username,
  role: Math.min(row.max_role, row.role),
  sessionId: null,
  lacksSecondFactor: false,
  ratePerMinute: securityFrom(row.security).rate_limits.token,
  token: {
    id: row.id,
    name: row.name,
    allowedDomains: row.narrowed ? JSON.parse(row.allowed_domains) : null,
    allowedServices: JSON.parse(row.allowed_services),
    rules: row.rules ? JSON.parse(row.rules) : null,
  },
});

/** Whether the scopes of a token contain one; null: any token may. */
export const hasScope = (services: readonly string[], scope: string | null): boolean =>
  scope === null || services.includes('*') || services.includes(scope);
