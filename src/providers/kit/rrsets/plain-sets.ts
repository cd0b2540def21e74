import { isDeepStrictEqual } from 'node:util';
import { fullName, relativeName } from '../../../dns/names.js';
import { DEFAULT_TTL, fromRdata, isKnownType, MANAGED_TYPES, type RemoteRecord } from '../../../dns/record.js';
import { wallMs } from '../../../platform/common/clock.js';
import { due, sifted, turn } from '../../../platform/common/turns.js';
import type { RemoteZone } from '../../provider.js';
import { cutShort, neededList } from '../http/errors.js';
import { isSound, placeOf, rawText, textOf, unreadable } from '../values/unreadable.js';
import { derivedId, extraText, filled, keyText, type RecordSet, type SetKey, type SetMember } from './record-set.js';

/** A record set, or a part of one, as name servers hold it. */
export interface PlainSet {
  /** absolute; final dot and case as it may be */
  name: string;
  type: string;
  /** seconds */
  ttl: number;
  /** enabled unless said otherwise */
  values: readonly PlainValue[];
  /** why its values are only shown, as texts: an alias, a routing policy; in words that begin with "It" */
  readOnly?: string | undefined;
  line?: string;
  /** left out: what `extra` has */
  raw?: unknown;
  /** see `RecordSet` */
  extra?: object | undefined;
  /** an entry that is not understood, as it came; of the rest of the set only its place counts then, if there is one */
  entry?: unknown;
}

interface PlainValue {
  /** in presentation form */
  rdata: string;
  enabled?: boolean;
  /** left out: what `extra` has */
  raw?: unknown;
  /** what the vendor keeps with the value besides its text and state; left out: nothing, or what `raw` has */
  own?: unknown;
  /** fields of `raw` that stay with the record where it moves, or is disabled by being taken away here */
  extra?: object | undefined;
  /** it is not understood, and `rdata` is the vendor's own form of it */
  unread?: boolean;
}

/**
 * The record sets of an answer, those of a long one made in turns. One without values is not understood, unless it says
 * why it is only shown: what it holds would be written over.
 * @throws ProviderError `unavailable` when it holds no list of entries
 */
export async function plainSets<T>(list: readonly T[] | undefined, plain: (set: T) => PlainSet): Promise<PlainSet[]> {
  const sets: PlainSet[] = [];
  for (const entry of neededList(list, 'record sets')) {
    if (due()) await turn();
    sets.push(plainSet(entry, plain));
  }
  return sets;
}

/** One of them. */
export function plainSet<T>(entry: T, plain: (set: T) => PlainSet): PlainSet {
  try {
    const set = plain(entry);
    const isPlaced = [set.name, set.type].every((text) => isSound(text, entry));
    if (isPlaced && Number.isInteger(set.ttl) && (set.values.length > 0 || set.readOnly !== undefined))
      return { ...set, values: set.values.map((value) => readable(value, entry)) };
    if (isPlaced && set.name && set.type) return unread(entry, set);
  } catch {
    // a part is missing, or of another form
  }
  return unread(entry);
}

const unread = (entry: unknown, { name, type, line }: Partial<PlainSet> = {}): PlainSet => ({
  ...{ name: name ?? '', type: type ?? '', ttl: DEFAULT_TTL, values: [], entry },
  ...(line === undefined ? {} : { line }),
});

const readable = (value: PlainValue, entry: unknown): PlainValue =>
  isSound(value.rdata, entry) ? value : { ...value, rdata: rawText(value.raw ?? entry), unread: true };

/** Whether it is a SOA that can be read: only such a one proves that an answer is whole. */
const provesZone = ({ type, values }: PlainSet): boolean =>
  type === 'SOA' && values.length > 0 && values.every(({ unread }) => !unread);

const isSoaOf = (zone: string) => (set: PlainSet) => provesZone(set) && relativeName(set.name, zone) === '@';

/** All sets of a zone, which has a SOA. @throws ProviderError without it: what is missing would be written away */
export function withSoa(sets: PlainSet[], zone: string): PlainSet[] {
  if (!sets.some(isSoaOf(zone))) throw cutShort('SOA');
  return sets;
}

/** The same in pieces, no set being in two of them: it is known with the last one alone. @throws ProviderError */
export async function* withSoaInPieces(pieces: AsyncIterable<PlainSet[]>, zone: string): AsyncGenerator<PlainSet[]> {
  let isWhole = false;
  for await (const sets of pieces) {
    isWhole ||= sets.some(isSoaOf(zone));
    yield sets;
  }
  if (!isWhole) throw cutShort('SOA');
}

interface Member {
  record: RemoteRecord;
  own: SetMember;
}

