import { SIGNER_TYPES } from '../../dns/record.js';
import { type ChangeRules, GUARDS, type GuardKey, type GuardMode } from '../../domains/change-rules/change-rules.js';
import { due, turn } from '../../platform/common/turns.js';
import { providerOf } from '../../providers/registry.js';
import type { ChangedState } from '../history/states.js';
import type { Held, HeldKey } from './held-names.js';
import { misnamesIn, shortTargetOf } from './names.js';
import type { Change } from './planned.js';

/** a smaller zone may well be changed as a whole */
const MANY_OF = 10;
const MANY_PART = 0.3;
/** seconds */
const TTL_FLOOR = 60;
/** types whose rdata ends in a name that has to exist */
export const POINTING: readonly string[] = ['CNAME', 'MX', 'NS', 'SRV'];

/** Whether somebody has looked at the changes as a plan, or they come at once. */
export type Way = 'plan' | 'direct';

/** Mode of a guard that a domain does not set. @param provider kind of the account */
function defaultMode(key: GuardKey, way: Way, provider: string): GuardMode {
  if (key === 'short_target') return 'warn';
  if (key === 'not_a_host_name') return providerOf(provider)?.capabilities.checksNames ? 'force' : 'warn';
  if (way === 'plan') return 'force';
  return key === 'apex_ns' ? 'warn' : 'off';
}

/** What becomes of a change that meets a guard. @param provider kind of the account */
export const modeOf = ({ guards }: ChangeRules, key: GuardKey, way: Way, provider: string): GuardMode =>
  key === 'empty_document' ? 'force' : (guards[key] ?? defaultMode(key, way, provider));

/** seconds below which a TTL is low */
export const floorOf = ({ ttl_floor }: ChangeRules): number => ttl_floor ?? TTL_FLOOR;

type State = Pick<ChangedState, 'host' | 'type' | 'value' | 'ttl' | 'enabled'>;
export type Row = State & { id: number };

/** What guards know of a zone. */
export interface Zone {
  name: string;
  /** how many there are */
  records: number;
  /**
   * the records as they are, with those that are disabled: at the names of the changes, at those that these point at,
   * and what points at names that are left without records
   */
  rows: readonly Row[];
  /** names of the zone that something stands on */
  held: Held;
  /** full names in other zones of ours that changes point at, and whether they exist there */
  elsewhere: ReadonlyMap<string, boolean>;
  /** seconds */
  ttlFloor: number;
  /** the changes delete what a document without records does not have, or leave a bare zone: see `isBare` */
  emptied: boolean;
}

const isMx = ({ type }: State) => type === 'MX';
const isSpf = ({ type, value }: State) => type === 'TXT' && /^v=spf1(\s|$)/i.test(value);
const isApexNs = ({ type, host }: Pick<State, 'type' | 'host'>) => type === 'NS' && host === '@';

/** Whether a record is one of those that a zone without contents has: its SOA and NS, and what its signer maintains. */
export const isBare = (state: Pick<State, 'type' | 'host'>): boolean =>
  state.type === 'SOA' || isApexNs(state) || SIGNER_TYPES.has(state.type);

/** What is looked at for all changes of a list together. */
interface Seen {
  zone: Zone;
  many: { updates: boolean; deletes: boolean };
  /** names with live records afterwards: with any, with MX, with SPF */
  names: ReadonlySet<string>;
  mx: ReadonlySet<string>;
  spf: ReadonlySet<string>;
  /** names that records point at, and that are gone afterwards */
  missed: ReadonlySet<string>;
  /** names that `check-names` rejects, and that the zone holds already */
  misnamed: ReadonlySet<string>;
}

type Meets = (change: Change, seen: Seen) => boolean;
const isHeld =
  (key: HeldKey): Meets =>
  ({ before, after }, { zone }) =>
    [before, after].some((state) => state && zone.held.get(key)?.has(state.host));
