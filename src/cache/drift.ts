import { due, turn } from '../platform/common/turns.js';
import type { Notice } from '../platform/events/events.js';
import type { CacheRow, Difference, RowValues } from './reconcile.js';

/** records that a notice names */
const NAMED = 10;

type Content = Pick<
  RowValues,
  'host' | 'type' | 'value' | 'ttl' | 'line' | 'proxied' | 'priority' | 'weight' | 'enabled'
>;

/** What people would call another record: neither the provider's id for it, nor a remark. */
export const contentOf = ({ host, type, value, ttl, line, proxied, priority, weight, enabled }: Content): string =>
  JSON.stringify([host, type, value, ttl, line, proxied, priority, weight, enabled]);

const place = ({ host, type }: Pick<Content, 'host' | 'type'>): string => `${host} ${type}`;

/** What was found of others' changes so far. */
interface Drift {
  places: Set<string>;
  count: { added: number; changed: number; removed: number };
}

/**
 * What somebody else made of the records of a zone since the cache was last compared with it, as a notice; null:
 * nothing. A value in the place of another one of its name and type counts as changed. Providers write the SOA by
 * themselves.
 * @param except hosts that the service is changing itself, or may have changed
 * @param ignored whether a record is one that others keep
 */
export async function driftOf(
  domain: string,
  rows: readonly CacheRow[],
  difference: Difference,
  except: ReadonlySet<string>,
  ignored: (record: Pick<Content, 'host' | 'type'>) => boolean = () => false,
): Promise<Notice | null> {
  const { insert, update, remove } = difference;
  if (insert.length + update.length + remove.length === 0) return null;
  const byId = new Map<number, CacheRow>();
  for (const row of rows) {
    if (due()) await turn();
    byId.set(row.id, row);
  }
  const theirs = ({ host, type }: Pick<Content, 'host' | 'type'>) =>
    type !== 'SOA' && !except.has(host) && !ignored({ host, type });
  const drift: Drift = { places: new Set(), count: { added: 0, changed: 0, removed: 0 } };
  for (const { id, values } of update) {
    if (due()) await turn();
    const row = byId.get(id) as CacheRow;
    if (!theirs(row) || !theirs(values) || contentOf(row) === contentOf(values)) continue;
    drift.count.changed++;
    drift.places.add(place(values));
  }
  await countReplaced(drift, difference, byId, theirs);
  const { places, count } = drift;
  if (!places.size) return null;
  const first = await firstOf(places);
  const more = places.size - first.length;
  const names = first.join(', ') + (more ? ` and ${more} more` : '');
  const { added, changed, removed } = count;
  const text = `Records of ${domain} were changed at its provider: ${added} added, ${changed} changed, ${removed} removed (${names})`;
  return { event: 'domain.drift', text, domain, details: { ...count, names } };
}

/** Counts what is gone and what has come: one in the place of another one was changed. */
async function countReplaced(
  { places, count }: Drift,
  { insert, remove }: Difference,
  byId: ReadonlyMap<number, CacheRow>,
  theirs: (row: Pick<Content, 'host' | 'type'>) => boolean,
): Promise<void> {
  const gone = new Map<string, number>();
  for (const { id } of remove) {
    if (due()) await turn();
    const row = byId.get(id) as CacheRow;
    if (!theirs(row)) continue;
    count.removed++;
    places.add(place(row));
    gone.set(place(row), (gone.get(place(row)) ?? 0) + 1);
  }
  for (const row of insert) {
    if (due()) await turn();
    if (!theirs(row)) continue;
    places.add(place(row));
    const instead = gone.get(place(row)) ?? 0;
    gone.set(place(row), instead - 1);
    if (instead > 0) {
      count.removed--;
      count.changed++;
    } else count.added++;
  }
}

/** The first of the names, in their order. */
async function firstOf(places: ReadonlySet<string>): Promise<string[]> {
  const first: string[] = [];
  for (const name of places) {
    if (due()) await turn();
    if (first.length === NAMED && name > (first.at(-1) as string)) continue;
    first.push(name);
    first.sort().splice(NAMED);
  }
  return first;
}
