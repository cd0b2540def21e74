import { type DnsRecord, type RemoteRecord, sameRecord } from '../../../dns/record.js';
import type { Apply, ApplyOptions, Change, DnsProvider, Outcome, RemoteZone } from '../../provider.js';
import { changing, reading, timeIsOver, withinDeadline } from '../http/deadline-context.js';
import { asProviderError, cutShort, NotBegun, ProviderError } from '../http/errors.js';
import type { SetKey } from '../rrsets/record-set.js';
import { byHost } from './chunks.js';
import { inList, inPlace, orGone } from './in-place.js';
import { changedThere, merged, mergedAll } from './merged.js';
import { endsList, failed, notTried } from './outcomes.js';
import { difference, type RecordVerbs, type Written } from './record-verbs.js';
import { inSeparateCalls } from './separate-calls.js';

const THERE = 'There is such a record already';

/** @throws ProviderError where the record is among these: the vendor would make it once more (see `doubles`) */
export function refuseTwin(found: readonly RemoteRecord[], record: DnsRecord): void {
  if (found.some((one) => sameRecord(one, record))) throw new ProviderError('rejected', THERE, false);
}

/** `isDuplicate` of a vendor that never says so itself. */
export const isFound = ({ message }: ProviderError): boolean => message === THERE;

/** The verbs with what is declared beside them: `judge`, `fixed`, `vague`, `doubles`, `turn` and `note`. */
function asDeclared(all: RecordVerbs): RecordVerbs {
  const { judge, fixed = [], vague, doubles, turn, note } = all;
  const given: RecordVerbs = turn || note ? { ...all, ...inSeparateCalls(all) } : all;
  const proved = <T>(zone: RemoteZone, before: RemoteRecord, write: () => Promise<T>): Promise<T> =>
    vague ? orGone(write, async () => given.readRecord?.(zone, before)) : write();
  const assertNew = async (zone: RemoteZone, record: DnsRecord) =>
    refuseTwin((await given.findRecords?.(zone, record)) ?? [], record);
  const verbs: RecordVerbs = {
    ...given,
    async createRecord(zone, record) {
      judge?.(record);
      if (doubles === true || doubles === record.type) await assertNew(zone, record);
      return given.createRecord(zone, record);
    },
    async updateRecord(zone, before, after, changed) {
      judge?.(after);
      if (fixed.some((field) => changed.has(field))) {
        if (doubles === 'moved') await assertNew(zone, after);
        return inPlace(verbs, zone, before, after);
      }
      return proved(zone, before, () => given.updateRecord(zone, before, after, changed));
    },
    deleteRecord: (zone, before) => proved(zone, before, () => given.deleteRecord(zone, before)),
  };
  return verbs;
}

const isGone = (error: unknown): boolean => error instanceof ProviderError && error.kind === 'not_found';

/**
 * `apply` for vendors with ids per record: walks the verbs, of each host deletions first; a change that fails leaves
 * the others alone, unless they would fail, too, or the list is atomic. What is gone need not be deleted, what exists
 * need not be created, and of a guarded change the record is read before, where the vendor can read one. Where it takes
 * a list in one call, a list is sent so.
 * @param parallel hosts that may be written at once, where the vendor allows that
 */
export function fromRecords(given: RecordVerbs, { parallel = 1 } = {}): Apply {
  const verbs = asDeclared(given);
  const apply = (zone: RemoteZone, changes: Change[], options?: ApplyOptions) =>
    withinDeadline(options?.deadline, async () => {
      const outcomes: Outcome[] = new Array(changes.length);
      const hosts = byHost(changes);
      let stop: Outcome | undefined;
      if (verbs.batch && changes.length > 1 && !timeIsOver()) {
        await inOneCall(verbs, zone, changes, { order: hosts.flat(), outcomes, atomic: options?.atomic ?? false });
      }
      const unlessStopped = async (change: Change): Promise<Outcome> => {
        if (timeIsOver()) stop ??= notTried();
        const outcome = stop ?? (await one(verbs, zone, change));
        if (endsList(outcome, options?.atomic)) stop ??= notTried(outcome.error);
        return outcome;
      };
      const worker = async () => {
        for (let host = hosts.shift(); host; host = hosts.shift()) {
          for (const i of host) outcomes[i] ??= await unlessStopped(changes[i] as Change);
        }
      };
      await Promise.all(Array.from({ length: options?.atomic ? 1 : parallel }, worker));
      return outcomes;
    });
  const { findRecords } = given;
  if (!findRecords) return apply;
  // many are looked up by one list of the zone
  const recordsAt = async (zone: RemoteZone, [key, ...more]: readonly SetKey[]) =>
    key && !more.length ? reading(() => findRecords(zone, wantedAt(key))) : null;
  return Object.assign(apply, { recordsAt });
}

