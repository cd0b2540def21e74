import { createHash } from 'node:crypto';
import type { StoredRecord } from '../../cache/record-cache.js';

/** What a list was worked out on is not there any more. */
export class Stale extends Error {}

type Row = Pick<
  StoredRecord,
  'host' | 'type' | 'line' | 'value' | 'priority' | 'ttl' | 'weight' | 'proxied' | 'enabled' | 'remote_id'
>;

/** What stands at some names, as a short text: neither the order of records counts, nor what only we know of them. */
export function baseOf(rows: readonly Row[]): string {
  const words = rows.flatMap(({ host, type, line, value, priority, ttl, weight, proxied, enabled, remote_id }) =>
    type === 'SOA'
      ? []
      : [JSON.stringify([host, type, line, value, priority, ttl, weight, proxied, enabled, remote_id === null])],
  );
  return createHash('sha256').update(words.toSorted().join('\n')).digest('hex');
}

/** Rows by their names. */
export function byHost<T extends { host: string }>(rows: readonly T[]): ReadonlyMap<string, T[]> {
  const found = new Map<string, T[]>();
  for (const row of rows) {
    const list = found.get(row.host);
    if (list) list.push(row);
    else found.set(row.host, [row]);
  }
  return found;
}

/** The rows at some names, of rows by their names. */
export const rowsAt = <T>(hosts: readonly string[], rows: ReadonlyMap<string, T[]>): T[] =>
  hosts.flatMap((host) => rows.get(host) ?? []);

/** What a list was worked out on: names, and what stood there; of records whose remark it changes, that, too. */
export type Base = readonly {
  hosts: readonly string[];
  base: string;
  remarks: readonly { id: number; remark: string }[];
}[];

/** @throws Stale where something else stands there now */
export function assertStands(base: Base, rows: readonly StoredRecord[]): void {
  const now = byHost(rows);
  for (const one of base) {
    const there = rowsAt(one.hosts, now);
    const isNoted = ({ id, remark }: { id: number; remark: string }) =>
      there.find((row) => row.id === id)?.remark === remark;
    if (baseOf(there) !== one.base || !one.remarks.every(isNoted)) throw new Stale();
  }
}
