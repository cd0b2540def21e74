import type { CacheRow } from '../../cache/reconcile.js';
import { GUARDS, type GuardKey } from '../../domains/change-rules/change-rules.js';
import type { ChangedState } from '../history/states.js';
import type { PlannedChange } from './planned.js';

/** a smaller zone may well be changed as a whole */
const MANY_OF = 10;
const MANY_PART = 0.3;
/** seconds */
const TTL_FLOOR = 60;
const TARGETS: ReadonlySet<string> = new Set(['CNAME', 'MX', 'NS', 'SRV']);

/** What guards know of a zone. */
export interface Zone {
  name: string;
  /** the records as they are, with those that are disabled */
  rows: readonly CacheRow[];
  /** names of the zone that something stands on, by what: the service's own host, rules of failover, tunnels */
  held: ReadonlyMap<'own_host' | 'failover' | 'tunnel', ReadonlySet<string>>;
}

type State = Pick<ChangedState, 'host' | 'type' | 'value' | 'enabled'>;
const isMx = ({ type }: State) => type === 'MX';
const isSpf = ({ type, value }: State) => type === 'TXT' && /^v=spf1(\s|$)/i.test(value);
const isApexNs = ({ type, host }: State) => type === 'NS' && host === '@';

/** What is looked at for all changes of a plan together. */
interface Seen {
  zone: Zone;
  after: readonly State[];
  many: { updates: boolean; deletes: boolean };
  /** names with live records afterwards */
  names: ReadonlySet<string>;
  /** names that records point at, and that are gone afterwards */
  missed: ReadonlySet<string>;
}

type Meets = (change: PlannedChange, seen: Seen) => boolean;
const isHeld =
  (key: 'own_host' | 'failover' | 'tunnel'): Meets =>
  ({ before, after }, { zone }) =>
    [before, after].some((state) => state && zone.held.get(key)?.has(state.host));

const MEETS: Record<GuardKey, Meets> = {
  many_updates: ({ op }, { many }) => op === 'update' && many.updates,
  many_deletes: ({ op }, { many }) => op === 'delete' && many.deletes,
  apex_ns: ({ before, after }) =>
    before !== null && isApexNs(before) && !(after?.enabled && isApexNs(after) && after.value === before.value),
  last_mx: ({ before }, { after }) => isLast(before, after, isMx),
  last_spf: ({ before }, { after }) => isLast(before, after, isSpf),
  own_host: isHeld('own_host'),
  failover: isHeld('failover'),
  tunnel: isHeld('tunnel'),
  ttl_floor: ({ before, after }) => after !== null && after.ttl < TTL_FLOOR && after.ttl !== before?.ttl,
  dangling: ({ before, after }, { zone, names, missed }) => {
    const target = after?.enabled ? targetIn(after, zone.name) : null;
    return (target !== null && !exists(target, names)) || (before !== null && missed.has(before.host));
  },
};

/** The guards that each change of a plan meets, in the order of the changes. */
export function guardsOf(zone: Zone, changes: readonly PlannedChange[]): GuardKey[][] {
  const after = afterwards(zone.rows, changes);
  const live = (states: readonly State[]) => new Set(states.filter(({ enabled }) => enabled).map(({ host }) => host));
  const names = live(after);
  const lost = new Set([...live(zone.rows)].filter((host) => !exists(host, names)));
  const targets = lost.size ? after.flatMap((row) => (row.enabled ? (targetIn(row, zone.name) ?? []) : [])) : [];
  const missed = new Set(targets.filter((host) => lost.has(host)));
  const seen: Seen = { zone, after, many: manyOf(zone.rows.length, changes), names, missed };
  return changes.map((change) => GUARDS.filter((key) => MEETS[key](change, seen)));
}

/** The records as they will be. */
function afterwards(rows: readonly CacheRow[], changes: readonly PlannedChange[]): State[] {
  const changed = new Set(changes.flatMap(({ before, recordId }) => (before && recordId !== null ? [recordId] : [])));
  return [...rows.filter(({ id }) => !changed.has(id)), ...changes.flatMap(({ after }) => after ?? [])];
}

function manyOf(records: number, changes: readonly PlannedChange[]) {
  const part = (op: PlannedChange['op']) => changes.filter((change) => change.op === op).length / records;
  if (records < MANY_OF) return { updates: false, deletes: false };
  return { updates: part('update') > MANY_PART, deletes: part('delete') > MANY_PART };
}

/** Whether a record of a sort was there at a name, and none is afterwards. */
function isLast(before: State | null, after: readonly State[], sort: (state: State) => boolean): boolean {
  if (!before?.enabled || !sort(before)) return false;
  return !after.some((row) => row.enabled && row.host === before.host && sort(row));
}

/** The name within the zone that a record points at; null: none, or one elsewhere. */
function targetIn({ type, value }: State, zone: string): string | null {
  if (!TARGETS.has(type)) return null;
  const name = (value.split(/\s+/).at(-1) ?? '').replace(/\.$/, '').toLowerCase();
  if (name === zone) return '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : null;
}

/** Whether a name has records, of its own or by a wildcard, or lies above one that has. */
function exists(host: string, names: ReadonlySet<string>): boolean {
  if (host === '@' || names.has(host)) return true;
  const labels = host.split('.');
  return labels.some((_, i) => names.has(['*', ...labels.slice(i + 1)].join('.')));
}

const WORDS: Record<GuardKey, (n: number) => string> = {
  many_updates: (n) => `${n} records are changed, more than 30 % of the domain`,
  many_deletes: (n) => `${n} records are deleted, more than 30 % of the domain`,
  apex_ns: () => 'Name servers of the zone itself are changed or taken away',
  last_mx: () => 'The last MX of a name is taken away: mail to it is not delivered any more',
  last_spf: () => 'The last SPF of a name is taken away',
  own_host: () => 'The host name of this service itself is changed',
  failover: (n) => `${n} changes are of names that rules of failover keep`,
  tunnel: (n) => `${n} changes are of names that tunnels keep`,
  ttl_floor: (n) => `${n} records get a TTL of less than ${TTL_FLOOR} seconds`,
  dangling: (n) => `${n} changes leave a target that does not exist in the zone`,
};

/** The guards of some changes, each with its words and the positions of the changes that meet it. */
export function told(changes: readonly { position: number; guards: readonly string[] }[]) {
  return GUARDS.flatMap((key) => {
    const ids = changes.flatMap(({ position, guards }) => (guards.includes(key) ? [position] : []));
    return ids.length ? [{ key, text: WORDS[key](ids.length), change_ids: ids }] : [];
  });
}
