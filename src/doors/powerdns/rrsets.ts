import type { StoredRecord } from '../../cache/record-cache.js';
import { absolute, fullName } from '../../dns/names.js';
import { type DnsRecord, rdataOf } from '../../dns/record.js';
import { commentsOf } from './comments.js';

/** The line that PowerDNS's sets stand for; those of others it has no word for. */
export const LINE = 'default';

/** What a record says, in PowerDNS's form: what is not understood here stays as its provider has it. */
export const contentOf = (row: Pick<DnsRecord, 'type' | 'value' | 'priority'> & { read_only?: boolean }): string =>
  row.read_only ? row.value : rdataOf(row);

/** A name of a zone, with its final dot. */
export const nameOf = (host: string, zone: string): string => absolute(fullName(host, zone));

/** A set in JSON. Its keys have the order of PowerDNS: acme.sh cuts records out between `name` and the next bracket. */
export function setJson(zone: string, rows: readonly [StoredRecord, ...StoredRecord[]]): string {
  const [{ host, type }] = rows;
  const records = rows
    .toSorted((a, b) => a.id - b.id)
    .map((row) => ({ content: contentOf(row), disabled: !row.enabled }));
  const ttl = Math.min(...rows.map((row) => row.ttl));
  return JSON.stringify({ comments: commentsOf(rows), name: nameOf(host, zone), records, ttl, type });
}

/** The sets of records that stand in the order of their hosts, each whole. */
export async function* setsOf(
  pages: AsyncIterable<readonly StoredRecord[]>,
): AsyncGenerator<[StoredRecord, ...StoredRecord[]]> {
  let host: string | undefined;
  let sets = new Map<string, [StoredRecord, ...StoredRecord[]]>();
  for await (const page of pages)
    for (const row of page) {
      if (row.line !== LINE) continue;
      if (row.host !== host) {
        yield* sets.values();
        host = row.host;
        sets = new Map();
      }
      const set = sets.get(row.type);
      if (set) set.push(row);
      else sets.set(row.type, [row]);
    }
  yield* sets.values();
}
