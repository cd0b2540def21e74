import { fullName } from '../../dns/names.js';
import { DEFAULT_TTL, fromRdata } from '../../dns/record.js';
import { DISABLED, type Entry, type EntryRecord } from '../../dns/zonefile-entries.js';
import { ProviderError } from '../errors.js';
import { derivedId, type RecordSet } from '../rrset.js';

/** Changes of a parsed master file. */

/** May stand beside a CNAME (RFC 2181 section 10.1, RFC 4035 section 2.5). */
const BESIDE_CNAME = new Set(['CNAME', 'RRSIG', 'NSEC', 'KEY']);

const reject = (message: string): never => {
  throw new ProviderError('rejected', message, false);
};

const ownerOf = (host: string, zone: string): string => `${fullName(host, zone)}.`;

/** Entries of records by owner. */
export type ByOwner = ReadonlyMap<string, readonly EntryRecord[]>;

/** Where to find the records of a name without looking at all of them. */
export function byOwner(entries: readonly Entry[]): ByOwner {
  const owners = new Map<string, EntryRecord[]>();
  for (const { record } of entries) {
    if (!record) continue;
    const list = owners.get(record.owner);
    if (list) list.push(record);
    else owners.set(record.owner, [record]);
  }
  return owners;
}

/** The set of a name and type, disabled members included. */
export function setIn(owners: ByOwner, zone: string, host: string, type: string): RecordSet {
  const records = (owners.get(ownerOf(host, zone)) ?? []).filter((record) => record.type === type);
  const ttl = (records.find((r) => r.enabled) ?? records[0])?.ttl ?? DEFAULT_TTL;
  const members = records.flatMap((r) => {
    const record = fromRdata(r.owner, r.type, r.rdata, r.ttl, zone);
    return record ? [{ remoteId: derivedId(record), rdata: r.rdata, enabled: r.enabled }] : [];
  });
  return { host, type, ttl, members };
}

/**
 * Makes sets hold what is wanted. Lines of members that stay as they are stay as they are; new ones follow the set's
 * last line, else the owner's last line, else they end the file.
 */
function replaceAll(entries: Entry[], zone: string, sets: RecordSet[], lineEnd: string): Entry[] {
  const key = (owner: string, type: string) => `${type} ${owner}`;
  const missing = new Map(
    sets.map((set) => [key(ownerOf(set.host, zone), set.type), { ttl: set.ttl, members: [...set.members] }]),
  );
  const last = new Map<string, number>();
  const kept = entries.map(({ record }, i) => {
    if (!record) return true;
    const of = key(record.owner, record.type);
    last.set(of, i).set(record.owner, i);
    const set = missing.get(of);
    if (!set) return true;
    const at = set.members.findIndex((m) => m.rdata === record.rdata && m.enabled === record.enabled);
    if (at < 0 || record.ttl !== set.ttl) return false;
    set.members.splice(at, 1);
    return true;
  });
  const added = new Map<number, Entry[]>();
  for (const { host, type } of sets) {
    const owner = ownerOf(host, zone);
    const of = key(owner, type);
    const after = last.get(of) ?? last.get(owner) ?? entries.length - 1;
    const set = missing.get(of);
    const lines = (set?.members ?? []).map((m) => newEntry({ ...m, owner, type, ttl: set?.ttl ?? 0 }, lineEnd));
    added.set(after, [...(added.get(after) ?? []), ...lines]);
  }
  return entries.flatMap((entry, i) => [...(kept[i] ? [entry] : []), ...(added.get(i) ?? [])]);
}

function newEntry(
  { owner, type, ttl, rdata, enabled }: Pick<EntryRecord, 'owner' | 'type' | 'ttl' | 'rdata' | 'enabled'>,
  lineEnd: string,
): Entry {
  return {
    text: `${enabled ? '' : DISABLED}${owner} ${ttl} IN ${type} ${rdata}${lineEnd}`,
    record: { owner, type, ttl, rdata, enabled, inherits: { owner: false, ttl: false }, ownerEnd: owner.length },
  };
}

/**
 * The file's text. A line that takes owner or TTL from the line before gets its own where another line has come
 * between.
 */
