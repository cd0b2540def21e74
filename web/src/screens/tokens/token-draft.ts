import type { components } from '../../api/schema.js';

type Schemas = components['schemas'];
export type Token = Schemas['TokenView'];
type Rule = Schemas['RuleInput'];
export type Action = NonNullable<Rule['actions']>[number];

export const ACTIONS: Action[] = ['read', 'create', 'update', 'delete'];

/** A rule as its form has it: nothing is left out. */
export interface RuleDraft extends Record<string, unknown> {
  effect: 'allow' | 'deny';
  domains: string[];
  hosts: string[];
  types: string[];
  actions: Action[];
  values: {
    cidrs: string[];
    suffixes: string[];
    text: { min_length: number | string; max_length: number | string; pattern: string };
  };
  ttl: { min: number | string; max: number | string };
}

/** The numbers of fields that are not empty, and the texts that are none; undefined: all are empty. */
function given<T extends Record<string, unknown>>(of: T): { [K in keyof T]?: Exclude<T[K], string> } | undefined {
  const kept = Object.entries(of).filter(([, v]) => v !== '' && v !== undefined && !(Array.isArray(v) && !v.length));
  return kept.length ? (Object.fromEntries(kept) as never) : undefined;
}

export const emptyRule = (): RuleDraft => draftOf({ effect: 'allow' });

export function draftOf({ effect, domains, hosts, types, actions, values, ttl }: Rule): RuleDraft {
  const { min_length = '', max_length = '', pattern = '' } = values?.text ?? {};
  return {
    effect,
    domains: (domains ?? []).map(String),
    hosts: hosts ?? [],
    types: types ?? [],
    actions: actions?.length ? actions : ACTIONS,
    values: { cidrs: values?.cidrs ?? [], suffixes: values?.suffixes ?? [], text: { min_length, max_length, pattern } },
    ttl: { min: ttl?.min ?? '', max: ttl?.max ?? '' },
  };
}

/** The rule that a draft means; what is empty is left out. */
export function ruleOf({ effect, domains, hosts, types, actions, values, ttl }: RuleDraft): Rule {
  const text = given(values.text);
  const more = given({
    domains: domains.map(Number),
    hosts,
    types,
    actions: actions.length === ACTIONS.length ? [] : actions,
    values: given({ cidrs: values.cidrs, suffixes: values.suffixes, text }),
    ttl: given(ttl),
  });
  return { effect, ...(more as object) };
}

type Limits = Pick<
  Token,
  | 'allowed_domains'
  | 'allowed_services'
  | 'allowed_cidrs'
  | 'max_unused_days'
  | 'rules'
  | 'start_time'
  | 'end_time'
  | 'max_role'
>;
export type Widening = 'domains' | 'scopes' | 'networks' | 'unused' | 'rules' | 'start' | 'end' | 'role';

const adds = (before: readonly unknown[], after: readonly unknown[]) => after.some((one) => !before.includes(one));
/** Of lists that mean everything while they are empty. */
const widensList = (before: readonly unknown[], after: readonly unknown[]) =>
  before.length > 0 && (after.length === 0 || adds(before, after));

/** What of a change lets a token do more, or may. */
export function widenings(before: Limits, after: Limits): Widening[] {
  const later = (a: string | null, b: string | null) => (a ? !b || Date.parse(b) > Date.parse(a) : false);
  const sameRules = JSON.stringify(before.rules?.map(draftOf)) === JSON.stringify(after.rules?.map(draftOf));
  const found: Record<Widening, boolean> = {
    domains: widensList(before.allowed_domains, after.allowed_domains),
    scopes: !before.allowed_services.includes('*') && adds(before.allowed_services, after.allowed_services),
    networks: widensList(before.allowed_cidrs, after.allowed_cidrs),
    unused: before.max_unused_days !== null && (after.max_unused_days ?? Infinity) > before.max_unused_days,
    rules: Boolean(before.rules) && !sameRules,
    start: Boolean(before.start_time) && (!after.start_time || later(after.start_time, before.start_time)),
    end: later(before.end_time, after.end_time),
    role: after.max_role > before.max_role,
  };
  return (Object.keys(found) as Widening[]).filter((key) => found[key]);
}
