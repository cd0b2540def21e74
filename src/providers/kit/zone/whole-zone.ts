import { relativeName } from '../../../dns/names.js';
import type { DnsRecord } from '../../../dns/record.js';
import { due, turn } from '../../../platform/common/turns.js';
import type { DnsProvider, RemoteZone } from '../../provider.js';
import { asProviderError } from '../http/errors.js';
import { fromRrsets, type RrsetVerbs } from '../rrsets/from-rrsets.js';
import { type PlainSet, plainSet, plainSets, recordsIn, setsAt } from '../rrsets/plain-sets.js';
import { keyText, type RecordSet, type SetKey, type SetMember } from '../rrsets/record-set.js';

/** One record as name servers hold it; the parts are those of `PlainSet`. */
interface PlainEntry extends Pick<PlainSet, 'name' | 'type' | 'ttl'> {
  rdata: string;
  /** fields that stay with the record wherever it goes */
  extra?: object;
}

/**
 * The verbs of a vendor of which one write replaces the whole zone.
 * @template E one record in the vendor's own form
 * @template Z what one reading gave: all entries, and what else a write has to repeat
 */
interface ZoneVerbs<E, Z extends { entries: readonly E[] }> {
  /**
   * All entries of a zone, those of unknown types included: what is not read would be deleted by the next write.
   * @throws ProviderError for anything less than all
   */
  readZone(zone: RemoteZone): Promise<Z>;
  plain(entry: E, zone: RemoteZone): PlainEntry;
  /**
   * The entry of a value that is new, or has another TTL; the member's `raw` is the entry whose place it takes, or what
   * stayed with it.
   */
  entry(set: RecordSet, member: SetMember): E;
  /** @param sets those that change, as they shall be; their entries are in `whole` already @throws ProviderError */
  writeZone(zone: RemoteZone, whole: Z, sets: readonly RecordSet[]): Promise<unknown>;
  /** Throws for what the vendor cannot hold (see `refusing`), best `NotBegun`. */
  judge?(record: DnsRecord): void;
}

const asSet = ({ rdata, extra, ...set }: PlainEntry, raw?: unknown): PlainSet => ({
  ...set,
  values: [{ rdata, raw, extra }],
});

const ids = (set: RecordSet | undefined): string =>
  JSON.stringify(set?.members.map((member) => member.remoteId).toSorted());

/**
 * `listRecords` and `apply` of such a vendor. What does not change is written back as it was read, entry by entry, each
 * at its position. Such vendors may drop entries and still report success, so each write is followed by a read: a
 * set that is not there as it was written is a failure of its changes.
 */
export function fromZone<E, Z extends { entries: readonly E[] }>(
  verbs: ZoneVerbs<E, Z>,
): Pick<DnsProvider, 'listRecords' | 'apply'> {
  const setsOf = ({ entries }: Z, zone: RemoteZone): Promise<PlainSet[]> =>
    plainSets(entries, (entry) => asSet(verbs.plain(entry, zone), entry));
  const at = async (keys: readonly SetKey[], read: Z, zone: RemoteZone) =>
    setsAt(keys, await setsOf(read, zone), zone.name, true);

  /** For one list of changes: what is written is made of what its sets were read from. */
  function once(): RrsetVerbs {
    let read: Z;
    return {
      judge: (record) => verbs.judge?.(record),
      async readSets(zone, keys) {
        read = await verbs.readZone(zone);
        return at(keys, read, zone);
      },
      async replaceSets(zone, sets, was) {
        const entries = await edited(verbs, zone, read.entries, sets, was);
        await verbs.writeZone(zone, { ...read, entries }, sets);
        try {
          const now = await at(sets, await verbs.readZone(zone), zone);
          const missing = sets.filter((set, i) => ids(set) !== ids(now[i]));
          return missing.length ? missing : true;
        } catch (error) {
          throw asProviderError(error).applied(true);
        }
      },
    };
  }

  return {
    listRecords: async (zone) => recordsIn(await setsOf(await verbs.readZone(zone), zone), zone.name),
    apply: (zone, changes, options) => fromRrsets(once())(zone, changes, options),
  };
}

/** The entries of a zone with sets as they shall be: what stays or is changed at its position, new ones at the end. */
async function edited<E>(
  verbs: Pick<ZoneVerbs<E, never>, 'plain' | 'entry'>,
  zone: RemoteZone,
  read: readonly E[],
  sets: readonly RecordSet[],
  was: readonly RecordSet[],
): Promise<E[]> {
  const keys = new Set(sets.map(keyText));
  const touched = (entry: E) => {
    const { name, type, entry: unread } = plainSet(entry, (one) => asSet(verbs.plain(one, zone)));
    const host = relativeName(name, zone.name);
    // of a set with a part that is not understood nothing is written
    return unread === undefined && host !== null && keys.has(keyText({ host, type }));
  };
  const made = sets.flatMap((set, i) =>
    set.members.map((member): [unknown, E] => {
      const entry = asRead<E>(member, set, was[i]) ?? verbs.entry({ ...set, ttl: member.ttl ?? set.ttl }, member);
      return [member.raw, entry];
    }),
  );
  const places = new Map(made);
  const held: ReadonlySet<unknown> = new Set(read);
  const entries: E[] = [];
  for (const entry of read) {
    if (due()) await turn();
    if (!touched(entry) || places.has(entry)) entries.push(places.get(entry) ?? entry);
  }
  entries.push(...made.flatMap(([raw, entry]) => (held.has(raw) ? [] : [entry])));
  return entries;
}

/** The vendor's own entry of a value that stays as it is. */
function asRead<E>(
  { remoteId, rdata, raw, ttl }: SetMember,
  set: RecordSet,
  was: RecordSet | undefined,
): E | undefined {
  const isIt = (old: SetMember) => old.remoteId === remoteId && old.rdata === rdata && old.ttl === ttl;
  const stays = set.ttl === was?.ttl && was.members.some(isIt);
  return stays ? (raw as E | undefined) : undefined;
}