/**
 * `listRecords` and `apply` of such a vendor. What the verbs do not find themselves, one record or those of a name and
 * type, is found among all records of the zone.
 */
export const fromList = (
  records: (zone: RemoteZone) => Promise<RemoteRecord[]>,
  verbs: RecordVerbs,
): Pick<DnsProvider, 'listRecords' | 'apply'> => ({
  listRecords: (zone) => records(zone),
  apply: fromRecords({
    ...{ readRecord: inList(records), findRecords: (zone) => records(zone), listAll: (zone) => records(zone) },
    ...verbs,
  }),
});

/** A record that stands for its set: vendors look for the name and the type. */
const wantedAt = ({ host, type, line = 'default' }: SetKey): DnsRecord => ({
  ...{ host, type, line, value: '', ttl: 0, proxied: false, priority: null, weight: null, enabled: true },
});

/** A list of changes, and what became of them so far. */
interface List {
  /** in which they can be carried out */
  order: readonly number[];
  outcomes: Outcome[];
  atomic: boolean;
}

/** Carries out in one call what can be: what has no outcome then is to be tried alone. */
async function inOneCall(verbs: RecordVerbs, zone: RemoteZone, changes: readonly Change[], list: List): Promise<void> {
  const { order, outcomes, atomic } = list;
  const left = () => order.filter((i) => !outcomes[i]);
  const settle = (outcome: Outcome) => {
    for (const i of left()) outcomes[i] = outcome;
  };
  const end = await skipNeedless(verbs, zone, changes, list);
  // nothing is written so far
  if (end) return settle(notTried(end));
  for (let sent = left(); sent.length > 1; sent = left()) {
    const failure = await sendAll(verbs, zone, changes, sent, outcomes);
    if (!failure) return;
    if (!isRefused(failure)) return settle(failed(failure));
    if (!atomic) return;
    // what is gone need not be deleted, what exists not created: it must not take the rest of the list with it
    for (const i of sent) outcomes[i] = (await isDone(verbs, zone, changes[i] as Change, failure)) as Outcome;
    if (left().length === sent.length) return settle(failed(failure));
  }
}

/** Sends changes in one call and notes their outcomes. @returns the failure of the call */
async function sendAll(
  verbs: RecordVerbs,
  zone: RemoteZone,
  changes: readonly Change[],
  sent: readonly number[],
  outcomes: Outcome[],
): Promise<ProviderError | null> {
  const some = sent.map((i) => changes[i] as Change);
  try {
    const done = await changing(async () => {
      const given = await mergedAll(verbs, zone, some);
      return outcomesOf(some, given, (await verbs.batch?.(zone, given)) ?? []);
    });
    for (const [at, i] of sent.entries()) outcomes[i] = done[at] as Outcome;
    return null;
  } catch (error) {
    return asProviderError(error);
  }
}

const isRefused = ({ kind, mayHaveApplied }: ProviderError): boolean =>
  !mayHaveApplied && (kind === 'rejected' || kind === 'not_found');

/** Notes the outcomes of changes of which nothing is to be sent. @returns the failure that ends the list */
async function skipNeedless(
  verbs: RecordVerbs,
  zone: RemoteZone,
  changes: readonly Change[],
  { order, outcomes, atomic }: List,
): Promise<ProviderError | null> {
  for (const i of order) {
    const outcome = await needless(verbs, zone, changes[i] as Change).catch((error) => failed(asProviderError(error)));
    outcomes[i] = outcome as Outcome;
    if (endsList(outcome, atomic)) return outcome.error;
  }
  return null;
}

/** The outcome of a change of which nothing is to be sent, if so. @throws ProviderError */
async function needless(verbs: RecordVerbs, zone: RemoteZone, change: Change): Promise<Outcome | undefined> {
  if (change.op !== 'delete') verbs.judge?.(change.after);
  const known = change.op !== 'create' && change.guarded ? await guard(verbs, zone, change) : null;
  if (known) return known;
  const same = change.op === 'update' && !difference(change.before, change.after).size;
  return same ? { ok: true, remoteId: change.before.remoteId } : undefined;
}

