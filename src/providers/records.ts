import { type DnsRecord, type RemoteRecord, sameRecord } from '../dns/record.js';
import { byHost } from './chunks.js';
import { asProviderError, ProviderError } from './errors.js';
import type { Change, DnsProvider, Outcome, RemoteZone } from './provider.js';
import { endsList, failed, notTried, reading, timeIsOver, work } from './work.js';

/** Fields of a record that an update changes. */
export type Difference = ReadonlySet<keyof DnsRecord>;

/** What a write answers: the record's id from now on (some vendors change it), or the record as it is now. */
type Written = string | RemoteRecord;

/** The verbs of a vendor whose records have ids of their own. */
export interface RecordVerbs {
  /** @throws ProviderError */
  createRecord(zone: RemoteZone, record: DnsRecord): Promise<Written>;
  /**
   * Where the API takes a part of a record, only the fields in `difference` are sent: the others may have been changed
   * at the provider. @throws ProviderError `not_found` when there is no such record
   */
  updateRecord(zone: RemoteZone, before: RemoteRecord, after: DnsRecord, difference: Difference): Promise<Written>;
  /** @throws ProviderError `not_found` when it is gone, which is a success */
  deleteRecord(zone: RemoteZone, before: RemoteRecord): Promise<unknown>;
  /**
   * One record by its id; null, or `not_found`, when it is gone. For changes that are guarded.
   * @throws ProviderError
   */
  readRecord?(zone: RemoteZone, before: RemoteRecord): Promise<RemoteRecord | null>;
  /** Records of a name and type, and maybe others. For what exists already. @throws ProviderError */
  findRecords?(zone: RemoteZone, wanted: DnsRecord): Promise<RemoteRecord[]>;
  /** whether a refused creation means that the record exists; left out: each may */
  isDuplicate?(error: ProviderError): boolean;
}

const FIELDS = ['host', 'type', 'value', 'ttl', 'priority', 'weight', 'line', 'proxied', 'enabled'] as const;

/** In what two states of a record differ; proxied ones have no TTL of their own, and not every vendor keeps remarks. */
function difference(a: DnsRecord, b: DnsRecord): Set<keyof DnsRecord> {
  const all = new Set<keyof DnsRecord>(FIELDS.filter((field) => a[field] !== b[field]));
  if (a.proxied && b.proxied) all.delete('ttl');
  if (a.remark !== undefined && b.remark !== undefined && a.remark !== b.remark) all.add('remark');
  return all;
}

/**
 * The part of a vendor's record that has to be sent when some fields change, for APIs that keep what is left out.
 * @param sources of which fields each of the vendor's follows; those that are not named hold the value
 */
export const changedPart = (
  whole: object,
  changed: Difference,
  sources: Record<string, readonly (keyof DnsRecord)[]>,
) =>
  Object.fromEntries(
    Object.entries(whole).filter(([key]) =>
      (sources[key] ?? ['value', 'priority']).some((field) => changed.has(field)),
    ),
  );

const isGone = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'not_found';

/**
 * `apply` for vendors with ids per record: walks the verbs, of each host deletions first; a change that fails leaves
 * the others alone, unless they would fail, too, or the list is atomic. What is gone need not be deleted, what exists
 * need not be created, and of a guarded change the record is read before, where the vendor can read one.
 * @param parallel hosts that may be written at once, where the vendor allows that
 */
export function fromRecords(verbs: RecordVerbs, { parallel = 1 } = {}): DnsProvider['apply'] {
  return (zone, changes, options) =>
    work(options?.deadline, async () => {
      const outcomes: Outcome[] = new Array(changes.length);
      const hosts = byHost(changes);
      let stop: Outcome | undefined;
      const worker = async () => {
        for (let host = hosts.shift(); host; host = hosts.shift()) {
          for (const i of host) {
            if (timeIsOver()) stop ??= notTried();
            const outcome: Outcome = stop ?? (await one(verbs, zone, changes[i] as Change));
            outcomes[i] = outcome;
            if (!outcome.ok && (options?.atomic || endsList(outcome.error))) stop ??= notTried(outcome.error);
          }
        }
      };
      await Promise.all(Array.from({ length: options?.atomic ? 1 : parallel }, worker));
      return outcomes;
    });
}

async function one(verbs: RecordVerbs, zone: RemoteZone, change: Change): Promise<Outcome> {
  try {
    return await work(undefined, async () => {
      if (change.op === 'create') return done(await create(verbs, zone, change.after), change.after);
      const known = change.guarded ? await guard(verbs, zone, change) : null;
      if (known) return known;
      if (change.op === 'update') return done(await update(verbs, zone, change.before, change.after), change.after);
      await verbs.deleteRecord(zone, change.before).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
      return { ok: true, remoteId: null };
    });
  } catch (error) {
    return failed(asProviderError(error));
  }
}

function done(written: Written, after: DnsRecord): Outcome {
  if (typeof written === 'string') return { ok: true, remoteId: written };
  const { remoteId, readOnly: _readOnly, ...held } = written;
  return { ok: true, remoteId, ...(difference(held, after).size ? { held } : {}) };
}

/** Looks whether the record still is what was seen. @returns an outcome where nothing is to be written */
async function guard(verbs: RecordVerbs, zone: RemoteZone, change: Change & { op: 'update' | 'delete' }) {
  if (!verbs.readRecord) return null;
  const found = await reading(async () => verbs.readRecord?.(zone, change.before) ?? null).catch((error) => {
    if (isGone(error)) return null;
    throw error;
  });
  if (!found && change.op === 'delete') return { ok: true, remoteId: null } as const;
  if (found && !difference(found, change.before).size) return null;
  // the answer to the same wish was lost: it was carried out
  if (found && change.op === 'update' && !difference(found, change.after).size) return done(found, change.after);
  const error = new ProviderError('changed', 'The record was changed at the provider since it was read', false);
  error.found = found;
  return failed(error);
}

async function create(verbs: RecordVerbs, zone: RemoteZone, record: DnsRecord): Promise<Written> {
  try {
    return await verbs.createRecord(zone, record);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'rejected') throw error;
    if (verbs.isDuplicate && !verbs.isDuplicate(error)) throw error;
    const twin = await twinOf(verbs, zone, record);
    if (!twin) throw error;
    const fields = difference(twin, record);
    return fields.size ? verbs.updateRecord(zone, twin, record, fields) : twin.remoteId;
  }
}

async function update(verbs: RecordVerbs, zone: RemoteZone, before: RemoteRecord, after: DnsRecord): Promise<Written> {
  const fields = difference(before, after);
  if (fields.size === 0) return before.remoteId;
  try {
    return await verbs.updateRecord(zone, before, after, fields);
  } catch (error) {
    // where a change gives a record another id: the answer to the same wish was lost
    const twin = isGone(error) ? await twinOf(verbs, zone, after) : null;
    if (!twin || difference(twin, after).size) throw error;
    return twin.remoteId;
  }
}

/** The record that is the same one at the provider; null when there is none, or nobody can tell. */
const twinOf = async (verbs: RecordVerbs, zone: RemoteZone, record: DnsRecord): Promise<RemoteRecord | null> =>
  ((await verbs.findRecords?.(zone, record).catch(() => [])) ?? []).find((r) => sameRecord(r, record)) ?? null;
