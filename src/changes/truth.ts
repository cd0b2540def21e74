import type { Connection } from '../accounts/provider-connections.js';
import { difference } from '../cache/reconcile.js';
import type { StoredRecord } from '../cache/record-cache.js';
import { recordKey } from '../dns/record.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { now } from '../platform/common/clock.js';
import { keyText, type SetKey } from '../providers/kit/rrsets/record-set.js';

/** readings of the zone for one list, where sets keep changing at the provider, or its answers about one differ */
const READINGS = 2;
/** ms for which a reading of the zone counts for the pieces of a list */
const FRESH_MS = 60_000;

/**
 * Whether the cache says of some record sets what the provider holds of them, asked again for one list of edits, under
 * its locks and before it is planned. Where it does not, the zone has to be read.
 */
export class Truth {
  private readings = 0;
  private known: readonly StoredRecord[] | null = null;

  /** @param isPiece of a long list: where single sets cannot be asked for, not each piece has the zone read */
  constructor(
    private readonly keys: readonly SetKey[],
    private readonly isPiece: boolean,
  ) {}

  /** @param syncedAt when the zone was read last @throws ProviderError */
  async differs(
    { provider, definition }: Connection,
    zone: OpenDomain,
    rows: readonly StoredRecord[],
    syncedAt: string | null,
  ): Promise<boolean> {
    const { types } = definition.capabilities;
    // what cannot be written is not asked for
    const keys = this.keys.filter(({ type }) => types.some((one) => one === type));
    if (!keys.length || this.readings === READINGS) return false;
    const wanted = new Set(keys.map(keyText));
    const ours = rows.filter((row) => wanted.has(keyText(row)));
    const there = await provider.recordsAt({ id: zone.remote_id, name: zone.name }, keys);
    // another list of a zone that was listed a moment ago would add nothing
    const isFresh = this.readings > 0 || (this.isPiece && (syncedAt ?? '') > now(-FRESH_MS));
    if (there ? await agree(ours, there) : isFresh) return false;
    this.known ??= rows;
    this.readings++;
    return true;
  }

  /** Those of the rows that the cache did not know of when the list came. */
  foreign(rows: readonly StoredRecord[]): StoredRecord[] {
    if (!this.known) return [];
    const known = new Set(this.known.map(recordKey));
    return rows.filter((row) => !known.has(recordKey(row)));
  }
}

async function agree(rows: readonly StoredRecord[], there: Parameters<typeof difference>[1]): Promise<boolean> {
  const { insert, update, remove } = await difference(rows, there);
  return insert.length + update.length + remove.length === 0;
}
