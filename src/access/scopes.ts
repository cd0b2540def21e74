import { judgeByRules } from '../tokens/rules/compiled-rules.js';
import { ACTIONS, type Action, type RecordState, type TokenRule } from '../tokens/rules/token-rules.js';

/** A scope of tokens. */
interface ScopeMeaning {
  meaning: string;
  /**
   * Rules that the scope implies, on every route and at every integration: they allow actions on records. The rules of
   * the token itself can only narrow them.
   */
  rules: readonly TokenRule[];
  /** The rules apply only at the integration of the scope. */
  onlyAtIntegration?: true;
}

/** Every action on every record. */
const ALL: readonly TokenRule[] = [{ effect: 'allow', actions: [...ACTIONS] }];
const WRITE: readonly TokenRule[] = [{ effect: 'allow', actions: ['create', 'update', 'delete'] }];

/** All scopes of tokens, with the rules that each implies. */
const TABLE = {
  '*': { meaning: 'Everything that its creator may do through the API', rules: ALL },
  'domains:read': { meaning: 'List and show domains, their health, registrations and certificates', rules: [] },
  'records:read': {
    meaning: 'List and show records, record sets, changes and failover rules',
    rules: [{ effect: 'allow', actions: ['read'] }],
  },
  'records:write': {
    meaning: 'Create, change and delete records',
    rules: WRITE,
  },
  'accounts:read': { meaning: 'List and show accounts at providers, without their credentials', rules: [] },
  'audit:read': { meaning: 'Read the audit log', rules: [] },
  acme: {
    meaning: 'Answer ACME challenges: read, create and delete TXT records at `_acme-challenge` names',
    rules: [
      {
        effect: 'allow',
        hosts: ['_acme-challenge', '_acme-challenge.**'],
        types: ['TXT'],
        actions: ['read', 'create', 'delete'],
      },
    ],
  },
  ddns: {
    meaning: 'Update addresses by dynamic DNS: read, create, change and delete A and AAAA records',
    rules: [{ effect: 'allow', types: ['A', 'AAAA'], actions: ['read', 'create', 'update', 'delete'] }],
  },
  'external-dns': { meaning: 'Serve ExternalDNS', rules: ALL },
  powerdns: { meaning: 'Serve clients of the PowerDNS API', rules: ALL },
  rfc2136: { meaning: 'Serve dynamic updates (RFC 2136) and zone transfers', rules: ALL },
  // each hook writes the one record set that its owner chose
  webhook: { meaning: 'Set records by inbound webhooks', rules: WRITE, onlyAtIntegration: true },
} satisfies Record<string, ScopeMeaning>;

export type Scope = keyof typeof TABLE;
export const SCOPES = Object.keys(TABLE) as Scope[];
export const SCOPE_TABLE: Readonly<Record<Scope, ScopeMeaning>> = TABLE;

const actionsOf = ({ actions }: TokenRule): readonly Action[] => actions ?? ACTIONS;
const writes = (rule: TokenRule): boolean => actionsOf(rule).some((action) => action !== 'read');
const isWhole = ({ hosts, types }: TokenRule): boolean => !hosts && !types;

/** The rules that scopes imply together. @param at scope of the integration in use; null: the API */
function impliedRules(services: readonly string[], at: Scope | null): TokenRule[] {
  const names = SCOPES.filter(
    (name) => services.includes(name) && (!SCOPE_TABLE[name].onlyAtIntegration || name === at),
  );
  return names.flatMap((scope) => SCOPE_TABLE[scope].rules.map((rule) => ({ ...rule, scope })));
}

/** Results of `rulesWithinScopes`. Rules are compiled once per list, so the same input must give the same list. */
const lists = new WeakMap<readonly TokenRule[], Map<string, TokenRule[] | null>>();
const NO_RULES: readonly TokenRule[] = [];

/**
 * Returns the rules of a token with those that its scopes imply, or only its own if its scopes allow writing every
 * record.
 * @param own rules of the token; null: none
 * @param at scope of the integration in use; null: the API
 */
export function rulesWithinScopes(
  own: TokenRule[] | null,
  services: readonly string[],
  at: Scope | null,
): TokenRule[] | null {
  const known = lists.get(own ?? NO_RULES) ?? new Map<string, TokenRule[] | null>();
  lists.set(own ?? NO_RULES, known);
  const key = [...services]
    .sort()
    .concat(at ?? '')
    .join();
  let list = known.get(key);
  if (list === undefined) {
    const implied = impliedRules(services, at);
    const limited = implied.some(writes) && !implied.some((rule) => isWhole(rule) && writes(rule));
    if (!limited) list = own;
    else list = own ? [...own, { effect: 'deny', unless: implied, scope: '' }] : implied;
    known.set(key, list);
  }
  return list;
}

/** Whether these scopes allow reading every record. */
export const scopesReadAll = (services: readonly string[]): boolean =>
  impliedRules(services, null).some((rule) => isWhole(rule) && actionsOf(rule).includes('read'));

/** Whether these scopes allow an action on a record; without `state`: on at least one record. */
export function scopesAllow(services: readonly string[], action: Action, state?: RecordState): boolean {
  const implied = impliedRules(services, null);
  if (!state) return implied.some((rule) => actionsOf(rule).includes(action));
  return judgeByRules(implied, 0, action, state).allowed;
}
