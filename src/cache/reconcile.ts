import { type RemoteRecord, recordKey } from '../dns/record.js';
import { due, turn } from '../platform/common/turns.js';

/** When a record ends, and by whose right; ours alone, no provider knows of it. */
export interface RecordEnd {
  /** it is deleted then; null: it stays */
  expires_at: string | null;
  /** who said so, and by which token */
  end_maker_id: number | null;
  end_maker_token_id: number | null;
  /** why it stays though that time is over: the right of who said so has ended, or a guard keeps it */
  end_hold_reason: string | null;
}

/** The end of a record that stays. */
export const NO_END: RecordEnd = {
  expires_at: null,
  end_maker_id: null,
  end_maker_token_id: null,
  end_hold_reason: null,
};

/** A cached record as plain data. States that were stored before records could end say nothing of it. */
export interface CacheRow extends Partial<RecordEnd> {
  id: number;
  remote_id: string | null;
  host: string;
  type: string;
  value: string;
  ttl: number;
  line: string;
  proxied: boolean;
  priority: number | null;
  weight: number | null;
  enabled: boolean;
  read_only: boolean;
  /** see `DnsRecord.extra` */
  extra?: string | null;
  /** why it is; nothing in states that were stored before there were reasons */
  read_only_reason?: string | null;
  remark: string;
}

/** The columns of a cached record that follow the provider, the remark only where it keeps such; and its end. */
export type RowValues = Omit<CacheRow, 'id' | 'remark'> & { remark?: string };

/** What must be done to a cache so that it equals what the provider holds. */
export interface Difference {
  insert: RowValues[];
  /** `rekeyed`: the provider gave the record another id */
  update: { id: number; host: string; rekeyed: boolean; values: RowValues & { remark: string } }[];
  remove: { id: number; host: string }[];
}

const reasonOf = ({ readOnly, readOnlyReason }: RemoteRecord): string | null =>
  readOnly ? (readOnlyReason ?? null) : null;

/** The end of a record, of whatever is known of it. */
export const endOf = (row: Partial<RecordEnd>): RecordEnd => ({
  expires_at: row.expires_at ?? null,
  end_maker_id: row.end_maker_id ?? null,
  end_maker_token_id: row.end_maker_token_id ?? null,
  end_hold_reason: row.end_hold_reason ?? null,
});

/** Whether two states of a record end at the same time. */
export const endAlike = (a: Partial<RecordEnd>, b: Partial<RecordEnd>): boolean =>
  (a.expires_at ?? null) === (b.expires_at ?? null);

export const rowOf = (record: RemoteRecord): RowValues => ({
  remote_id: record.remoteId,
  host: record.host,
  type: record.type,
  value: record.value,
  ttl: record.ttl,
  line: record.line,
  proxied: record.proxied,
  priority: record.priority,
  weight: record.weight,
  enabled: record.enabled,
  read_only: record.readOnly,
  extra: record.extra ?? null,
  read_only_reason: reasonOf(record),
  ...(record.remark !== undefined && { remark: record.remark }),
});

/**
 * Whether a row says what the provider says. Compared field by field: for a large zone, thousands of short-lived
 * objects would be made otherwise.
 */
const agrees = (row: CacheRow, record: RemoteRecord): boolean =>
  row.remote_id === record.remoteId &&
  row.host === record.host &&
  row.type === record.type &&
  row.value === record.value &&
  row.ttl === record.ttl &&
  row.line === record.line &&
  row.proxied === record.proxied &&
  row.priority === record.priority &&
  row.weight === record.weight &&
  row.enabled === record.enabled &&
  row.read_only === record.readOnly &&
  (row.extra ?? null) === (record.extra ?? null) &&
  (row.read_only_reason ?? null) === reasonOf(record) &&
  (record.remark === undefined || row.remark === record.remark);

/** What the provider may know nothing of. */
const ownOf = ({ remark, expires_at = null }: CacheRow) => ({ remark, expires_at });

type Content = Pick<CacheRow, 'host' | 'type' | 'value' | 'line' | 'priority'>;
/** What makes two records the same one; then, of what is left, those whose priority was changed at the provider. */
const CONTENTS = [recordKey, (r: Content) => JSON.stringify([r.host, r.type, r.value, r.line])] as const;

/** What writes without a known end may have made of a row. */
export interface Expectation {
  /** ids that the provider's record may have now */
  ids: string[];
  /** an id that another row had which made room for it: that record is this row now */
  takes?: string;
  /** what it may say now */
  contents: Content[];
  /** the row stays here, disabled and with these values, when the provider's record is gone */
  here: Partial<RowValues> | null;
  /** it is not known yet what the list says of it: the row is not removed */
  keep: boolean;
}

