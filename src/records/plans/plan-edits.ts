import type { CacheRow } from '../../cache/reconcile.js';
import type { Edit, Upsert } from '../../changes/edits/edit.js';
import type { Wish } from '../../changes/plans/plan-builder.service.js';
import { type DnsRecord, shownValue } from '../../dns/record.js';
import { due, turn } from '../../platform/common/turns.js';

/** A record that shall be there; `revives`: the id that it had. */
export type Wanted = Upsert & { revives?: number };

/**
 * The edits that bring rows to what is wanted: a record is one by the id that it had, else by its host, type, line and
 * value; all else of it is updated.
 * @param all whether what is not wanted goes, but for the SOA, what is read-only, and the name servers of the zone
 * itself where none of them are wanted
 */
export async function toward(wanted: readonly Wanted[], rows: readonly CacheRow[], all: boolean): Promise<Wish> {
  const { edits, missing, unchanged, left } = await byContent(await byId(wanted, rows));
  for (const one of missing) edits.push(madeOf(one, left));
  if (all) edits.push(...deletions(wanted, left));
  return { edits: deletionsFirst(edits), warnings: [], unchanged, together: true };
}

/** What is found of what is wanted. */
interface Found {
  edits: Edit[];
  unchanged: number;
  missing: Wanted[];
  /** the other rows, by their ids */
  left: Map<number, CacheRow>;
}

/**
 * What is there of what is wanted, by the ids that it had: where the row has still the name and type. So records that
 * have swapped their values get them back.
 */
async function byId(wanted: readonly Wanted[], rows: readonly CacheRow[]): Promise<Found> {
  const found: Found = { edits: [], unchanged: 0, missing: [], left: new Map(rows.map((row) => [row.id, row])) };
  for (const one of wanted) {
    if (due()) await turn();
    const row = one.revives === undefined ? undefined : found.left.get(one.revives);
    if (!row || !isOfSet(row, one)) {
      found.missing.push(one);
      continue;
    }
    found.left.delete(row.id);
    if (contentOf(row) === contentOf(one.record) && isAsWanted(row, one)) found.unchanged++;
    else
      found.edits.push({
        op: 'update',
        id: row.id,
        patch: { ...one.patch, value: shownValue(one.record) },
        source: one.source,
      });
  }
  return found;
}

/** What is there of what is missing, by its host, type, line and value. */
async function byContent({ edits, unchanged, missing: wanted, left }: Found): Promise<Found> {
  const contents = new Map<string, CacheRow[]>();
  for (const row of left.values()) {
    const alike = contents.get(contentOf(row));
    if (alike) alike.push(row);
    else contents.set(contentOf(row), [row]);
  }
  const found: Found = { edits, unchanged, missing: [], left };
  for (const one of wanted) {
    if (due()) await turn();
    const alike = contents.get(contentOf(one.record)) ?? [];
    const same = alike.findIndex(({ priority }) => priority === one.record.priority);
    const [row] = alike.splice(Math.max(same, 0), 1);
    if (row) left.delete(row.id);
    if (!row) found.missing.push(one);
    else if (isAsWanted(row, one)) found.unchanged++;
    else edits.push({ op: 'update', id: row.id, patch: one.patch, source: one.source });
  }
  return found;
}

/** Makes a record that is not there. @param left the rows that are nothing that is wanted */
const madeOf = ({ revives, ...one }: Wanted, left: ReadonlyMap<number, CacheRow>): Edit => ({
  ...one,
  op: 'create',
  ...(revives !== undefined && !left.has(revives) && { revives }),
});

/** Whether a row has the name, type and line of what is wanted. */
const isOfSet = ({ host, type, line }: CacheRow, { record }: Wanted): boolean =>
  host === record.host && type === record.type && line === record.line;

function deletions(wanted: readonly Wanted[], left: ReadonlyMap<number, CacheRow>): Edit[] {
  const isOwnNs = ({ type, host }: Pick<DnsRecord, 'type' | 'host'>) => type === 'NS' && host === '@';
  const keepsNs = !wanted.some(({ record }) => isOwnNs(record));
  const goes = (row: CacheRow) => row.type !== 'SOA' && !row.read_only && !(keepsNs && isOwnNs(row));
  return [...left.values()].filter(goes).map(({ id }) => ({ op: 'delete', id }));
}

const contentOf = ({ host, type, line, value }: Pick<DnsRecord, 'host' | 'type' | 'line' | 'value'>): string =>
  JSON.stringify([host, type, line, value]);

/** Whether nothing that was named of a record differs. */
const isAsWanted = (row: CacheRow, { patch }: Wanted): boolean =>
  Object.entries(patch).every(([key, value]) => value === undefined || row[key as keyof CacheRow] === value);

const ORDER = ['delete', 'update', 'create'];
/** What makes room comes before what takes it. */
export const deletionsFirst = (edits: readonly Edit[]): Edit[] =>
  edits.toSorted((a, b) => ORDER.indexOf(a.op) - ORDER.indexOf(b.op));
