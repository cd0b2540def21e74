import { relativeName, toAscii } from '../../../dns/names.js';
import { DEFAULT_TTL, type RemoteRecord, ROOM } from '../../../dns/record.js';
import { sha256 } from '../../../platform/common/hash.js';
import { due, turn } from '../../../platform/common/turns.js';
import { clipped, neededList, storable } from '../http/errors.js';
import { apart } from '../records/twins.js';

/** characters of an entry that are kept: four bytes each are less than a column of MariaDB takes */
const MOST = 16_000;
/** What vendors call the parts that say which record an entry is; the first that is there counts. */
const NAMES = [
  ...['rrset_name', 'subname', 'record_name', 'subdomain', 'hostname', 'host', 'rr', 'hostrecord', 'recordname'],
  ...['ownername', 'name', 'source', 'domain'],
];
const TYPES = ['rrset_type', 'record_type', 'recordtype', 'rrtype', 'rtype', 'fieldtype', 'type'];
const IDS = ['record_id', 'recordid', 'id'];

const WHY = 'It is not understood here';

/** The text of the first of these parts that an entry has. */
function partOf(entry: unknown, names: readonly string[]): string | null {
  const parts = new Map(
    Object.entries(entry ?? {}).map(([name, part]) => [name.replace(/^@/, '').toLowerCase(), part]),
  );
  const part = names.map((name) => parts.get(name)).find((one) => one !== undefined && one !== null);
  return typeof part === 'string' || Number.isSafeInteger(part) ? String(part) : null;
}

/** Where an entry that is not understood stands; null for what cannot be read even of that. */
export function placeOf(entry: unknown, zone: string): { host: string | null; type: string | null } {
  const name = partOf(entry, NAMES);
  const bare = name === null ? null : (toAscii(name) || name.toLowerCase()).replace(/\.$/, '').slice(0, ROOM.host);
  // some say it with words before, or behind: Microsoft.Network/dnsZones/A, A (1)
  const type = partOf(entry, TYPES)?.split('/').at(-1)?.replace(/ .*/, '').toUpperCase() ?? '';
  return {
    host: bare === null ? null : storable(relativeName(bare, zone) ?? (bare || '@')),
    type: /^[A-Z][A-Z0-9_-]{0,15}$/.test(type) ? type : null,
  };
}

/** All that an entry says. */
export const textOf = (entry: unknown): string => JSON.stringify(entry) ?? '';

/** An entry as text, no longer than there is room. */
export const rawText = (entry: unknown): string => clipped(textOf(entry), MOST);

/** An id that there is room for; null for another. */
const storableId = (id: string | null): string | null =>
  typeof id === 'string' && id !== '' && id.length <= ROOM.remoteId && storable(id) === id ? id : null;

/** An id in the room that there is for one: another one by its digest, the same wherever it comes from. */
export const idInRoom = (id: string): string => storableId(id) ?? `raw-${sha256(id).slice(0, 40)}`;

/**
 * An entry that is not understood, as a record that is shown as it is and never written.
 * @param id what it is known by, where the entry does not say it
 */
export function unreadable(entry: unknown, zone: string, id: string | null = null): RemoteRecord {
  const { host, type } = placeOf(entry, zone);
  return {
    ...{ host: host ?? '@', type: type ?? 'UNKNOWN', value: rawText(entry), ttl: DEFAULT_TTL },
    ...{ priority: null, weight: null, line: 'default', proxied: false, enabled: true },
    ...{ readOnly: true, readOnlyReason: WHY },
    remoteId: id ?? storableId(partOf(entry, IDS)) ?? `raw-${sha256(textOf(entry)).slice(0, 40)}`,
  };
}

const textsIn = (part: unknown): string =>
  typeof part === 'object' && part !== null ? Object.values(part).map(textsIn).join('\n') : String(part || '');
/** A text is the same in several strings, or with blanks in it. */
const joined = (text: string): string => text.replace(/["\s]+/g, '').toLowerCase();

/** Whether a part of a record is a text, and not one that was made of parts which the entry does not have. */
export function isSound(text: unknown, entry: unknown): text is string {
  if (typeof text !== 'string') return false;
  const word = /undefined|null|NaN|\[object Object]/.exec(text)?.[0];
  return word === undefined || joined(textsIn(entry)).includes(joined(word));
}

/**
 * The records of a list, of a long one in turns. An entry that cannot be read as one is shown as it is, and takes no
 * other with it: null, too, since something stands there that nobody understands. Two entries with one id are shown,
 * and not written.
 * @param read null for what is none of the service's
 * @param typeOf the type of an entry that says it by other words than all
 * @throws ProviderError when there is no list: the answer is cut
 */
export async function readEach<T>(
  list: readonly T[],
  zone: string,
  read: (entry: T, zone: string) => RemoteRecord | null,
  typeOf?: (entry: T) => string,
): Promise<RemoteRecord[]> {
  const held: { own: T; record: RemoteRecord }[] = [];
  for (const own of neededList(list, 'records')) {
    if (due()) await turn();
    const record = tried(() => read(own, zone));
    if (record === null) continue;
    held.push({ own, record: record && isWhole(record, own) ? record : shownAs(own, zone, typeOf) });
  }
  return apart(held, 'Its id is that of another record, too');
}

/** An entry that is not understood, of the type that it says by other words than all. */
function shownAs<T>(entry: T, zone: string, typeOf: ((entry: T) => string) | undefined): RemoteRecord {
  const shown = unreadable(entry, zone);
  const type = tried(() => typeOf?.(entry));
  return isSound(type, entry) ? { ...shown, type } : shown;
}

/** What is read of an entry; nothing where a part of it is missing, or of another form. */
function tried<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const isWhole = ({ remoteId, host, type, value, ttl, priority }: RemoteRecord, entry: unknown): boolean =>
  [remoteId, host, type].every((text) => text !== '' && isSound(text, entry)) &&
  isSound(value, entry) &&
  Number.isInteger(ttl) &&
  (priority === null || Number.isInteger(priority));
