import { relativeName } from '../../../dns/names.js';
import { DEFAULT_TTL, fromRdata, type RemoteRecord } from '../../../dns/record.js';
import { due, turn } from '../../../platform/common/turns.js';
import type { RemoteZone } from '../../provider.js';
import { cutShort } from '../http/errors.js';
import type { RrsetVerbs } from './from-rrsets.js';
import { derivedId, keyText, type RecordSet, type SetKey, type SetMember } from './record-set.js';

/** A record set, or a part of one, as name servers hold it. */
export interface PlainSet {
  /** absolute; final dot and case as it may be */
  name: string;
  type: string;
  /** seconds */
  ttl: number;
  /** rdata in presentation form; enabled unless said otherwise */
  values: readonly { rdata: string; enabled?: boolean; raw?: unknown }[];
  /** the values are shown, not edited: an alias, a routing policy; the texts stand for them as they are */
  readOnly?: boolean;
  line?: string;
  raw?: unknown;
}

const isSet = ({ name, type, ttl, values }: PlainSet): boolean =>
  [name, type, ...values.map((value) => value.rdata)].every((text) => typeof text === 'string') &&
  Number.isInteger(ttl);

/** The record sets of an answer. @throws ProviderError `unavailable` when it holds no list of well-formed sets */
export function plainSets<T>(list: readonly T[] | undefined, plain: (set: T) => PlainSet): PlainSet[] {
  try {
    const sets = (list as readonly T[]).map(plain);
    if (sets.every(isSet)) return sets;
  } catch {
    // said below: a part is missing, or of another form
  }
  throw cutShort('record sets');
}

/** All sets of a zone, which has a SOA. @throws ProviderError without it: what is missing would be written away */
export function withSoa(sets: PlainSet[], zone: string): PlainSet[] {
  const isSoa = (set: PlainSet) => set.type === 'SOA' && relativeName(set.name, zone) === '@' && set.values.length > 0;
  if (!sets.some(isSoa)) throw cutShort('SOA');
  return sets;
}

/**
 * Values with their ids, those outside the zone or managed by the server left out. Texts that mean the same (TXT split
 * differently, names in another case) are one record; the one that is live counts.
 */
async function membersOf(sets: Iterable<PlainSet>, zone: string): Promise<{ record: RemoteRecord; own: SetMember }[]> {
  const all = new Map<string, { record: RemoteRecord; own: SetMember }>();
  for (const { name, type, ttl, values, readOnly, line = 'default' } of sets) {
    for (const { rdata, enabled = true, raw } of values) {
      if (due()) await turn();
      const read = fromRdata(name, type, rdata, ttl, zone);
      if (!read) continue;
      const record = { ...read, enabled, line, ...(readOnly && { value: rdata, priority: null, readOnly }) };
      const remoteId = derivedId(record);
      if (all.has(remoteId) && !enabled) continue;
      const own = { remoteId, rdata, enabled, ...(raw === undefined ? {} : { raw }) };
      all.set(remoteId, { record: { ...record, remoteId }, own });
    }
  }
  return [...all.values()];
}

/** All records of record sets, those of large zones made in turns. */
export const recordsIn = async (sets: Iterable<PlainSet>, zone: string): Promise<RemoteRecord[]> =>
  (await membersOf(sets, zone)).map((member) => member.record);

/** What `readSets` answers for the keys, of all sets that were read. */
export async function setsAt(keys: readonly SetKey[], sets: Iterable<PlainSet>, zone: string): Promise<RecordSet[]> {
  const wanted = new Map(keys.map((key): [string, PlainSet[]] => [keyText(key), []]));
  for (const set of sets) {
    if (due()) await turn();
    const host = relativeName(set.name, zone);
    if (host !== null) wanted.get(keyText({ ...set, host }))?.push(set);
  }
  const found: RecordSet[] = [];
  for (const key of keys) {
    const parts = wanted.get(keyText(key)) ?? [];
    const members = (await membersOf(parts, zone)).map((member) => member.own);
    const live = parts.find((part) => part.values.some((v) => v.enabled !== false)) ?? parts[0];
    const raw = live?.raw === undefined ? {} : { raw: live.raw };
    found.push({ ...key, ttl: live?.ttl ?? DEFAULT_TTL, members, ...raw });
  }
  return found;
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
  ): RrsetVerbs['readSets'] =>
  async (zone, keys) => {
    const some = keys.length <= few && (await Promise.all(keys.map((key) => single(zone, key)))).flat();
    return setsAt(keys, some || (await whole(zone)), zone.name);
  };

/** So many sets of a whole zone take a server about as long as a call for a single name (seen on PowerDNS 4.7.3). */
const SETS_PER_CALL = 500;
/** More names are never asked for one by one. */
const MANY_NAMES = 10;

/**
 * Reads some names of a zone, one call each, or the whole zone in one: what is less work for the server by the size
 * that the zone had when it was read last. One name is always asked for alone.
 * @param some the sets at the names of the keys; null when this server cannot tell
 */
export function leastWork(
  some: (zone: RemoteZone, keys: SetKey[]) => Promise<PlainSet[] | null>,
  whole: (zone: RemoteZone) => Promise<PlainSet[]>,
) {
  const sizes = new Map<string, number>();
  return async (zone: RemoteZone, keys: SetKey[]): Promise<PlainSet[]> => {
    const names = new Set(keys.map((key) => key.host)).size;
    const few = names <= 1 || (names <= MANY_NAMES && names * SETS_PER_CALL < (sizes.get(zone.id) ?? 0));
    const found = few ? await some(zone, keys) : null;
    if (found) return found;
    const all = await whole(zone);
    sizes.set(zone.id, all.length);
    return all;
  };
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
    if (known && known.until > Date.now()) return known.sees;
    const proof = ((await find(zone, `${zone}.`)) ?? []).some((set) => set.type === 'SOA');
    proofs.set(zone, { sees: proof, until: Date.now() + PROOF_MS });
    return proof;
  };
  return async (zone: string, names: Iterable<string>): Promise<PlainSet[] | null> => {
    if (!(await sees(zone))) return null;
    const found = await Promise.all([...new Set(names)].map((name) => find(zone, name)));
    return found.some((sets) => sets === null) ? null : found.flatMap((sets) => sets ?? []);
  };
}