const isLast = (before: State | null, sort: (state: State) => boolean, names: ReadonlySet<string>) =>
  !!before?.enabled && sort(before) && !names.has(before.host);

const MEETS: Record<GuardKey, Meets> = {
  empty_document: ({ before, after }, { zone }) => zone.emptied && before !== null && !after && !isBare(before),
  many_updates: ({ op }, { many }) => op === 'update' && many.updates,
  many_deletes: ({ op }, { many }) => op === 'delete' && many.deletes,
  apex_ns: ({ before, after }) =>
    before !== null && isApexNs(before) && !(after?.enabled && isApexNs(after) && after.value === before.value),
  last_mx: ({ before }, { mx }) => isLast(before, isMx, mx),
  last_spf: ({ before }, { spf }) => isLast(before, isSpf, spf),
  own_host: isHeld('own_host'),
  failover: isHeld('failover'),
  tunnel: isHeld('tunnel'),
  ttl_floor: ({ before, after }, { zone }) => after !== null && after.ttl < zone.ttlFloor && after.ttl !== before?.ttl,
  dangling: ({ before, after }, { zone, names, missed }) => {
    const isLost = before !== null && missed.has(before.host);
    if (!after?.enabled) return isLost;
    const isThere = zone.elsewhere.get(targetOf(after) ?? '');
    if (isThere !== undefined) return isLost || !isThere;
    const target = targetIn(after, zone.name);
    return isLost || (target !== null && !exists(target, names));
  },
  not_a_host_name: ({ after }, { zone, misnamed }) =>
    after !== null && misnamesIn(after, zone.name).some((name) => !misnamed.has(name)),
  short_target: ({ before, after }, { zone }) => {
    const target = after && shortTargetOf(after, zone.name);
    return target !== null && target !== (before && shortTargetOf(before, zone.name));
  },
};

/** The guards, of some, that each change of a list meets, in the order of the changes. */
export async function guardsOf(
  zone: Zone,
  changes: readonly Change[],
  keys: ReadonlySet<GuardKey>,
): Promise<GuardKey[][]> {
  const after = afterwards(zone.rows, changes);
  const names = live(after);
  const lost = new Set(lostOf(zone.rows, changes));
  const targets = lost.size ? after.flatMap((row) => (row.enabled ? (targetIn(row, zone.name) ?? []) : [])) : [];
  const missed = new Set(targets.filter((host) => lost.has(host)));
  const of = { mx: live(after.filter(isMx)), spf: live(after.filter(isSpf)) };
  const misnamed = new Set(zone.rows.flatMap((row) => misnamesIn(row, zone.name)));
  const seen: Seen = { zone, many: manyOf(zone.records, changes), names, ...of, missed, misnamed };
  const met: GuardKey[][] = [];
  for (const change of changes) {
    if (due()) await turn();
    met.push(GUARDS.filter((key) => keys.has(key) && MEETS[key](change, seen)));
  }
  return met;
}

const live = (states: readonly State[]) => new Set(states.flatMap(({ enabled, host }) => (enabled ? [host] : [])));

/** The names that some changes leave without records. @param rows at these names, and at the wildcards above them */
export function lostOf(rows: readonly Row[], changes: readonly Change[]): string[] {
  const names = live(afterwards(rows, changes));
  return [...live(rows)].filter((host) => !exists(host, names));
}

/** The records as they will be. */
function afterwards(rows: readonly Row[], changes: readonly Change[]): State[] {
  const changed = new Set(changes.flatMap(({ before, recordId }) => (before && recordId !== null ? [recordId] : [])));
  return [...rows.filter(({ id }) => !changed.has(id)), ...changes.flatMap(({ after }) => after ?? [])];
}

function manyOf(records: number, changes: readonly Change[]) {
  const part = (op: Change['op']) => changes.filter((change) => change.op === op).length / records;
  if (records < MANY_OF) return { updates: false, deletes: false };
  return { updates: part('update') > MANY_PART, deletes: part('delete') > MANY_PART };
}

