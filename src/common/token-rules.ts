import { inCidrs, parseCidr } from './cidr.js';
import { globMatches, patternFits } from './patterns.js';

/** What can be done with a record. Enabling and disabling is an update. */
export const ACTIONS = ['read', 'create', 'update', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

/** One state of a record: all that rules look at. `value` null: not known, as in a question about any value. */
export interface RecordState {
  /** canonical: lower case, A-labels, `@` for the apex */
  host: string;
  type: string;
  value: string | null;
  ttl: number;
}

/** A rule of a token. What is left out matches everything. */
export interface TokenRule {
  effect: 'allow' | 'deny';
  domains?: number[];
  hosts?: string[];
  types?: string[];
  actions?: Action[];
  values?: {
    /** of A and AAAA */
    cidrs?: string[];
    /** of the targets of CNAME, MX, NS, SRV, PTR and ALIAS: the name itself or one below it */
    suffixes?: string[];
    /** of TXT */
    text?: { min_length?: number; max_length?: number; pattern?: string };
  };
  ttl?: { min?: number; max?: number };
}

/** What rules say of one state: allowed or not, and the index of the rule that decided; null: none allows. */
export interface RuleVerdict {
  allowed: boolean;
  rule: number | null;
}

const TARGETS = new Set(['CNAME', 'MX', 'NS', 'SRV', 'PTR', 'ALIAS']);

/** Deny beats allow; where rules are present and none allows, the answer is no. */
export function judgeByRules(
  rules: readonly TokenRule[],
  domainId: number,
  action: Action,
  state: RecordState,
): RuleVerdict {
  const matches = (rule: TokenRule) => covers(rule, domainId, action, state);
  const denied = rules.findIndex((rule) => rule.effect === 'deny' && matches(rule));
  if (denied >= 0) return { allowed: false, rule: denied };
  const allowed = rules.findIndex((rule) => rule.effect === 'allow' && matches(rule));
  return allowed >= 0 ? { allowed: true, rule: allowed } : { allowed: false, rule: null };
}

/** Whether rules leave anything of a domain to be seen: some rule allows something there. */
export const rulesReach = (rules: readonly TokenRule[], domainId: number): boolean =>
  rules.some((rule) => rule.effect === 'allow' && (!rule.domains || rule.domains.includes(domainId)));

function covers(rule: TokenRule, domainId: number, action: Action, { host, type, value, ttl }: RecordState): boolean {
  if (rule.domains && !rule.domains.includes(domainId)) return false;
  if (rule.actions && !rule.actions.includes(action)) return false;
  if (rule.types && !rule.types.includes(type)) return false;
  if (rule.hosts && !rule.hosts.some((glob) => globMatches(glob, host))) return false;
  if (rule.ttl && (ttl < (rule.ttl.min ?? 1) || ttl > (rule.ttl.max ?? Number.POSITIVE_INFINITY))) return false;
  // a value that is not known may be one that is denied, and none that is allowed
  if (rule.values && value === null) return rule.effect === 'deny';
  return !rule.values || valueFits(rule.values, type, value as string);
}

function valueFits({ cidrs, suffixes, text }: NonNullable<TokenRule['values']>, type: string, value: string): boolean {
  if (type === 'A' || type === 'AAAA') return cidrs !== undefined && inCidrs(value, cidrs.map(parseCidr));
  if (TARGETS.has(type)) {
    const target = (type === 'SRV' ? (value.split(' ').at(-1) as string) : value).toLowerCase();
    return suffixes?.some((suffix) => target === suffix || target.endsWith(`.${suffix}`)) ?? false;
  }
  if (type !== 'TXT' || !text) return false;
  const length = [...value].length;
  if (length < (text.min_length ?? 0) || length > (text.max_length ?? Number.POSITIVE_INFINITY)) return false;
  return text.pattern === undefined || patternFits(text.pattern, value);
}
