import { fullName } from '../../dns/names.js';
import { DEFAULT_TTL, fromRdata } from '../../dns/record.js';
import { DISABLED, type Entry, type EntryRecord, parseEntries } from '../../dns/zonefile-entries.js';
import { due, turn } from '../../platform/common/turns.js';
import { ProviderError } from '../kit/http/errors.js';
import { derivedId, type RecordSet, type SetKey, type SetMember } from '../kit/rrsets/record-set.js';

/** Changes of a parsed master file, of a large one in turns. Entries are shared and never changed. */

/** May stand beside a CNAME (RFC 2181 section 10.1, RFC 4035 section 2.5). */
const BESIDE_CNAME = new Set(['CNAME', 'RRSIG', 'NSEC', 'KEY']);

const reject = (message: string): never => {
  throw new ProviderError('rejected', message, false);
};

const ownerOf = (host: string, zone: string): string => `${fullName(host, zone)}.`;

/** The records of the entries at some owners. */
async function recordsAt(entries: readonly Entry[], owners: ReadonlySet<string>): Promise<Map<string, EntryRecord[]>> {
  const found = new Map([...owners].map((owner): [string, EntryRecord[]] => [owner, []]));
  for (const { record } of entries) {
    if (due()) await turn();
    if (record) found.get(record.owner)?.push(record);
  }
  return found;
}

/** The sets of these names and types, disabled members included. */
export async function setsIn(entries: readonly Entry[], zone: string, keys: readonly SetKey[]): Promise<RecordSet[]> {
  const found = await recordsAt(entries, new Set(keys.map(({ host }) => ownerOf(host, zone))));
  const sets: RecordSet[] = [];
  for (const { host, type } of keys) {
    const records = (found.get(ownerOf(host, zone)) ?? []).filter((record) => record.type === type);
    const ttl = (records.find((r) => r.enabled) ?? records[0])?.ttl ?? DEFAULT_TTL;
    const members: SetMember[] = [];
    for (const r of records) {
      if (due()) await turn();
      const record = fromRdata(r.owner, r.type, r.rdata, r.ttl, zone);
      if (record) members.push({ remoteId: derivedId(record), rdata: r.rdata, enabled: r.enabled });
    }
    sets.push({ host, type, ttl, members });
  }
  return sets;
}

const setOf = (owner: string, type: string) => `${type} ${owner}`;
const memberOf = ({ rdata, enabled }: Pick<SetMember, 'rdata' | 'enabled'>) => `${enabled} ${rdata}`;

/** A set as it shall be, without what is there already. */
class Missing {
  private readonly left = new Map<string, SetMember[]>();

  constructor(private readonly set: RecordSet) {
    for (const member of set.members) push(this.left, memberOf(member), member);
  }

  /** Whether an entry stays: it is one of the members, and no other entry is that one. */
  takes(record: EntryRecord): boolean {
    return record.ttl === this.set.ttl && this.left.get(memberOf(record))?.shift() !== undefined;
  }