/** A value with its id; null where it is outside of the zone or managed by the server. */
function memberOf(
  { name, type, ttl, readOnly, line = 'default', extra }: PlainSet,
  { rdata, enabled = true, extra: kept, raw = kept, unread }: PlainValue,
  zone: string,
): Member | null {
  const read = fromRdata(name, type, rdata, ttl, zone);
  if (!read) return null;
  const why = readOnly ?? (unread ? UNREAD : undefined);
  const shown = why !== undefined && { value: rdata, priority: null, readOnly: true, readOnlyReason: why };
  const own = filled(kept);
  const more = extraText(own, filled(extra));
  const record = { ...read, enabled, line, ...shown, ...(more && { extra: more }) };
  const remoteId = derivedId(record);
  const member = { remoteId, rdata, enabled, ...(raw === undefined ? {} : { raw }), ...(own && { extra: own }) };
  return { record: { ...record, remoteId }, own: member };
}

const UNREAD = 'It has a part that is not understood here';
const TWICE = 'It holds a value several times, and the provider counts each of them';
const APART = 'It holds a value several times, each with settings of its own';

/** Why nothing is written of sets that are not understood whole, by the text of their key. */
type Reasons = Map<string, string>;

/**
 * Values with their ids, those outside the zone or managed by the server left out. Texts that mean the same (TXT split
 * differently, names in another case) are one record. Those that the vendor tells apart stay apart, and their set is
 * not written.
 */
async function membersOf(sets: Iterable<PlainSet>, zone: string): Promise<{ members: Member[]; reasons: Reasons }> {
  const all = new Map<string, Placed>();
  const reasons: Reasons = new Map();
  for (const set of sets) {
    for (const value of set.values) {
      if (due()) await turn();
      const member = memberOf(set, value, zone);
      if (member) place({ ...member, value, set }, all, reasons);
    }
  }
  return { members: [...all.values()], reasons };
}

type Placed = Member & { value: PlainValue; set: PlainSet };

/** Puts a value beside those that were read before it. */
function place(member: Placed, all: Map<string, Placed>, reasons: Reasons): void {
  const { record, value, set } = member;
  const hold = (why: string) => reasons.set(keyText(record), reasons.get(keyText(record)) ?? why);
  if (record.readOnly && isKnownType(set.type)) hold(record.readOnlyReason ?? UNREAD);
  const twin = all.get(record.remoteId);
  const why = twin && whyApart(twin, member);
  if (why !== undefined) {
    hold(why);
    const apart = renamed(member, all);
    all.set(apart.record.remoteId, { ...apart, value, set });
  } else if (!twin) all.set(record.remoteId, member);
}

/**
 * Why the vendor counts two values that mean the same apart; undefined: it does not. Of one set they are one as long as
 * they are written differently, of two entries as long as nothing at all differs in these.
 */
function whyApart(twin: Placed, one: Placed): string | undefined {
  if (!isDeepStrictEqual(settingsOf(twin), settingsOf(one))) return APART;
  const isSame = twin.set === one.set ? twin.own.rdata !== one.own.rdata : isDeepStrictEqual(rawOf(twin), rawOf(one));
  return isSame ? undefined : TWICE;
}

const settingsOf = ({ own: { enabled }, value, set }: Placed) => [enabled, value.own ?? {}, set.ttl, set.extra];
const rawOf = ({ own, value, set }: Placed) => [own.rdata, value.own ?? value.raw, set.raw];

/** A value beside its twin, under an id of its own, shown as its text. */
function renamed({ record, own }: Member, taken: ReadonlyMap<string, unknown>): Member {
  const value = own.rdata;
  for (let i = 1; ; i++) {
    const remoteId = derivedId({ ...record, value: [value, 'twin', i].join('\0') });
    if (taken.has(remoteId)) continue;
    return { record: { ...record, value, priority: null, remoteId }, own: { ...own, remoteId } };
  }
}

/** All records of record sets, those of large zones made in turns. */
export async function recordsIn(sets: Iterable<PlainSet>, zone: string): Promise<RemoteRecord[]> {
  const all = [...sets];
  const { members, reasons } = await membersOf(all, zone);
  const others = unreadIn(all, zone);
  for (const record of others) reasons.set(keyText(record), record.readOnlyReason ?? UNREAD);
  const records = members.map(({ record }) => {
    const why = reasons.size ? reasons.get(keyText(record)) : undefined;
    return why === undefined ? record : { readOnlyReason: why, ...record, readOnly: true };
  });
  return [...records, ...others];
}

/** The same of sets that come in pieces, no set being in two of them. */
export async function* recordsInPieces(
  pieces: AsyncIterable<PlainSet[]>,
  zone: string,
): AsyncGenerator<RemoteRecord[]> {
  for await (const sets of pieces) yield await recordsIn(sets, zone);
}

