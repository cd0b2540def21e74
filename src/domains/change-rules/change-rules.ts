import type { Names } from './scope.js';
import { closedAt, type Freeze, type Window } from './windows.js';

/** What may be a mistake, though it is allowed, and which changes meet it. */
export const GUARD_MEANINGS = {
  empty_document:
    'A plan of a document without records deletes records, or nothing but the SOA and the NS of the zone is left',
  many_updates: 'More than 30 % of a domain of at least ten records are changed',
  many_deletes: 'More than 30 % of a domain of at least ten records are deleted',
  apex_ns: 'Name servers of the zone itself are changed or taken away',
  last_mx: 'The last MX of a name goes',
  last_spf: 'The last SPF of a name goes',
  own_host: 'The host of the public address of this service is concerned',
  failover: 'A name that a failover rule keeps is concerned',
  tunnel: 'A name that a tunnel keeps is concerned',
  ttl_floor: 'A TTL is below 60 seconds, or below the `ttl_floor` of the domain',
  dangling:
    'A CNAME, MX, NS or SRV points at a name of the zone, or of another one that may be read, that does not exist afterwards',
  not_a_host_name:
    'An A, AAAA or MX record gets a name, or an MX, NS, SRV, SVCB, HTTPS, RP or reverse PTR record a target, that is not a host name: BIND does not load the zone by default (`check-names`)',
  short_target:
    'A CNAME, MX, NS, SRV, ALIAS, DNAME, PTR, SVCB or HTTPS record gets a target of one label, such as `www`',
} as const;
export type GuardKey = keyof typeof GUARD_MEANINGS;
export const GUARDS = Object.keys(GUARD_MEANINGS) as GuardKey[];

/** Nothing, a word of warning, or a refusal unless the guard is named. */
export const GUARD_MODES = ['off', 'warn', 'force'] as const;
export type GuardMode = (typeof GUARD_MODES)[number];

/** Which writes wait for somebody's approval: none, those that meet a guard which is not off, or every one. */
export const APPROVALS = ['none', 'guarded', 'all'] as const;

/** What waits for an approval, and who may give it. */
export interface Approval {
  for: (typeof APPROVALS)[number];
  /** whoever has at least this role, is in this team, or is named */
  by: { role?: number; team_id?: number; user_ids?: number[] };
  /** whether who asked may approve it, if they are one of these */
  own: boolean;
}

/**
 * What becomes of records that somebody changed at the provider: they are taken as they are, taken back, or listed as
 * differences from what is wanted.
 */
export const DRIFT_MODES = ['adopt', 'revert', 'report'] as const;

export interface Drift {
  mode: (typeof DRIFT_MODES)[number];
  /** sets that others keep: they never differ from what is wanted, and plans of `sync` leave them alone */
  ignore: Names[];
}

/** What changes of a domain's records have to keep to, whatever door they come by. */
export interface ChangeRules {
  /** only those that were set */
  guards: Partial<Record<GuardKey, GuardMode>>;
  /** seconds below which a TTL meets the guard of that name; null: as everywhere */
  ttl_floor: number | null;
  /** updates and deletions have to name the state that they change */
  require_if_match: boolean;
  approval: Approval;
  /** null: none is planned */
  freeze: Freeze | null;
  /** changes are made while one of them is open; none: at any time */
  windows: Window[];
  drift: Drift;
}

const NONE: ChangeRules = {
  guards: {},
  ttl_floor: null,
  require_if_match: false,
  approval: { for: 'none', by: {}, own: false },
  freeze: null,
  windows: [],
  drift: { mode: 'adopt', ignore: [] },
};

/** All rules. Only the owner of a domain and administrators change them, and only in a session. */
export const RULE_KEYS = Object.keys(NONE) as readonly (keyof ChangeRules)[];

const DEMANDS: Readonly<Record<Approval['for'], number>> = { none: 0, guarded: 1, all: 2 };