/** @param given the changes as they were sent */
function outcomesOf(
  changes: readonly Change[],
  given: readonly Change[],
  written: readonly (Written | null)[],
): Outcome[] {
  if (written.length !== changes.length) throw cutShort('outcome of each change').applied(true);
  return changes.map((change, at) => {
    if (change.op === 'delete') return { ok: true, remoteId: null };
    const [one, sent] = [written[at] ?? '', given[at] as Change];
    return done(sent.op === 'update' ? asWritten(one, sent, change.after) : one, change.after);
  });
}

/** The outcome of a change that the refusal of a list may be about, and that is certainly as it was wished. */
async function isDone(
  verbs: RecordVerbs,
  zone: RemoteZone,
  change: Change,
  why: ProviderError,
): Promise<Outcome | undefined> {
  if (change.op === 'delete' && why.kind === 'not_found' && verbs.readRecord) {
    const isThere = await verbs.readRecord(zone, change.before).then(Boolean, (error) => !isGone(error));
    return isThere ? undefined : { ok: true, remoteId: null };
  }
  if (change.op !== 'create' || why.kind !== 'rejected' || !verbs.isDuplicate?.(why)) return undefined;
  const twin = await twinOf(verbs, zone, change.after);
  return twin && !difference(twin, change.after).size ? { ok: true, remoteId: twin.remoteId } : undefined;
}

async function one(verbs: RecordVerbs, zone: RemoteZone, change: Change): Promise<Outcome> {
  try {
    return await changing(async () => {
      if (change.op === 'create') return done(await create(verbs, zone, change.after), change.after);
      const known = change.guarded ? await guard(verbs, zone, change) : null;
      if (known) return known;
      if (change.op === 'update') return done(await update(verbs, zone, change.before, change.after), change.after);
      await verbs.deleteRecord(zone, change.before).catch((error: unknown) => {
        if (!isGone(error)) throw error;
        // not seen before, it was gone already
        if (change.guarded && !verbs.readRecord && !asProviderError(error).mayHaveApplied) throw changedThere(null);
      });
      return { ok: true, remoteId: null };
    });
  } catch (error) {
    return failed(asProviderError(error));
  }
}

/** @throws ProviderError for an answer of success without an id: the record would never be found again */
function done(written: Written, after: DnsRecord): Outcome {
  const id = typeof written === 'string' ? written : written.remoteId;
  if (!id || id === 'undefined' || id === 'null') throw cutShort('id').applied(true);
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
  if (found && !difference(found, change.before).size) return null;
  // the answer to the same wish was lost: it was carried out
  if (found && change.op === 'update' && !difference(found, change.after).size) return done(found, change.after);
  return failed(changedThere(found));
}

async function create(verbs: RecordVerbs, zone: RemoteZone, record: DnsRecord): Promise<Written> {
  try {
    return await verbs.createRecord(zone, record);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'rejected' || error instanceof NotBegun) throw error;
    // a part of it was carried out: what is found may be that
    if (error.mayHaveApplied) throw error;
    if (verbs.isDuplicate && !isFound(error) && !verbs.isDuplicate(error)) throw error;
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
    const change = await merged(verbs, zone, { op: 'update', before, after }, fields);
    return asWritten(await verbs.updateRecord(zone, change.before, change.after, fields), change, after);
  } catch (error) {
    // where a change gives a record another id: the answer to the same wish was lost
    const twin = isGone(error) ? await twinOf(verbs, zone, after) : null;
    if (!twin || difference(twin, after).size) throw error;
    return twin.remoteId;
  }
}

/** An answer that is just an id, with the record that was written where that is not quite what was asked for. */
const asWritten = (written: Written, change: Change & { op: 'update' }, asked: DnsRecord): Written =>
  typeof written === 'string' && change.after !== asked
    ? { ...change.after, remoteId: written, readOnly: false }
    : written;

/** The record that is the same one at the provider; null when there is none, or nobody can tell. */
const twinOf = async (verbs: RecordVerbs, zone: RemoteZone, record: DnsRecord): Promise<RemoteRecord | null> =>
  ((await verbs.findRecords?.(zone, record).catch(() => [])) ?? []).find((r) => sameRecord(r, record)) ?? null;
