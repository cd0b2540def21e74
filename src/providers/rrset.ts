import { sha256 } from '../common/hash.js';
import type { DnsRecord } from '../dns/record.js';
import { rdataOf } from '../dns/record.js';
import { asProviderError, ProviderError } from './errors.js';
import type { Change, DnsProvider, Outcome, RemoteZone } from './provider.js';

/**
 * One value of a record set. `rdata` is the provider's own text of it, so that siblings are written back as they were
 * read.
 */
export interface SetMember {
  remoteId: string;
  rdata: string;
  enabled: boolean;
}

/** All values of one name and type. An empty `members` means: the set shall not exist. The TTL belongs to the set. */
export interface RecordSet {
  /** relative to the zone, `@` for the apex */
  host: string;
  type: string;
  /** seconds */
  ttl: number;
  members: SetMember[];
}

/** The verbs of a vendor that reads and replaces whole record sets. */
export interface RrsetVerbs {
  /**
   * The set as the provider holds it at this moment (no cache), without members when it is absent.
   * @throws ProviderError
   */
  readSet(zone: RemoteZone, host: string, type: string): Promise<RecordSet>;
  /**
   * Replaces the sets, all or none. `was` holds what `readSet` returned for each: vendors that can make the write
   * conditional on it do so and return false when the set has changed meanwhile. @throws ProviderError
   */
  replaceSets(zone: RemoteZone, sets: RecordSet[], was: RecordSet[]): Promise<boolean>;
}

/**
 * Id of a record at a vendor without record ids: derived from type, host and canonical value, so it is the same at
 * every sync.
 */
export const derivedId = (record: Pick<DnsRecord, 'type' | 'host' | 'value' | 'priority'>): string =>
  `rr-${sha256([record.type, record.host, record.priority ?? '', record.value].join('\0')).slice(0, 40)}`;

const member = (record: DnsRecord): SetMember => ({
  remoteId: derivedId(record),
  rdata: rdataOf(record),
  enabled: record.enabled,
});

const ATTEMPTS = 5;

/**
 * `apply` for vendors that replace whole sets: reads each touched set at the provider, changes the one member, and
 * writes the sets back in one call, siblings and disabled members included. Callers hold the lock of every name that is
 * touched (`ProviderDefinition.lock`). When the provider refuses a list of several changes, each is tried alone, so
 * that the refused one does not take the others with it.
 */
export function fromRrsets(verbs: RrsetVerbs): DnsProvider['apply'] {
  async function together(zone: RemoteZone, changes: Change[]): Promise<Outcome[]> {
    for (let attempt = 1; ; attempt++) {
      const was = new Map<string, RecordSet>();
      const sets = new Map<string, RecordSet>();
      const touch = async (host: string, type: string): Promise<RecordSet> => {
        const key = `${type} ${host}`;
        const known = sets.get(key);
        if (known) return known;
        const read = await verbs.readSet(zone, host, type);
        const copy = { ...read, members: read.members.map((m) => ({ ...m })) };
        was.set(key, read);
        sets.set(key, copy);
        return copy;
      };
      const outcomes: Outcome[] = [];
      for (const change of changes) outcomes.push(await edit(change, touch));
      const changed = [...sets].filter(([key, set]) => JSON.stringify(set) !== JSON.stringify(was.get(key)));
      if (changed.length === 0) return outcomes;
      const before = changed.map(([key]) => was.get(key) as RecordSet);
      if (
        await verbs.replaceSets(
          zone,
          changed.map(([, set]) => set),
          before,
        )
      )
        return outcomes;
      if (attempt >= ATTEMPTS) {
        throw new ProviderError('unavailable', 'The record set kept changing at the provider; try again', false);
      }
    }
  }

  return async (zone, changes) => {
    try {
      return await together(zone, changes);
    } catch (error) {
      const failure = asProviderError(error);
      if (changes.length === 1) return [{ ok: false, error: failure, tried: true }];
      if (failure.kind !== 'rejected') return changes.map(() => ({ ok: false, error: failure, tried: true }) as const);
      const outcomes: Outcome[] = [];
      for (const change of changes) {
        outcomes.push(
          ...(await together(zone, [change]).catch((e): Outcome[] => [
            { ok: false, error: asProviderError(e), tried: true },
          ])),
        );
      }
      return outcomes;
    }
  };
}

async function edit(change: Change, touch: (host: string, type: string) => Promise<RecordSet>): Promise<Outcome> {
  if (change.op === 'delete') {
    const set = await touch(change.before.host, change.before.type);
    set.members = set.members.filter((m) => m.remoteId !== change.before.remoteId);
    return { ok: true, remoteId: null };
  }
  const target = await touch(change.after.host, change.after.type);
  const wanted = member(change.after);
  // a value that stays keeps the provider's own text of it
  const same = target.members.find((m) => m.remoteId === wanted.remoteId);
  if (same) wanted.rdata = same.rdata;
  if (change.op === 'update') {
    const source = await touch(change.before.host, change.before.type);
    const at = source.members.findIndex((m) => m.remoteId === change.before.remoteId);
    if (at < 0 && !source.members.some((m) => m.remoteId === wanted.remoteId)) {
      return {
        ok: false,
        error: new ProviderError('not_found', 'The record no longer exists at the provider; synchronise the domain'),
        tried: true,
      };
    }
    // somebody may have added the wanted value past us: it must not be there twice
    const there = target.members.some((m) => m.remoteId === wanted.remoteId && m.remoteId !== change.before.remoteId);
    if (at >= 0) source.members.splice(at, 1, ...(source === target && !there ? [wanted] : []));
  }
  const twin = target.members.find((m) => m.remoteId === wanted.remoteId);
  if (twin) twin.enabled = wanted.enabled;
  else target.members.push(wanted);
  target.ttl = change.after.ttl;
  return { ok: true, remoteId: wanted.remoteId };
}
