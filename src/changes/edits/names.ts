import type { StoredRecord } from '../../cache/record-cache.js';
import type { DnsRecord } from '../../dns/record.js';

/** A record on its way through a list of edits. */
export interface Entry {
  /** as it was before the list; null: it is new */
  readonly original: StoredRecord | null;
  /** as it is after the edits so far; null: deleted. New ones have negative ids. */
  now: StoredRecord | null;
  /** the edits that touched it, by their positions in the list */
  positions: number[];
  /** the caller has seen the original */
  guarded: boolean;
  /** its TTL goes to the others of its set */
  movesTtl: boolean;
  /** the id that a new one had before, when it was deleted */
  revives?: number;
}

/** One that is there after the edits so far. */
export type Live = Entry & { now: StoredRecord };
export const isLive = (entry: Entry | undefined): entry is Live => !!entry?.now;

/** One name: its records, those of one content, and those of one type and line. */
interface Name {
  all: Set<Entry>;
  alike: Map<string, Set<Entry>>;
  sets: Map<string, Set<Entry>>;
}

type Content = Pick<DnsRecord, 'host' | 'type' | 'value' | 'line'>;
const NONE: ReadonlySet<Entry> = new Set();
const contentOf = ({ type, value, line }: Content): string => JSON.stringify([type, line, value]);
const setOf = ({ type, line }: Pick<DnsRecord, 'type' | 'line'>): string => `${type} ${line}`;

/** The records of a working copy by their names: thousands at one name are not looked through for each edit. */
export class Names {
  private readonly names = new Map<string, Name>();

  add(entry: Entry): void {
    const row = entry.now as StoredRecord;
    let name = this.names.get(row.host);
    if (!name) {
      name = { all: new Set(), alike: new Map(), sets: new Map() };
      this.names.set(row.host, name);
    }
    name.all.add(entry);
    into(name.alike, contentOf(row), entry);
    into(name.sets, setOf(row), entry);
  }

  /** Before it becomes another one. */
  remove(entry: Entry): void {
    const row = entry.now as StoredRecord;
    const name = this.names.get(row.host);
    name?.all.delete(entry);
    name?.alike.get(contentOf(row))?.delete(entry);
    name?.sets.get(setOf(row))?.delete(entry);
  }

  /** Those of this name, type, line and value, whatever their priority. */
  alike(record: Content): ReadonlySet<Entry> {
    return this.names.get(record.host)?.alike.get(contentOf(record)) ?? NONE;
  }

  /** The record set that a record belongs to. */
  set(record: Pick<DnsRecord, 'host' | 'type' | 'line'>): ReadonlySet<Entry> {
    return this.names.get(record.host)?.sets.get(setOf(record)) ?? NONE;
  }

  /** Those that may be in the way of a record: the same one, another DNAME, and beside a CNAME all others. */
  inTheWay(record: DnsRecord, but?: Entry): Live[] {
    const { host, line } = record;
    const beside =
      record.type === 'CNAME' ? (this.names.get(host)?.all ?? NONE) : this.set({ host, line, type: 'CNAME' });
    const one = record.type === 'DNAME' ? this.set(record) : NONE;
    const out = new Set([...this.alike(record), ...beside, ...one]);
    if (but) out.delete(but);
    return [...out].filter(isLive);
  }
}

function into(map: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const there = map.get(key);
  if (there) there.add(entry);
  else map.set(key, new Set([entry]));
}