/** A text by which records are ordered: the enabled one of two with the same id comes first. */
const order = (record: RemoteRecord): string => JSON.stringify([!record.enabled, ...Object.values(rowOf(record))]);

/**
 * A list without its repetitions: pages that shift name a record twice, and where ids are derived from the content, two
 * records of one content have one id. Of those that differ in the rest it is always the same one that counts, in
 * whatever order they are listed.
 */
export function distinct(remote: readonly RemoteRecord[]): readonly RemoteRecord[] {
  const byId = new Map<string, RemoteRecord>();
  for (const record of remote) {
    const twin = byId.get(record.remoteId);
    if (!twin || order(record) < order(twin)) byId.set(record.remoteId, record);
  }
  return byId.size === remote.length ? remote : [...byId.values()];
}

/**
 * Takes a list of the provider piece by piece, and keeps of it what no row of the cache says in the same way: what is
 * left to compare by `difference`. That comes to the same, since rows and records are brought together by the
 * provider's ids before all.
 */
export class Sieve {
  /** ids of the rows that say what the provider says */
  readonly same = new Set<number>();
  /** by their ids, see `distinct`: as rows, which is what becomes of them where the cache is empty */
  private readonly left = new Map<string, RowValues>();

  /** @param rows those with the provider's ids of the piece */
  take(piece: readonly RemoteRecord[], rows: readonly CacheRow[]): void {
    const known = new Map(rows.map((row) => [row.remote_id, row]));
    for (const record of piece) {
      const row = known.get(record.remoteId);
      if (row && !this.left.has(record.remoteId) && agrees(row, record)) this.same.add(row.id);
      else this.keep(record, row && this.same.delete(row.id) ? row : this.left.get(record.remoteId));
    }
  }

  /** @param twin the same record as it was listed before */
  private keep(record: RemoteRecord, twin: RowValues | undefined): void {
    const isLater = twin && order(remoteOf(twin)) <= order(record);
    this.left.set(record.remoteId, isLater ? twin : rowOf(record));
  }

  /** What is left of the list, as rows. */
  rows(): RowValues[] {
    return [...this.left.values()];
  }
}

/** A record as the provider said it, of a row that was made of it. */
export const remoteOf = (row: RowValues): RemoteRecord => ({
  ...{ remoteId: row.remote_id ?? '', host: row.host, type: row.type, value: row.value, ttl: row.ttl, line: row.line },
  ...{ proxied: row.proxied, priority: row.priority, weight: row.weight, enabled: row.enabled },
  ...{ readOnly: row.read_only, extra: row.extra ?? null },
  ...(row.read_only_reason && { readOnlyReason: row.read_only_reason }),
  ...(row.remark !== undefined && { remark: row.remark }),
});

function group(map: Map<string, CacheRow[]>, key: string, row: CacheRow): void {
  const list = map.get(key);
  if (list) list.push(row);
  else map.set(key, [row]);
}

/** What of a list is so; a long one is looked through in turns. */
async function those<T>(list: Iterable<T>, so: (one: T) => boolean): Promise<T[]> {
  const found: T[] = [];
  for (const one of list) {
    if (due()) await turn();
    if (so(one)) found.push(one);
  }
  return found;
}

/**
 * Compares the cache of a zone with a complete list of the provider. Rows keep their ids while the provider's record is
 * the same: by its id, else by what an unfinished write meant to make of it, else by its content. Rows that exist only
 * here (disabled where the provider cannot hold such) stay. Large zones are compared in turns.
 * @param expected of unfinished writes, by the row's id
 */
export async function difference(
  rows: readonly CacheRow[],
  remote: readonly RemoteRecord[],
  expected: ReadonlyMap<number, Expectation> = new Map(),
): Promise<Difference> {
  const byRemoteId = new Map<string, CacheRow>();
  const left = new Set<CacheRow>();
  const takes = new Map<string, CacheRow>();
  for (const row of rows) {
    if (due()) await turn();
    left.add(row);
    if (row.remote_id !== null) byRemoteId.set(row.remote_id, row);
    const { takes: id } = expected.get(row.id) ?? {};
    if (id) takes.set(id, row);
  }
  const update: Difference['update'] = [];
  const take = (row: CacheRow | undefined, record: RemoteRecord): boolean => {
    if (!row || !left.delete(row)) return false;
    const rekeyed = row.remote_id !== record.remoteId;
    if (!agrees(row, record))
      update.push({ id: row.id, host: row.host, rekeyed, values: { ...ownOf(row), ...rowOf(record) } });
    return true;
  };
  let rest = await those(
    distinct(remote),
    (record) => !take(takes.get(record.remoteId) ?? byRemoteId.get(record.remoteId), record),
  );
  const meant = expected.size ? await meantBy(left, expected) : null;
  if (meant) {
    rest = await those(rest, (record) => !take(meant.get(record.remoteId), record));
    rest = await those(rest, (record) => !take(alike([meant.get(CONTENTS[0](record))], record, expected), record));
  }
  for (const content of CONTENTS) {
    if (!rest.length || !left.size) break;
    const waiting = await byContent(left, content, expected);
    rest = await those(rest, (record) => !take(alike(waiting.get(content(record)) ?? [], record, expected), record));
  }
  const insert = await rowsOf(rest);
  return { insert, update, remove: await removed(left, expected, update) };
}

