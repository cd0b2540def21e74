import { toAscii } from '../../../dns/names.js';
import type { RemoteZone, ZoneInfo } from '../../provider.js';

/** A zone by the name that a vendor has for it: in Unicode or not, in any case, final dot optional. */
export const zoneOf = (name: string, id: string | number = name): RemoteZone => ({
  id: String(id),
  name: toAscii(name).replace(/\.$/, ''),
});

/** The one of exactly this name among zones, of which a search may give others; null when it is none of them. */
export const zoneNamed = async (name: string, zones: Promise<readonly RemoteZone[]>): Promise<RemoteZone | null> =>
  (await zones).find((zone) => zone.name === name) ?? null;

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