export function printEntries(entries: Entry[], lineEnd: string): string {
  let owner: string | null = null;
  let ttl: number | null = null;
  let out = '';
  for (const { text, record } of entries) {
    if (out !== '' && !out.endsWith('\n')) out += lineEnd;
    if (!record?.enabled) {
      out += text;
      continue;
    }
    const { inherits, ownerEnd } = record;
    const needsOwner = inherits.owner && owner !== record.owner;
    const needsTtl = inherits.ttl && ttl !== record.ttl;
    if (needsOwner || needsTtl) {
      const name = needsOwner ? record.owner : text.slice(0, ownerEnd);
      out += `${name} ${needsTtl ? `${record.ttl} ` : ''}${text.slice(ownerEnd)}`;
    } else out += text;
    owner = record.owner;
    if (!inherits.ttl || needsTtl) ttl = record.ttl;
  }
  return out;
}

/** The one SOA at the apex. @throws ProviderError when there is none (the file is cut short) or more than one */
export function soaOf(entries: Entry[], zone: string): Entry {
  const found = entries.filter((entry) => entry.record?.enabled && entry.record.type === 'SOA');
  if (!found[0]) {
    throw new ProviderError('unavailable', `The file of ${zone} has no SOA: it is empty or cut short`, false);
  }
  if (found.length > 1 || found[0].record?.owner !== `${zone}.`) reject(`The file of ${zone} has a SOA too many`);
  return found[0];
}

/**
 * The serial after `current`: `YYYYMMDDnn` where it looks like one, else one more; always greater in the sense of RFC
 * 1982, never 0.
 * @param today as YYYYMMDD
 */
export function nextSerial(current: number, today: number): number {
  const dated = /^(19[89]\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d\d$/.test(String(current));
  if (dated && today * 100 > current) return today * 100;
  return (current + 1) % 2 ** 32 || 1;
}

function withSerial(entry: Entry, today: number): Entry {
  const serial = entry.record?.serial;
  if (!entry.record || !serial) return entry;
  const next = String(nextSerial(Number(entry.text.slice(serial.start, serial.end)), today));
  const rdata = entry.record.rdata.replace(/^(\S+ \S+ )\d+/, `$1${next}`);
  const text = entry.text.slice(0, serial.start) + next + entry.text.slice(serial.end);
  return { text, record: { ...entry.record, rdata, serial: { start: serial.start, end: serial.start + next.length } } };
}

/** @throws ProviderError `rejected` when the touched names hold what no name server would load */
function assertLoadable(owners: ByOwner, zone: string, sets: RecordSet[]): void {
  for (const { host, type } of sets) {
    const owner = ownerOf(host, zone);
    const types = (owners.get(owner) ?? []).filter((record) => record.enabled).map((record) => record.type);
    const cnames = types.filter((t) => t === 'CNAME').length;
    if (cnames > 1) reject(`${owner} can have one CNAME only`);
    if (cnames && types.some((t) => !BESIDE_CNAME.has(t))) reject(`${owner} cannot have a CNAME beside other records`);
    // BIND refuses to load the whole zone (RFC 4592 section 4.2 leaves its meaning open)
    if (host.startsWith('*') && types.includes('NS'))
      reject(`${owner} is a wildcard, which cannot be delegated with NS`);
    if (host === '@' && type === 'NS' && !types.includes('NS'))
      reject('The zone must keep at least one NS at its apex');
  }
}

/**
 * The entries with the sets replaced and the serial raised.
 * @param now decides the date in the serial (UTC)
 * @throws ProviderError `rejected` when name servers would refuse the result
 */
export function replaceSetsIn(entries: Entry[], zone: string, sets: RecordSet[], lineEnd: string, now: Date): Entry[] {
  const soa = soaOf(entries, zone);
  const today = Number(now.toISOString().slice(0, 10).replaceAll('-', ''));
  const raised = entries.map((entry) => (entry === soa ? withSerial(entry, today) : entry));
  const edited = replaceAll(raised, zone, sets, lineEnd);
  assertLoadable(byOwner(edited), zone, sets);
  return edited;
}
