import { type DnsRecord, type RemoteRecord, sameRecord } from '../dns/record.js';
import { byHost } from './chunks.js';
import { asProviderError, cutShort, NotBegun, ProviderError } from './errors.js';
import type { Change, DnsProvider, Outcome, RemoteZone } from './provider.js';
import { endsList, failed, notTried, reading, timeIsOver, work } from './work.js';

/** Fields of a record that an update changes. */
export type Difference = ReadonlySet<keyof DnsRecord>;

/** What a write answers: the record's id from now on (some vendors change it), or the record as it is now. */
export type Written = string | RemoteRecord;

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
  /**
   * Several changes in one call that is carried out whole or not at all: what each wrote, in their order, null of a
   * deletion. Where it refuses, they are tried one by one, so that the refused one does not take the others with it.
   * @throws ProviderError
   */
  batch?(zone: RemoteZone, changes: readonly Change[]): Promise<readonly (Written | null)[]>;
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

/**
 * A write of a record at a vendor whose refusals do not tell what is wrong: where the record is gone, that is what is.
 * @throws ProviderError `not_found` when `look` does not find it
 */
export async function orGone<T>(write: () => Promise<T>, look: () => Promise<unknown>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'rejected') throw error;
    const found = await look().catch(() => error);
    throw found ? error : new ProviderError('not_found', error.message, error.mayHaveApplied);
  }
}

/**
 * One record in the place of another, for vendors that cannot change a record's type or host: the new one is made
 * before the old one goes. Where one of them is a CNAME of the same host, which suffers no other beside it, the old one
 * goes first, and is made again when the new one is refused.
 * @param oldFirst where the vendor takes the two for one record: the old one goes first
 * @returns the new one's id, or the new one
 */
export async function inPlace(
  verbs: Pick<RecordVerbs, 'createRecord' | 'deleteRecord'>,
  zone: RemoteZone,
  before: RemoteRecord,
  after: DnsRecord,
  oldFirst = before.host === after.host && [before.type, after.type].includes('CNAME'),
): Promise<Written> {
  if (oldFirst) {
    await verbs.deleteRecord(zone, before);
    try {
      return await verbs.createRecord(zone, after);
    } catch (error) {
      const failure = asProviderError(error);
      // one that may be there would be refused beside it; what is made again has another id: it has to be asked for
      if (!failure.mayHaveApplied) await verbs.createRecord(zone, before).catch(() => null);
      throw failure.applied(true);
    }
  }
  const made = await verbs.createRecord(zone, after);
  try {
    await verbs.deleteRecord(zone, before);
  } catch (error) {
    const failure = asProviderError(error);
    // an old one that may be gone must not take the new one with it
    if (failure.mayHaveApplied) throw failure;
    const twin = typeof made === 'string' ? { ...after, remoteId: made, readOnly: false } : made;
    const undone = await verbs.deleteRecord(zone, twin).then(
      () => true,
      () => false,
    );
    throw failure.applied(!undone);
  }
  return made;
}

/**
 * `apply` for vendors that take writes and put them into DNS by a call of its own, which follows each list of changes
 * of which any was, or may have been, carried out. When it fails nothing of the list counts as done.
 */
export function published(apply: DnsProvider['apply'], publish: (zone: RemoteZone) => Promise<unknown>) {
  return async (...[zone, changes, options]: Parameters<DnsProvider['apply']>): Promise<Outcome[]> => {
    const outcomes = await apply(zone, changes, options);
    if (!outcomes.some((outcome) => outcome.ok || outcome.error.mayHaveApplied)) return outcomes;
    const failure = await publish(zone).then(() => null, asProviderError);
    if (!failure) return outcomes;
    const words = `The change is stored, but the provider did not put it into DNS: ${failure.message}`;
    return outcomes.map((one) => (one.ok ? failed(new ProviderError(failure.kind, words, true)) : one));
  };
}

const isGone = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'not_found';

/** Verbs that call each other: those of one record, all of them there. */
export type AllRecordVerbs = Required<Omit<RecordVerbs, 'isDuplicate' | 'batch'>>;

/**
 * `apply` for vendors with ids per record: walks the verbs, of each host deletions first; a change that fails leaves
 * the others alone, unless they would fail, too, or the list is atomic. What is gone need not be deleted, what exists
 * need not be created, and of a guarded change the record is read before, where the vendor can read one. Where it takes
 * a list in one call, a list is sent so.
 * @param parallel hosts that may be written at once, where the vendor allows that
 */
export function fromRecords(verbs: RecordVerbs, { parallel = 1 } = {}): DnsProvider['apply'] {
  return (zone, changes, options) =>
    work(options?.deadline, async () => {
      const outcomes: Outcome[] = new Array(changes.length);
      const hosts = byHost(changes);
      let stop: Outcome | undefined;
      if (verbs.batch && changes.length > 1 && !timeIsOver()) {
        await together(verbs, zone, changes, { order: hosts.flat(), outcomes, atomic: options?.atomic ?? false });
      }
      const worker = async () => {
        for (let host = hosts.shift(); host; host = hosts.shift()) {
          for (const i of host) {
            if (outcomes[i]) continue;
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

/** A list of changes, and what became of them so far. */
interface List {
  /** in which they can be carried out */
  order: readonly number[];
  outcomes: Outcome[];
  atomic: boolean;
}

/** Carries out in one call what can be: what has no outcome then is to be tried alone. */
async function together(verbs: RecordVerbs, zone: RemoteZone, changes: readonly Change[], list: List): Promise<void> {
  const { order, outcomes, atomic } = list;
  const left = () => order.filter((i) => !outcomes[i]);
  const settle = (outcome: Outcome) => {
    for (const i of left()) outcomes[i] = outcome;
  };
  for (const i of order) {
    const change = changes[i] as Change;
    try {
      const known = change.op !== 'create' && change.guarded ? await guard(verbs, zone, change) : null;
      if (known) outcomes[i] = known;
      else if (change.op === 'update' && !difference(change.before, change.after).size) {
        outcomes[i] = { ok: true, remoteId: change.before.remoteId };
      }
    } catch (error) {
      outcomes[i] = failed(asProviderError(error));
    }
    const outcome = outcomes[i];
    // nothing is written so far
    if (outcome && !outcome.ok && (atomic || endsList(outcome.error))) return settle(notTried(outcome.error));
  }
  const sent = left();
  if (sent.length < 2) return;
  try {
    const written = await work(
      undefined,
      async () =>
        verbs.batch?.(
          zone,
          sent.map((i) => changes[i] as Change),
        ) ?? [],
    );
    if (written.length !== sent.length) throw cutShort('outcome of each change').applied(true);
    for (const [at, i] of sent.entries()) {
      const [change, now] = [changes[i] as Change, written[at] ?? null];
      if (change.op === 'delete' || !now) outcomes[i] = { ok: true, remoteId: null };
      else outcomes[i] = done(now, change.after);
    }
  } catch (error) {
    const failure = asProviderError(error);
    const alone = !atomic && !failure.mayHaveApplied && (failure.kind === 'rejected' || failure.kind === 'not_found');
    if (!alone) settle(failed(failure));
  }
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
    if (!(error instanceof ProviderError) || error.kind !== 'rejected' || error instanceof NotBegun) throw error;
    // a part of it was carried out: what is found may be that
    if (error.mayHaveApplied) throw error;
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