  get members(): SetMember[] {
    const left = new Set([...this.left.values()].flat());
    return this.set.members.filter((member) => left.has(member));
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/**
 * Makes sets hold what is wanted. Lines of members that stay as they are stay as they are; new ones follow the set's
 * last line, else the owner's last line, else they end the file.
 */
async function replaceAll(entries: Entry[], zone: string, sets: RecordSet[], lineEnd: string): Promise<Entry[]> {
  const missing = new Map(sets.map((set) => [setOf(ownerOf(set.host, zone), set.type), new Missing(set)]));
  const owners = new Set(sets.map(({ host }) => ownerOf(host, zone)));
  const last = new Map<string, number>();
  const gone = new Set<Entry>();
  for (const [i, entry] of entries.entries()) {
    if (due()) await turn();
    const { record } = entry;
    if (!record || !owners.has(record.owner)) continue;
    const of = setOf(record.owner, record.type);
    last.set(of, i).set(record.owner, i);
    if (missing.get(of)?.takes(record) === false) gone.add(entry);
  }
  const added = new Map<Entry | undefined, Entry[]>();
  for (const { host, type, ttl } of sets) {
    const owner = ownerOf(host, zone);
    const of = setOf(owner, type);
    const after = entries[last.get(of) ?? last.get(owner) ?? entries.length - 1];
    for (const member of (missing.get(of) as Missing).members) {
      if (due()) await turn();
      push(added, after, newEntry({ ...member, owner, type, ttl }, zone, lineEnd));
    }
  }
  return spliced(entries, gone, added);
}

/** The entries without those that are gone, each followed by those that are added after it. */
async function spliced(
  entries: readonly Entry[],
  gone: ReadonlySet<Entry>,
  added: ReadonlyMap<Entry | undefined, Entry[]>,
): Promise<Entry[]> {
  const edited: Entry[] = [];
  for (const entry of entries) {
    if (due()) await turn();
    if (!gone.has(entry)) edited.push(entry);
    const more = added.get(entry);
    if (more) edited.push(...more);
  }
  return edited;
}

/** @throws ProviderError `rejected` for what nobody could read again */
function newEntry(
  { owner, type, ttl, rdata, enabled }: Pick<EntryRecord, 'owner' | 'type' | 'ttl' | 'rdata' | 'enabled'>,
  zone: string,
  lineEnd: string,
): Entry {
  const text = `${enabled ? '' : DISABLED}${owner} ${ttl} IN ${type} ${rdata}${lineEnd}`;
  const [entry, more] = parseEntries(text, zone).entries;
  if (!entry?.record || more) reject(`${owner} ${type} cannot be written into a zone file`);
  return { text, record: entry?.record ?? null };
}

/**
 * The entries as they stand in the file that they are written to: their texts, joined, are the file. A line that takes
 * owner or TTL from the line before gets its own where another line has come between.
 */
export async function standing(entries: readonly Entry[], lineEnd: string): Promise<Entry[]> {
  let owner: string | null = null;
  let ttl: number | null = null;
  const out: Entry[] = [];
  for (const entry of entries) {
    if (due()) await turn();
    endLast(out, lineEnd);
    const { record } = entry;
    if (!record?.enabled) {
      out.push(entry);
      continue;
    }
    const { inherits } = record;
    const needsOwner = inherits.owner && owner !== record.owner;
    const needsTtl = inherits.ttl && ttl !== record.ttl;
    out.push(needsOwner || needsTtl ? named(entry.text, record, needsOwner, needsTtl) : entry);
    owner = record.owner;
    if (!inherits.ttl || needsTtl) ttl = record.ttl;
  }
  return out;
}

/** The file's last line may lack its end, and another one is to follow. */
function endLast(out: Entry[], lineEnd: string): void {
  const last = out.at(-1);
  if (last && !last.text.endsWith('\n')) out[out.length - 1] = { ...last, text: last.text + lineEnd };
}

/** An entry with its owner, its TTL or both in its own text. */
function named(text: string, record: EntryRecord, owner: boolean, ttl: boolean): Entry {
  const { ownerEnd, inherits, serial } = record;
  const name = owner ? record.owner : text.slice(0, ownerEnd);
  const head = `${name} ${ttl ? `${record.ttl} ` : ''}`;
  const moved = head.length - ownerEnd;
  return {
    text: head + text.slice(ownerEnd),
    record: {
      ...record,
      inherits: { owner: inherits.owner && !owner, ttl: inherits.ttl && !ttl },
      // of blanks that stand for the owner there is one more
      ownerEnd: name.length + (inherits.owner && !owner ? 1 : 0),
      ...(serial && { serial: { start: serial.start + moved, end: serial.end + moved } }),
    },
  };
}

/** characters that are made octets at once */
const BLOCK = 64 * 1024;

/** The file that entries are, as they stand in it. */
export async function bytesOf(entries: readonly Entry[]): Promise<Buffer> {
  const blocks: Buffer[] = [];
  let block = '';
  for (const { text } of entries) {
    if (due()) await turn();
    block += text;
    if (block.length < BLOCK) continue;
    blocks.push(Buffer.from(block, 'latin1'));
    block = '';
  }
  return Buffer.concat([...blocks, Buffer.from(block, 'latin1')]);
}

/** The one SOA at the apex. @throws ProviderError when there is none (the file is cut short) or more than one */
export function soaOf(entries: readonly Entry[], zone: string): Entry {
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
async function assertLoadable(entries: Entry[], zone: string, sets: RecordSet[]): Promise<void> {
  const found = await recordsAt(entries, new Set(sets.map(({ host }) => ownerOf(host, zone))));
  const typesOf = new Map<string, string[]>();
  for (const [owner, records] of found)
    typesOf.set(
      owner,
      records.filter((record) => record.enabled).map((record) => record.type),
    );
  for (const { host, type } of sets) {
    const owner = ownerOf(host, zone);
    const types = typesOf.get(owner) ?? [];
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
 * The entries with the sets replaced and the serial raised, as they stand in the file.
 * @param now decides the date in the serial (UTC)
 * @throws ProviderError `rejected` when name servers would refuse the result
 */
export async function replaceSetsIn(
  entries: readonly Entry[],
  zone: string,
  sets: RecordSet[],
  lineEnd: string,
  now: Date,
): Promise<Entry[]> {
  const soa = soaOf(entries, zone);
  const today = Number(now.toISOString().slice(0, 10).replaceAll('-', ''));
  const raised = entries.map((entry) => (entry === soa ? withSerial(entry, today) : entry));
  const edited = await replaceAll(raised, zone, sets, lineEnd);
  await assertLoadable(edited, zone, sets);
  return standing(edited, lineEnd);
}