/** The entries that are not understood; those of types that the server maintains are never shown. */
const unreadIn = (sets: readonly PlainSet[], zone: string): RemoteRecord[] =>
  sets.flatMap((set) => {
    const shown = set.entry !== undefined && unreadable(set.entry, zone);
    const place = shown && placeIn(set, zone);
    if (!place || MANAGED_TYPES.has(place.type ?? '')) return [];
    const { host, type, line } = place;
    const record = { ...shown, ...(host !== null && { host }), ...(type !== null && { type }), ...(line && { line }) };
    // of all that the entry says: its text may be clipped
    return { ...record, remoteId: derivedId({ ...record, value: textOf(set.entry) }) };
  });

interface Place {
  host: string | null;
  type: string | null;
  line?: string | undefined;
}

/** Where an entry that is not understood stands, as far as that is known; null outside of the zone. */
function placeIn({ name, type, line, entry }: PlainSet, zone: string): Place | null {
  if (!name) return placeOf(entry, zone);
  const host = relativeName(name, zone);
  return host === null ? null : { host, type, line: line ?? 'default' };
}

/**
 * What `readSets` answers for the keys, of all sets that were read. An entry of which neither name nor type is known is
 * none of them where other names are listed, too: an answer about these keys alone would be about one of them.
 * @param whole the whole zone is written with them, that entry included
 */
export async function setsAt(
  keys: readonly SetKey[],
  sets: Iterable<PlainSet>,
  zone: string,
  whole = false,
): Promise<RecordSet[]> {
  const wanted = new Map(keys.map((key): [string, PlainSet[]] => [keyText(key), []]));
  const hosts = new Set(keys.map(({ host }) => host));
  const others: PlainSet[] = [];
  let isList = false;
  for (const set of sets) {
    if (due()) await turn();
    const host = relativeName(set.name, zone);
    isList ||= host !== null && !hosts.has(host);
    if (set.entry !== undefined) others.push(set);
    else if (host !== null) wanted.get(keyText({ ...set, host }))?.push(set);
  }
  const near = whole || !isList ? others : others.filter((set) => hasPlace(set, zone));
  const found: RecordSet[] = [];
  for (const key of keys) {
    if (due()) await turn();
    found.push(await setAt(key, wanted.get(keyText(key)) ?? [], near, zone));
  }
  return found;
}

/** @param others the entries of the zone that are not understood */
async function setAt(key: SetKey, parts: PlainSet[], others: readonly PlainSet[], zone: string): Promise<RecordSet> {
  const { members, reasons } = await membersOf(parts, zone);
  const entries = others.filter((set) => mayBeOf(set, key, zone));
  const shown = unreadIn(entries, zone).filter(({ type, host }) => type === key.type && host === key.host);
  const live = parts.find((part) => part.values.some((v) => v.enabled !== false)) ?? parts[0];
  const why = parts.find((part) => part.readOnly !== undefined)?.readOnly ?? reasons.get(keyText(key));
  const ttl = live?.ttl ?? DEFAULT_TTL;
  const [raw = live?.extra, extra] = [live?.raw, filled(live?.extra)];
  const readOnly = why ?? (entries.length ? UNREAD : undefined);
  return {
    ...{ ...key, ttl },
    members: [
      ...members.map(({ record, own }) => (record.ttl === ttl ? own : { ...own, ttl: record.ttl })),
      ...shown.map(({ remoteId, value }) => ({ remoteId, rdata: value, enabled: true })),
    ],
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(extra && { extra }),
    ...(raw === undefined ? {} : { raw }),
  };
}

/** Whether anything is known of where an entry stands that is not understood. */
function hasPlace(set: PlainSet, zone: string): boolean {
  const place = placeIn(set, zone);
  return place !== null && (place.host ?? place.type) !== null;
}

/** Whether an entry that is not understood may be of a set, by what can be read of its place. */
function mayBeOf(set: PlainSet, key: SetKey, zone: string): boolean {
  const place = placeIn(set, zone);
  if (!place) return false;
  const { host, type, line } = place;
  const isThere = (host ?? key.host) === key.host && (type ?? key.type) === key.type;
  return isThere && (line ?? key.line ?? 'default') === (key.line ?? 'default');
}

/**
 * `readSets` of a vendor that answers one set, or the whole zone.
 * @param few up to so many sets are read one by one
 */
