import { now } from '../platform/common/clock.js';
import { assertConditions, type Conditions, entityTag } from '../platform/http/conditions.js';
import type { TokenView } from './token.dto.js';
import type { ApiToken } from './token.entity.js';

/** A token as its owner is shown it. */
export const tokenView = (t: ApiToken): TokenView => ({
  id: t.id,
  user_id: t.user_id,
  name: t.name,
  allowed_domains: t.allowed_domains,
  allowed_services: t.allowed_services,
  allowed_cidrs: t.allowed_cidrs ?? [],
  max_unused_days: t.max_unused_days,
  rules: t.rules,
  preset: t.preset,
  start_time: t.start_time,
  end_time: t.end_time,
  max_role: t.max_role,
  is_active: t.is_active,
  created_at: t.created_at,
  last_used_at: t.last_used_at,
  last_used_network: t.last_used_network,
  previous_until: t.previous_until && t.previous_until > now() ? t.previous_until : null,
});

/** The target of audit entries about a token. */
export const tokenTarget = (t: ApiToken) => ({ type: 'token', id: t.id, name: t.name });

/** The entity tag of a token: of its limits, not of its uses and secrets. */
export function tokenTag(view: TokenView): string {
  const { last_used_at: _at, last_used_network: _network, previous_until: _until, ...state } = view;
  return entityTag(state, view);
}

/** @throws AppError 412001 where the token is not what the caller has seen */
export function assertSeen(conditions: Conditions, row: ApiToken): void {
  const token = tokenView(row);
  assertConditions(conditions, tokenTag(token), { token });
}