/** The full name that a record points at, in lower case and without the last dot; null: none. */
export const targetOf = ({ type, value }: State): string | null =>
  POINTING.includes(type) ? (value.split(/\s+/).at(-1) ?? '').replace(/\.$/, '').toLowerCase() : null;

/** The name within the zone that a record points at; null: none, or one elsewhere. */
export function targetIn(state: State, zone: string): string | null {
  const name = targetOf(state);
  if (name === null) return null;
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : null;
}

/** The names whose records make a name exist: its own, and wildcards above it. */
export function namesFor(host: string): string[] {
  const labels = host.split('.');
  return [host, ...labels.map((_, i) => ['*', ...labels.slice(i + 1)].join('.'))];
}

/** Whether a name has records, of its own or by a wildcard. */
export const exists = (host: string, names: ReadonlySet<string>): boolean =>
  host === '@' || namesFor(host).some((name) => names.has(name));

/** Names in quotes, a few of many. */
function listed(names: readonly string[]): string {
  const all = [...new Set(names)];
  return (
    all
      .slice(0, 3)
      .map((name) => `"${name}"`)
      .join(', ') + (all.length > 3 ? ' …' : '')
  );
}

/** What the words of a guard are made of: the changes that meet it, and the zone. */
interface Facts {
  states: readonly State[];
  zone: string;
  ttlFloor: number;
}

const WORDS: Record<GuardKey, (n: number, facts: Facts) => string> = {
  empty_document: (n) =>
    `${n} records are deleted: the document has no records, or only the SOA and NS of the zone would be left`,
  many_updates: (n) => `${n} records are changed, more than 30 % of the domain`,
  many_deletes: (n) => `${n} records are deleted, more than 30 % of the domain`,
  apex_ns: () => 'Name servers of the zone itself are changed or taken away',
  last_mx: () => 'The last MX of a name is taken away: mail to it is not delivered any more',
  last_spf: () => 'The last SPF of a name is taken away',
  own_host: () => 'The host name of this service itself is changed',
  failover: (n) => `${n} changes are of names that rules of failover keep`,
  tunnel: (n) => `${n} changes are of names that tunnels keep`,
  ttl_floor: (n, { ttlFloor }) => `${n} records get a TTL of less than ${ttlFloor} seconds`,
  dangling: (n) => `${n} changes leave a target that does not exist in its zone`,
  not_a_host_name: (_n, { states, zone }) =>
    `${listed(states.flatMap((state) => misnamesIn(state, zone)))}: not a host name of letters, digits and inner hyphens. ` +
    'BIND does not load the zone unless its configuration has "check-names primary ignore"',
  short_target: (_n, { states, zone }) => {
    const targets = states.flatMap((state) => shortTargetOf(state, zone) ?? []);
    const meant = targets.map((target) => `${target}.${zone}`);
    return `The target is a top-level name: ${listed(targets)}. Probably meant: ${listed(meant)}`;
  },
};

/** A guard that is met, in words, with the ids of the changes that meet it. */
export interface Met {
  key: GuardKey;
  text: string;
  change_ids: number[];
  mode: Exclude<GuardMode, 'off'>;
}

/** The guards that some changes meet, but those that are off. */
export function told(
  changes: readonly { position: number; guards: readonly string[]; after: State | null }[],
  rules: ChangeRules,
  way: Way,
  { name: zone, provider }: { name: string; provider: string },
): Met[] {
  return GUARDS.flatMap((key): Met[] => {
    const mode = modeOf(rules, key, way, provider);
    const met = changes.filter(({ guards }) => guards.includes(key));
    if (mode === 'off' || !met.length) return [];
    const facts = { states: met.flatMap(({ after }) => after ?? []), zone, ttlFloor: floorOf(rules) };
    return [{ key, text: WORDS[key](met.length, facts), change_ids: met.map(({ position }) => position), mode }];
  });
}
