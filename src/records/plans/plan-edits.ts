import type { CacheRow } from '../../cache/reconcile.js';
import type { Edit, Upsert } from '../../changes/edits/edit.js';
import type { Wish } from '../../changes/plans/plan-builder.service.js';
import { type DnsRecord, shownValue } from '../../dns/record.js';
import { due, turn } from '../../platform/common/turns.js';

/** A record that shall be there; `revives`: the id that it had. */
export type Wanted = Upsert & { revives?: number };

/**
 * The edits that bring rows to what is wanted: a record is one by its host, type, line and value, else by its id, all
 * else of it is updated.
 * @param all whether what is not wanted goes, but for the SOA, what is read-only, and the name servers of the zone
 * itself where none of them are wanted
 */
export async function toward(wanted: readonly Wanted[], rows: readonly CacheRow[], all: boolean): Promise<Wish> {
  const { edits, missing, unchanged, left } = await byContent(wanted, rows);
  for (const one of missing) edits.push(madeOf(one, left));
  if (all) edits.push(...deletions(wanted, left));
  return { edits: deletionsFirst(edits), warnings: [], unchanged };
}

/** What is there of what is wanted. @returns `missing`: what is not; `left`: the other rows, by their ids */
async function byContent(wanted: readonly Wanted[], rows: readonly CacheRow[]) {
  const contents = new Map<string, CacheRow[]>();
  for (const row of rows) {
    const alike = contents.get(contentOf(row));
    if (alike) alike.push(row);
    else contents.set(contentOf(row), [row]);
  }
  const edits: Edit[] = [];
  const missing: Wanted[] = [];
  let unchanged = 0;
  for (const one of wanted) {
    if (due()) await turn();
    const alike = contents.get(contentOf(one.record)) ?? [];
    const same = alike.findIndex(({ priority }) => priority === one.record.priority);
    const [row] = alike.splice(Math.max(same, 0), 1);
    if (!row) missing.push(one);
    else if (isAsWanted(row, one)) unchanged++;
    else edits.push({ op: 'update', id: row.id, patch: one.patch });
  }
  const left = new Map([...contents.values()].flat().map((row) => [row.id, row]));
  return { edits, missing, unchanged, left };
}

/** Makes a record that is not there: of the one with its id, where that still has its name and type. */
function madeOf({ revives, ...one }: Wanted, left: Map<number, CacheRow>): Edit {
  const row = revives === undefined ? undefined : left.get(revives);
  const { host, type, line } = one.record;
  if (row && row.host === host && row.type === type && row.line === line) {
    left.delete(row.id);
    return { op: 'update', id: row.id, patch: { ...one.patch, value: shownValue(one.record) } };
  }
  return { ...one, op: 'create', ...(revives !== undefined && !row && { revives }) };
}

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