/** Whether a rule is certainly at least as strict after a change as before. */
const TIGHTENS: { [K in keyof ChangeRules]: (before: ChangeRules[K], after: ChangeRules[K]) => boolean } = {
  guards: (before, after) =>
    [...new Set([...Object.keys(before), ...Object.keys(after)] as GuardKey[])].every(
      (key) => before[key] === after[key] || after[key] === 'force',
    ),
  ttl_floor: (before, after) => before === null || (after !== null && after >= before),
  require_if_match: (before) => !before,
  approval: ({ for: was, ...before }, { for: is, ...after }) =>
    was === 'none' || (DEMANDS[is] >= DEMANDS[was] && sameJson(before, after)),
  freeze: (before) => before === null,
  windows: (before) => !before.length,
  drift: ({ mode }) => mode === 'adopt',
};

/** The changed rules that may be less strict than before. */
export const loosenedRules = (before: ChangeRules, after: ChangeRules): (keyof ChangeRules)[] => {
  const isLoosened = <K extends keyof ChangeRules>(key: K) =>
    !sameJson(before[key], after[key]) && !TIGHTENS[key](before[key], after[key]);
  return RULE_KEYS.filter(isLoosened);
};

/**
 * Modes of a guard, the strictest last. Without a mode a guard has its default, which a weaker mode of another domain
 * of the zone must not lower.
 */
const MODES = ['off', 'warn', undefined, 'force'] as const satisfies readonly (GuardMode | undefined)[];

/** The strictest rules of all domains of a zone. @param own rules of the domain itself @param time ms */
export function strictestRules(own: ChangeRules, others: readonly ChangeRules[], time: number): ChangeRules {
  if (!others.length) return own;
  const all = [own, ...others];
  const named = [...new Set(all.flatMap(({ guards }) => Object.keys(guards) as GuardKey[]))];
  const guards = named.flatMap((key) => {
    const mode = MODES[Math.max(...all.map((rules) => MODES.indexOf(rules.guards[key])))];
    return mode === undefined ? [] : [[key, mode] as const];
  });
  const floors = all.flatMap(({ ttl_floor }) => ttl_floor ?? []);
  const approvals = all.map((rules) => rules.approval).toSorted((a, b) => DEMANDS[b.for] - DEMANDS[a.for]);
  const asking = approvals.filter((one) => one.for !== 'none');
  const closes = (one: Pick<ChangeRules, 'freeze' | 'windows'>) => closedAt(one, time, false)?.until ?? '';
  const latest = <T>(list: readonly T[], until: (one: T) => string): T | undefined =>
    list.toSorted((a, b) => (until(a) < until(b) ? 1 : -1))[0];
  const freezes = all.flatMap(({ freeze }) => freeze ?? []);
  const bound = all.flatMap(({ windows }) => (windows.length ? [windows] : []));
  return {
    ...own,
    guards: Object.fromEntries(guards),
    ttl_floor: floors.length ? Math.max(...floors) : null,
    require_if_match: all.some(({ require_if_match }) => require_if_match),
    approval: { ...(approvals[0] as Approval), own: asking.length > 0 && asking.every((one) => one.own) },
    freeze: latest(freezes, (freeze) => closes({ freeze, windows: [] })) ?? null,
    windows: latest(bound, (windows) => closes({ freeze: null, windows })) ?? [],
  };
}

/** Whether rules can make changes wait, so that adding or deleting a domain of the zone must not evade them. */
export const bindsZone = ({ approval, freeze, windows }: ChangeRules): boolean =>
  approval.for !== 'none' || freeze !== null || windows.length > 0;

/** @param stored the column `change_rules` of a domain; null: nothing was ever set */
export const changeRulesOf = ({ change_rules }: { change_rules: string | null }): ChangeRules =>
  change_rules === null ? NONE : { ...NONE, ...JSON.parse(change_rules) };

/** What is stored of some rules: null where they are those of every domain. */
export const storedRules = (rules: ChangeRules): string | null => {
  const set = Object.entries(rules).filter(([key, value]) => !sameJson(value, NONE[key as keyof ChangeRules]));
  return set.length ? JSON.stringify(Object.fromEntries(set)) : null;
};

const sameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
