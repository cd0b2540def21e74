import { toAscii } from '../../../dns/names.js';
import type { RemoteRecord, RemoteZone, ZoneInfo } from '../../provider.js';
import { needed } from '../http/errors.js';

/**
 * A zone by the name that a vendor has for it: in Unicode or not, in any case, final dot optional.
 * @param of its id, where that is not the name, and what is told: `hidden`, it is private; `idle`, it is not in use
 * @throws ProviderError where the vendor names none, or gives it no id
 */
export function zoneOf(
  name: string,
  ...of: [id?: string | number, told?: { hidden?: boolean; idle?: boolean }]
): RemoteZone {
  const [id, { hidden = false, idle = false } = {}] = of.length ? of : [name];
  return {
    id: String(needed(id, 'id of a zone')),
    name: toAscii(needed(name, 'name of a zone')).replace(/\.$/, ''),
    ...(hidden && { private: true }),
    ...(idle && { active: false }),
  };
}

/** The one of public zones with one name that is worked in: the first that is in use, else the first. */
export const pickZone = (zones: readonly RemoteZone[]): RemoteZone | null =>
  zones.find(({ active }) => active !== false) ?? zones[0] ?? null;

/** The public one of exactly this name among zones, of which a search may give others; null when it is none of them. */
export const zoneNamed = async (name: string, zones: Promise<readonly RemoteZone[]>): Promise<RemoteZone | null> =>
  pickZone((await zones).filter((zone) => zone.name === name && !zone.private));

/** The path of the records of a zone, such as `/zones/1/records`, and of one of them by its id. */
export const recordPath =
  (zones: string, records: string) =>
  (zone: RemoteZone, record?: RemoteRecord | string): string => {
    const id = typeof record === 'object' ? record.remoteId : record;
    return [zones, encodeURIComponent(zone.id), records, ...(id ? [encodeURIComponent(id)] : [])].join('/');
  };

/** Facts of a zone; those that the vendor does not give are left out. */
export const zoneInfo = (known: Partial<ZoneInfo>): ZoneInfo => ({
  ...{ lines: [], minTtl: null, expiresAt: null, plan: null },
  ...known,
});

/**
 * The start of a day (`2026-03-01`, `2026/3/1`, with a time or not) that a vendor names; null where it names none.
 * @param time with what is behind it where the vendor is not at UTC
 */
export function dayOf(text: string | undefined, time = '00:00:00.000Z'): string | null {
  const [, year, month = '', day = ''] = /^(\d{4})[-/](\d\d?)[-/](\d\d?)(?: |$)/.exec(text ?? '') ?? [];
  const start = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${time}`;
  return Number.isNaN(Date.parse(start)) ? null : start;
}

type Line = ZoneInfo['lines'][number];

/**
 * The routing lines of a tree, each after its parent.
 * @param read one of the vendor's; `id` null: it is no line itself, only those below it are; `parent` where the vendor
 * names it, beside the tree or in its place
 */
export const linesIn = <T>(
  tree: readonly T[] | null | undefined,
  read: (one: T) => { id: string | null; name: string; below?: readonly T[] | null; parent?: string | undefined },
  above?: string,
): Line[] =>
  (tree ?? []).flatMap((one) => {
    const { id, name, below, parent = above } = read(one);
    const own = id === null ? [] : [{ id, name, ...(parent === undefined ? {} : { parent }) }];
    return [...own, ...linesIn(below, read, id ?? parent)];
  });
