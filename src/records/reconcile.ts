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

/** Whether a row says what the provider says. Compared field by field: for a large zone, thousands of short-lived objects would be made otherwise. */
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

const content = (r: Pick<CacheRow, 'host' | 'type' | 'value' | 'line'>) =>
  JSON.stringify([r.host, r.type, r.value, r.line]);

/**
 * Compares the cache of a zone with a complete list of the provider. Rows keep their ids while the provider's record is the same: by its id, else
 * by what an unfinished write meant to make of it, else by its content. Rows that exist only here (disabled where the provider cannot hold such) stay.
 * @param expected of unfinished writes: row id -> remote id afterwards, null for a row that was being disabled by removing it at the provider
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
  const byContent = new Map<string, CacheRow[]>();
  for (const row of left) byContent.set(content(row), [...(byContent.get(content(row)) ?? []), row]);

  const insert: RowValues[] = [];
  for (const record of strangers) {
    const twin = meant.get(record.remoteId) ?? byContent.get(content(record))?.shift();
    if (twin && left.delete(twin)) pair(record, twin);
    else insert.push(rowOf(record));
  }
  const gone = [...left].filter((row) => row.remote_id !== null);
  for (const { id, ...row } of gone.filter((r) => expected.get(r.id) === null)) {
    update.push({ id, host: row.host, rekeyed: true, values: { ...row, remote_id: null, enabled: false } });
  }
  const remove = gone.filter((r) => expected.get(r.id) !== null).map(({ id, host }) => ({ id, host }));
  return { insert, update, remove };
}
