import { newRecord } from '../../src/changes/edits/record-rules.js';
import { SIGNER_TYPES, shownValue } from '../../src/dns/record.js';
import { printDocument } from '../../src/documents/print-document.js';
import type { Capabilities, ProviderDefinition } from '../../src/providers/provider.js';
import type { Dice } from './dice.js';
import { TTLS, VALUES } from './edits.js';
import type { Told } from './grounds.js';

/** The names whose records plans make so. All others of a zone are a second writer's, or its server's. */
export const SCOPE = ['@', 'm*', '**.m*', 'c*', 'd*', 'xn--*'];
export const isInScope = ({ host, type }: Pick<Told, 'host' | 'type'>): boolean =>
  type !== 'SOA' && (host === '@' || /^(.*\.)?m[^.]*$|^(c|d|xn--)[^.]*$/.test(host));

/** Records by host, type and value, as plans tell them apart. */
export type State = ReadonlyMap<string, Told>;
const keyOf = ({ host, type, value }: Told): string => JSON.stringify([host, type, value]);
const setOf = ({ host, type }: Told): string => `${type} ${host}`;
export const stateOf = (records: Iterable<Told>): State =>
  new Map([...records].filter(isInScope).map((record) => [keyOf(record), record]));
export const without = (state: State, record: Told): State =>
  new Map([...state].filter(([key]) => key !== keyOf(record)));

const ALONE = new Set(['CNAME', 'DNAME']);
const isApexNs = ({ host, type }: Told): boolean => host === '@' && type === 'NS';

/** What may be made of a zone, and of the state before where the new one is merged into it. */
interface Soil {
  definition: ProviderDefinition;
  zone: string;
  /** names whose CNAME, or its absence, and whose DNAME stay */
  stays?: State;
}

/** A state that DNS and every provider here take, of up to so many records. */
export function randomState(dice: Dice, { definition, zone, stays }: Soil, size: number): State {
  const state = new Map<string, Told>();
  const add = (ttls: Map<string, number>, host: string, type: string) => {
    const fields = VALUES[type]?.(dice);
    if (!fields || !definition.capabilities.types.some((one) => one === type)) return;
    const ttl = ttls.get(`${type} ${host}`) ?? dice.of(TTLS);
    ttls.set(`${type} ${host}`, ttl);
    const enabled = !dice.chance(0.1);
    const remark = dice.chance(0.15) ? `remark ${dice.int(1, 99)}` : '';
    const record = newRecord(definition, zone, { host, type, ...(fields as { value: string }), ttl, enabled });
    const { priority, proxied } = record;
    const told = { host: record.host, type, value: shownValue(record), priority, ttl, enabled, proxied, remark };
    if (ALONE.has(type) && [...state.values()].some((one) => one.type === type && one.host === told.host)) return;
    if (!state.has(keyOf(told))) state.set(keyOf(told), told);
  };
  const ttls = new Map<string, number>();
  const there = [...(stays?.values() ?? [])];
  const isCname = Array.from({ length: 9 }, (_, i) => {
    const types = there.filter(({ host }) => host === `c${i}`).map(({ type }) => type);
    return types.length ? types.includes('CNAME') : dice.chance(0.5);
  });
  for (let tries = 0; state.size < size && tries < size * 4; tries++) add(ttls, ...placeFor(dice, isCname));
  if (dice.chance(0.2)) for (let i = 0; i < 2; i++) add(ttls, '@', 'NS');
  // nothing answers for a zone without a name server
  if ([...state.values()].filter(isApexNs).every(({ enabled }) => !enabled))
    for (const [key, record] of state) if (isApexNs(record)) state.delete(key);
  for (const [key, record] of state) if (lacksNs(record, state)) state.delete(key);
  return state;
}

/** A DS stands beside a delegation. */
const lacksNs = ({ type, host }: Told, state: State): boolean =>
  type === 'DS' && ![...state.values()].some((one) => one.type === 'NS' && one.host === host && one.enabled);

/** Without those that documents leave aside. */
const PLAIN = Object.keys(VALUES).filter(
  (type) => !ALONE.has(type) && type !== 'NS' && type !== 'DS' && !SIGNER_TYPES.has(type),
);