export const fewOrAll =
  (
    few: number,
    single: (zone: RemoteZone, key: SetKey) => Promise<PlainSet[]>,
    whole: (zone: RemoteZone) => Promise<PlainSet[]>,
  ) =>
  async (zone: RemoteZone, keys: readonly SetKey[]): Promise<RecordSet[]> => {
    const some = keys.length <= few && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
    return setsAt(keys, some || (await whole(zone)), zone.name);
  };

/** So many sets of a whole zone take a server about as long as a call for a single name (seen on PowerDNS 4.7.3). */
const SETS_PER_CALL = 500;
/** More names are never asked for one by one. */
const MANY_NAMES = 10;

/** Whether the entry of this name can be left out before more is made of it; asked once for each entry. */
export type IsFar = (name: unknown) => boolean;

/**
 * Reads some names of a zone, one call each, or the whole zone in one: what is less work for the server by the size
 * that the zone had when it was read last. One name is always asked for alone.
 * @param some the sets at the names of the keys; null when this server cannot tell
 * @param whole all sets of the zone, in pieces, but for those that it leaves out as far
 */
export function leastWork(
  some: (zone: RemoteZone, keys: SetKey[]) => Promise<PlainSet[] | null>,
  whole: (zone: RemoteZone, isFar: IsFar) => AsyncIterable<PlainSet[]>,
) {
  const sizes = new Map<string, number>();
  return async (zone: RemoteZone, keys: SetKey[]): Promise<PlainSet[]> => {
    const names = new Set(keys.map((key) => key.host)).size;
    const few = names <= 1 || (names <= MANY_NAMES && names * SETS_PER_CALL < (sizes.get(zone.id) ?? 0));
    const found = few ? await some(zone, keys) : null;
    if (found) return found;
    const { near, size } = await nearTo(new Set(keys.map(({ host }) => host)), whole, zone);
    sizes.set(zone.id, size);
    return near;
  };
}

/** Of all sets of a zone those at some names, with what is not understood, and how many there are in all. */
async function nearTo(hosts: ReadonlySet<string>, whole: Parameters<typeof leastWork>[1], zone: RemoteZone) {
  const near: PlainSet[] = [];
  let [size, isList] = [0, false];
  const isOther = otherThan(hosts, zone.name);
  let far: string | null = null;
  const isFar = (name: unknown) => {
    if (!isOther(name)) return false;
    far = name;
    size++;
    return true;
  };
  const isNear = (set: PlainSet) => {
    const isElsewhere = set.entry === undefined && !hosts.has(relativeName(set.name, zone.name) ?? '');
    // one set of another name says to `setsAt` that there are such
    const isFirst = isElsewhere && !isList;
    isList ||= isElsewhere;
    return !isElsewhere || isFirst;
  };
  for await (const sets of whole(zone, isFar)) {
    size += sets.length;
    near.push(...(await sifted(sets, isNear)));
  }
  // the same of those that were left out
  if (far !== null) near.push({ name: far, type: '', ttl: DEFAULT_TTL, values: [] });
  return { near, size };
}

/** Tells names below the apex, in lower case and with a final dot, that are none of some hosts; not all others. */
function otherThan(hosts: ReadonlySet<string>, zone: string) {
  const names = new Set([...hosts].map((host) => `${fullName(host, zone)}.`));
  const below = `.${zone}.`;
  return (name: unknown): name is string =>
    typeof name === 'string' && name.endsWith(below) && !names.has(name) && /^[!-@[-~]+$/.test(name);
}

/** ms after which it is proved anew that the search of a server can, or cannot, see a zone */
const PROOF_MS = 60_000;

/**
 * Reads names of a zone by a search whose empty answer proves nothing: where nothing is found at a name, the SOA of the
 * zone has to be found by the same search.
 * @param search all records at an absolute name, final dot, of the zone; null where the answer may be cut
 * @returns null when the search cannot be trusted for these names
 */
export function provenSearch(search: (zone: string, name: string) => Promise<PlainSet[] | null>) {
  // one that fails, or answers what is no list of records, tells nothing either
  const find = (zone: string, name: string) => search(zone, name).catch(() => null);
  const proofs = new Map<string, { sees: boolean; until: number }>();
  const sees = async (zone: string): Promise<boolean> => {
    const known = proofs.get(zone);
    if (known && known.until > wallMs()) return known.sees;
    const proof = ((await find(zone, `${zone}.`)) ?? []).some(provesZone);
    proofs.set(zone, { sees: proof, until: wallMs() + PROOF_MS });
    return proof;
  };
  return async (zone: string, names: Iterable<string>): Promise<PlainSet[] | null> => {
    if (!(await sees(zone))) return null;
    const found = await Promise.all([...new Set(names)].map((name) => find(zone, name)));
    return found.some((sets) => sets === null) ? null : found.flatMap((sets) => sets ?? []);
  };
}