async function rowsOf(records: Iterable<RemoteRecord>): Promise<RowValues[]> {
  const rows: RowValues[] = [];
  for (const record of records) {
    if (due()) await turn();
    rows.push(rowOf(record));
  }
  return rows;
}

/** What goes of the rows that a list does not have; those that stay here, disabled, are added to `update`. */
async function removed(
  rows: Iterable<CacheRow>,
  expected: ReadonlyMap<number, Expectation>,
  update: Difference['update'],
): Promise<Difference['remove']> {
  const remove: Difference['remove'] = [];
  for (const { id, ...row } of rows) {
    if (due()) await turn();
    if (row.remote_id === null) continue;
    const { here = null, keep = false } = expected.get(id) ?? {};
    if (here) {
      const values = { ...row, ...here, remote_id: null, enabled: false };
      update.push({ id, host: row.host, rekeyed: true, values });
    } else if (!keep) remove.push({ id, host: row.host });
  }
  return remove;
}

/** Rows by what unfinished writes may have made of them: the provider's ids, and contents; null: by nothing. */
async function meantBy(rows: Iterable<CacheRow>, expected: ReadonlyMap<number, Expectation>) {
  const meant = new Map<string, CacheRow>();
  for (const row of rows) {
    if (due()) await turn();
    const { ids = [], contents = [] } = expected.get(row.id) ?? {};
    for (const key of [...ids, ...contents.map(CONTENTS[0])]) meant.set(key, row);
  }
  return meant.size ? meant : null;
}

/** Rows by their content, the oldest first, in whatever order the database returned them. */
async function byContent(
  rows: Iterable<CacheRow>,
  content: (typeof CONTENTS)[number],
  expected: ReadonlyMap<number, Expectation>,
): Promise<ReadonlyMap<string, CacheRow[]>> {
  const waiting = new Map<string, CacheRow[]>();
  for (const row of rows) {
    if (due()) await turn();
    // a row that exists only here matches nothing but the very same record
    const soon = expected.get(row.id)?.here;
    if (!isHere(row, expected) || content === CONTENTS[0])
      group(waiting, content(soon ? { ...row, ...soon } : row), row);
  }
  for (const list of waiting.values()) if (list.length > 1) list.sort((a, b) => a.id - b.id);
  return waiting;
}

/** Whether a row exists only here, or soon will. */
const isHere = (row: CacheRow, expected: ReadonlyMap<number, Expectation>): boolean =>
  row.remote_id === null || Boolean(expected.get(row.id)?.here);

/**
 * Takes from these rows the first that a record may be by its content alone: one that exists only here is none that the
 * vendor keeps by itself, or that is not understood.
 */
function alike(
  rows: (CacheRow | undefined)[],
  { readOnly }: RemoteRecord,
  expected: ReadonlyMap<number, Expectation>,
): CacheRow | undefined {
  const at = rows.findIndex((row) => row && !(readOnly && isHere(row, expected)));
  return at < 0 ? undefined : rows.splice(at, 1)[0];
}

/** A cache of fewer records may well be emptied. */
const MANY = 20;

/**
 * The rows that a list of the provider takes away, when they are so many that the list may be wrong: more than half of
 * at least twenty. What has another value of the same name and type in its place was changed, not lost.
 * @param except hosts that the service is changing itself, or may have changed
 * @param more rows that stay besides these
 */
export function suspiciousLoss(
  rows: readonly CacheRow[],
  { insert, remove }: Difference,
  except: ReadonlySet<string>,
  more = 0,
): { lost: CacheRow[]; of: number } | null {
  const held = rows.filter((row) => row.remote_id !== null);
  const of = held.length + more;
  if (of < MANY || remove.length <= of / 2) return null;
  const place = ({ host, type }: Pick<CacheRow, 'host' | 'type'>) => `${type} ${host}`;
  const instead = new Map<string, number>();
  for (const row of insert) instead.set(place(row), (instead.get(place(row)) ?? 0) + 1);
  const gone = new Set(remove.map((row) => row.id));
  const lost = held.filter((row) => {
    if (!gone.has(row.id) || except.has(row.host)) return false;
    const others = instead.get(place(row)) ?? 0;
    instead.set(place(row), others - 1);
    return others <= 0;
  });
  return lost.length > of / 2 ? { lost, of } : null;
}