/** A name and a type; what a name is for follows from it, where records of some types go together with few others. */
function placeFor(dice: Dice, isCname: readonly boolean[]): [host: string, type: string] {
  const kind = dice.next();
  if (kind < 0.06) return [`d${dice.int(1, 4)}`, 'NS'];
  if (kind < 0.08) return [`d${dice.int(1, 4)}`, 'DS'];
  if (kind < 0.1) return [`dn${dice.int(1, 2)}`, 'DNAME'];
  if (kind < 0.2) {
    const n = dice.int(1, 8);
    return [`c${n}`, isCname[n] ? 'CNAME' : 'A'];
  }
  const type = dice.chance(0.4) ? dice.of(['A', 'AAAA', 'TXT', 'MX']) : dice.of(PLAIN);
  if (type === 'SRV') return [`_sip._tcp.m${dice.int(1, 9)}`, type];
  return [dice.chance(0.05) ? '@' : dice.of(['bücher', '*.m1', `m${dice.int(1, 30)}`, `x.m${dice.int(1, 9)}`]), type];
}

/**
 * What a target makes of a state. `sync`: exactly that, but for the name servers of the zone where none are named;
 * `merge`: all else stays, but for the TTL of a set. A remark that is not named stays.
 */
export function targetOf(
  before: State,
  wanted: State,
  mode: 'sync' | 'merge',
  { toggle }: Pick<Capabilities, 'toggle'>,
): State {
  const isHeld = ({ enabled }: Told) => enabled || toggle === 'record';
  const ttls = new Map([...wanted.values()].filter(isHeld).map((record) => [setOf(record), record.ttl]));
  const namesNs = [...wanted.values()].some(isApexNs);
  const after = new Map<string, Told>();
  for (const [key, record] of before) {
    if (mode === 'sync' && !(isApexNs(record) && !namesNs)) continue;
    const ttl = (isHeld(record) && ttls.get(setOf(record))) || record.ttl;
    after.set(key, { ...record, ttl });
  }
  for (const [key, record] of wanted)
    after.set(key, { ...record, remark: record.remark || (before.get(key)?.remark ?? '') });
  return after;
}

/** Whether what is merged fits beside what is there: a CNAME and a DNAME have no company, and a DS has. */
export function fitsBeside(before: State, wanted: State): boolean {
  const all = targetOf(before, wanted, 'merge', { toggle: 'record' });
  const names = new Map<string, Told[]>();
  for (const record of all.values()) names.set(record.host, [...(names.get(record.host) ?? []), record]);
  if ([...all.values()].some((record) => lacksNs(record, all))) return false;
  return [...names.values()].every((list) => {
    const of = (type: string) => list.filter((record) => record.type === type).length;
    return of('DNAME') < 2 && (!of('CNAME') || list.length === 1);
  });
}

const bodyOf = ({ priority, remark, proxied: _, ...record }: Told) => ({
  ...record,
  ...(priority !== null && { priority }),
  ...(remark && { remark }),
});

/** The ways of saying what is wanted. */
export const WAYS = ['records', 'json', 'zonefile'] as const;

/** A state as a target of a plan. @returns `wanted`: what it says of the state; a zone file has no remarks */
export async function bodyFor(
  way: (typeof WAYS)[number],
  state: State,
  { definition, zone }: Soil,
): Promise<{ body: object; wanted: State }> {
  const list = [...state.values()];
  if (way === 'records') return { body: { records: list.map(bodyOf) }, wanted: state };
  if (way === 'json') {
    const text = JSON.stringify(list.map(bodyOf));
    return { body: { document: { format: 'json', text } }, wanted: state };
  }
  const pages = async function* () {
    yield list.map((told) => ({ ...newRecord(definition, zone, bodyOf(told)), remark: '', readOnly: false }));
  };
  let text = '';
  for await (const piece of printDocument('zonefile', zone, pages())) text += piece;
  const wanted = new Map([...state].map(([key, record]) => [key, { ...record, remark: '' }]));
  return { body: { document: { format: 'zonefile', text } }, wanted };
}
