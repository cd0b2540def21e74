import type { StoredRecord } from '../cache/record-cache.js';
import { givesWay } from '../changes/edits/record-rules.js';
import { providerOf } from '../providers/registry.js';

const setOf = ({ host, type, line }: StoredRecord): string => JSON.stringify([host, type, line]);

/**
 * The cached records that are in DNS: what gives way to others is left out where its set has one that does not.
 * @param provider their kind of provider
 * @param rows of whole sets
 */
export function served(provider: string, rows: readonly StoredRecord[]): readonly StoredRecord[] {
  const capabilities = providerOf(provider)?.capabilities;
  if (!capabilities?.yields) return rows;
  const own = new Set(rows.filter((row) => !givesWay(row, capabilities)).map(setOf));
  return rows.filter((row) => !givesWay(row, capabilities) || !own.has(setOf(row)));
}
