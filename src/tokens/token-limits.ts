import { same } from '../platform/common/read-only.js';
import { assertRules } from './rule-checks.js';
import { inNetworks, rulesNarrow } from './rules/narrowing.js';
import type { TokenRule } from './rules/token-rules.js';
import type { ApiToken } from './token.entity.js';

const FIELDS = [
  'name',
  'narrowed',
  'allowed_domains',
  'allowed_services',
  'allowed_cidrs',
  'max_unused_days',
  'rules',
  'preset',
  'start_time',
  'end_time',
  'max_role',
  'is_active',
] as const;

/** What a PUT of a token may change. */
export type TokenLimits = Pick<ApiToken, (typeof FIELDS)[number]>;

/** What a PUT may change, of a token as it is stored. */
export const limitsOf = (row: ApiToken): TokenLimits =>
  Object.fromEntries(FIELDS.map((name) => [name, row[name]])) as unknown as TokenLimits;

function isBounded(rules: readonly TokenRule[] | null): boolean {
  try {
    assertRules(rules ?? [], []);
    return true;
  } catch {
    return false;
  }
}

const domainsWiden = (a: TokenLimits, b: TokenLimits) =>
  a.narrowed && (!b.narrowed || !b.allowed_domains.every((id) => a.allowed_domains.includes(id)));

const scopesWiden = ({ allowed_services: a }: TokenLimits, { allowed_services: b }: TokenLimits) =>
  !a.includes('*') && !b.every((scope) => a.includes(scope));

const networksWiden = ({ allowed_cidrs: a }: TokenLimits, { allowed_cidrs: b }: TokenLimits) =>
  a !== null && (b === null || !b.every((cidr) => inNetworks(cidr, a)));

const daysWiden = ({ max_unused_days: a }: TokenLimits, { max_unused_days: b }: TokenLimits) =>
  a !== null && (b === null || b > a);

// rules from before the limits count as met or not met where they are beyond them
const rulesWiden = ({ rules: a }: TokenLimits, { rules: b }: TokenLimits) =>
  !same(a, b) && !(isBounded(a) && rulesNarrow(a, b));

const startsEarlier = ({ start_time: a }: TokenLimits, { start_time: b }: TokenLimits) =>
  a !== null && (b === null || b < a);

const endsLater = ({ end_time: a }: TokenLimits, { end_time: b }: TokenLimits) => a !== null && (b === null || b > a);

/**
 * The fields by whose change a token could do something that it could not, at any time; what cannot be proven to narrow
 * counts. Enabling a token is not among them: it can be enabled again as it is.
 */
export function widenedFields(before: TokenLimits, after: TokenLimits): string[] {
  const widens = {
    allowed_domains: domainsWiden(before, after),
    allowed_services: scopesWiden(before, after),
    allowed_cidrs: networksWiden(before, after),
    max_unused_days: daysWiden(before, after),
    rules: rulesWiden(before, after),
    start_time: startsEarlier(before, after),
    end_time: endsLater(before, after),
    max_role: after.max_role > before.max_role,
  };
  return Object.entries(widens).flatMap(([name, does]) => (does ? [name] : []));
}
