import type { RemoteRecord } from '../dns/record.js';

/** A cached record as plain data. */
export interface CacheRow {
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
}

/** The columns of a cached record that follow the provider. */
export type RowValues = Omit<CacheRow, 'id'>;

/** What must be done to a cache so that it equals what the provider holds. */
export interface Difference {
  insert: RowValues[];
  /** `rekeyed`: the provider gave the record another id */
  update: { id: number; host: string; rekeyed: boolean; values: RowValues }[];
  remove: { id: number; host: string }[];
}

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
  row.read_only === record.readOnly;

type Content = Pick<CacheRow, 'host' | 'type' | 'value' | 'line' | 'priority'>;
/** What makes two records the same one; then, of what is left, those whose priority was changed past us. */
const CONTENTS = [
  (r: Content) => JSON.stringify([r.host, r.type, r.value, r.line, r.priority]),
  (r: Content) => JSON.stringify([r.host, r.type, r.value, r.line]),
];

function group(map: Map<string, CacheRow[]>, key: string, row: CacheRow): void {
  const list = map.get(key);
  if (list) list.push(row);
  else map.set(key, [row]);
}

/**
 * Compares the cache of a zone with a complete list of the provider. Rows keep their ids while the provider's record is
 * the same: by its id, else by what an unfinished write meant to make of it, else by its content. Rows that exist only
 * here (disabled where the provider cannot hold such) stay.
 * @param expected of unfinished writes: row id -> remote id afterwards, null for a row that was being disabled by
 * removing it at the provider
 */
export function difference(
  rows: readonly CacheRow[],
  remote: readonly RemoteRecord[],
  expected: ReadonlyMap<number, string | null> = new Map(),
): Difference {
  const byRemoteId = new Map<string, CacheRow>();
  for (const row of rows) if (row.remote_id !== null) byRemoteId.set(row.remote_id, row);
  const update: Difference['update'] = [];
  const pair = (record: RemoteRecord, row: CacheRow) => {
    if (agrees(row, record)) return;
    const rekeyed = row.remote_id !== record.remoteId;
    update.push({ id: row.id, host: row.host, rekeyed, values: rowOf(record) });
  };
  const strangers: RemoteRecord[] = [];
  const left = new Set(rows);
  for (const record of remote) {
    const row = byRemoteId.get(record.remoteId);
    if (row && left.delete(row)) pair(record, row);
    else if (!row) strangers.push(record);
  }
  const meant = new Map<string, CacheRow>();
  for (const row of left) {
    const remoteId = expected.get(row.id);
    if (remoteId) meant.set(remoteId, row);
  }
  const take = (row: CacheRow | undefined, record: RemoteRecord): boolean => {
    if (!row || !left.delete(row)) return false;
    pair(record, row);
    return true;
  };
  let rest = strangers.filter((record) => !take(meant.get(record.remoteId), record));
  for (const content of CONTENTS) {
    const waiting = new Map<string, CacheRow[]>();
    for (const row of left) {
      // what exists only here, or soon will, can be nothing but the very same record
      const here = row.remote_id === null || expected.get(row.id) === null;
      if (!here || content === CONTENTS[0]) group(waiting, content(row), row);
    }
    rest = rest.filter((record) => !take(waiting.get(content(record))?.shift(), record));
  }
  const insert = rest.map(rowOf);
  const gone = [...left].filter((row) => row.remote_id !== null);
  for (const { id, ...row } of gone.filter((r) => expected.get(r.id) === null)) {
    update.push({ id, host: row.host, rekeyed: true, values: { ...row, remote_id: null, enabled: false } });
  }
  const remove = gone.filter((r) => expected.get(r.id) !== null).map(({ id, host }) => ({ id, host }));
  return { insert, update, remove };
}

/** A cache of fewer records may well be emptied. */
const MANY = 20;

/**
 * The rows that a list of the provider takes away, when they are so many that the list may be wrong: more than half of
 * at least twenty. What has another value of the same name and type in its place was changed, not lost.
 * @param except hosts that the service is changing itself, or may have changed
 */
export function suspiciousLoss(
  rows: readonly CacheRow[],
  { insert, remove }: Difference,
  except: ReadonlySet<string>,
): { lost: CacheRow[]; of: number } | null {
  const held = rows.filter((row) => row.remote_id !== null);
  if (held.length < MANY || remove.length <= held.length / 2) return null;
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
  return lost.length > held.length / 2 ? { lost, of: held.length } : null;
}
