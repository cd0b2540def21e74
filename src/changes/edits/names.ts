import type { StoredRecord } from '../../cache/record-cache.js';
import type { DnsRecord } from '../../dns/record.js';
import { keyText } from '../../providers/kit/rrsets/record-set.js';

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

type Content = Pick<DnsRecord, 'host' | 'type' | 'value' | 'line'>;
const NONE: ReadonlySet<Entry> = new Set();
const contentOf = ({ host, type, value, line }: Content): string => JSON.stringify([host, type, line, value]);

/** Entries by a key. Most keys have one: a set of its own for each, of a long list, would be megabytes. */
class Index {
  private readonly entries = new Map<string, Entry | Set<Entry>>();

  get(key: string): ReadonlySet<Entry> {
    const there = this.entries.get(key);
    if (!there) return NONE;
    return there instanceof Set ? there : new Set([there]);
  }

  add(key: string, entry: Entry): void {
    const there = this.entries.get(key);
    if (!there) this.entries.set(key, entry);
    else if (there instanceof Set) there.add(entry);
    else if (there !== entry) this.entries.set(key, new Set([there, entry]));
  }

  remove(key: string, entry: Entry): void {
    const there = this.entries.get(key);
    if (there instanceof Set) there.delete(entry);
    else if (there === entry) this.entries.delete(key);
  }
}

/** The records of a working copy by their names: thousands at one name are not looked through for each edit. */
export class Names {
  private readonly byHost = new Index();
  private readonly byContent = new Index();
  private readonly bySet = new Index();

  add(entry: Entry): void {
    const row = entry.now as StoredRecord;
    this.byHost.add(row.host, entry);
    this.byContent.add(contentOf(row), entry);
    this.bySet.add(keyText(row), entry);
  }

  /** Before it becomes another one. */
  remove(entry: Entry): void {
    const row = entry.now as StoredRecord;
    this.byHost.remove(row.host, entry);
    this.byContent.remove(contentOf(row), entry);
    this.bySet.remove(keyText(row), entry);
  }

  /** Those of this name, type, line and value, whatever their priority. */
  alike(record: Content): ReadonlySet<Entry> {
    return this.byContent.get(contentOf(record));
  }

  /** The record set that a record belongs to. */
  set(record: Omit<Content, 'value'>): ReadonlySet<Entry> {
    return this.bySet.get(keyText(record));
  }

  /**
   * Those that may be in the way of a record: the same one, another DNAME, beside a CNAME all others, and beside a null
   * MX all other MX.
   */
  inTheWay(record: DnsRecord, but?: Entry): Live[] {
    const { host, line } = record;
    const beside = record.type === 'CNAME' ? this.byHost.get(host) : this.set({ host, line, type: 'CNAME' });
    const isAlone = record.type === 'DNAME' || (record.type === 'MX' && record.value === '.');
    const one = isAlone ? this.set(record) : NONE;
    const none = record.type === 'MX' ? this.alike({ ...record, value: '.' }) : NONE;
    const out = new Set([...this.alike(record), ...beside, ...one, ...none]);
    if (but) out.delete(but);
    return [...out].filter(isLive);
  }
}
