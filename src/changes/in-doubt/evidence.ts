import { distinct, type Expectation, type RowValues } from '../../cache/reconcile.js';
import { type RemoteRecord, sameRecord } from '../../dns/record.js';
import type { ChangedHosts } from '../history/change-set.entity.js';
import type { InDoubtChange } from '../history/in-doubt.repository.js';

/** The names that a change touches. */
export const hostsOf = ({ host, host_before }: ChangedHosts): string[] =>
  host_before === null || host_before === host ? [host] : [host, host_before];

/** Whether a list that was begun at this time may still be of the moment before the change. */
const isEarly = ({ settle_after }: InDoubtChange, begun: string): boolean => begun <= (settle_after ?? '');

/** It takes the provider's record away: a deletion, or a record that stays here, disabled. */
const takesAway = ({ before, after, expected }: InDoubtChange): boolean =>
  expected === '' || (before !== null && after === null);

/**
 * It is of a record that exists only here, before and after: nothing was asked of the provider, and what has no end was
 * not written here. Of a list that may be done in part it has failed; else see `localOnly`.
 */
const isOurs = ({ before, after, expected }: InDoubtChange): boolean =>
  after === null ? before?.remote_id === null : expected === '' && (before?.remote_id ?? null) === null;

/** Those of atomic lists which exist only here: they share the end of the rest (see `LocalOnlyRecords`). */
export const localOnly = (changes: readonly InDoubtChange[]): InDoubtChange[] =>
  asSent(changes).flatMap(({ change, parts }) => (change.atomic && isOurs(change) ? parts : []));

/** What a change gives a row; what it leaves alone may be something else by now. */
function changed(before: RowValues | null, after: RowValues | null): Partial<RowValues> {
  const was: Record<string, unknown> = { ...before };
  return Object.fromEntries(Object.entries(after ?? {}).filter(([key, value]) => was[key] !== value));
}

/**
 * Changes as they were sent: of one list all those of one record went as one, from what it was before the first to what
 * it was to be after the last.
 */
export function asSent(changes: readonly InDoubtChange[]): { change: InDoubtChange; parts: InDoubtChange[] }[] {
  const groups = new Map<string, InDoubtChange[]>();
  for (const change of changes) {
    const { id, change_set_id, record_id } = change;
    const key = record_id === null ? `new ${id}` : `${change_set_id} ${record_id}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  return [...groups.values()].map((parts) => {
    const [first, last] = [parts[0] as InDoubtChange, parts.at(-1) as InDoubtChange];
    return { change: { ...last, before: first.before }, parts };
  });
}

/** The ids of changes, by the provider's ids that they have taken over. */
type Successors = ReadonlyMap<string, number>;

/** Whether the provider's id of its record is free afterwards. */
const leaves = (change: InDoubtChange): boolean =>
  !!change.before?.remote_id &&
  (takesAway(change) || (!!change.expected && change.expected !== change.before.remote_id));

/**
 * Which changes have put their record in the place of another one that made room for it in the same list, by the
 * provider's id that both had: where ids are derived from the content, that id alone proves nothing. It is proved by
 * the old id of the last one of such a row being gone, since nothing is asked to take a place that is not free.
 */
export function successors(changes: readonly InDoubtChange[], remote: readonly RemoteRecord[]): Successors {
  const took = new Map<string, number>();
  const sent = asSent(changes).map(({ change }) => change);
  const leaving = new Map(sent.flatMap((change) => (leaves(change) ? [[change.before?.remote_id, change]] : [])));
  const follows = ({ expected, change_set_id: set }: InDoubtChange) =>
    expected !== null && leaving.get(expected)?.change_set_id === set;
  const following = [...leaving.values()].filter(follows);
  if (!following.length) return took;
  const listed = new Set(remote.map(({ remoteId }) => remoteId));
  const gone = following.filter(({ before }) => !listed.has(before?.remote_id ?? ''));
  // whoever made room may have taken the place of a third one
  for (let next: InDoubtChange | undefined = gone.pop(); next; next = gone.pop()) {
    const { expected } = next;
    if (!expected || !listed.has(expected) || took.has(expected)) continue;
    took.set(expected, next.id);
    const other = leaving.get(expected);
    if (other && follows(other)) gone.push(other);
  }
  return took;
}

const takenBy = (took: Successors, { id, expected }: InDoubtChange): string | null =>
  expected !== null && took.get(expected) === id ? expected : null;

/**
 * What changes in doubt may have made of which rows, for the comparison with a list that was begun at this time. While
 * the list may be of the moment before a change, or between its steps, no row of it is removed because of it.
 */
export function expectations(
  changes: readonly InDoubtChange[],
  begun: string,
  took: Successors = new Map(),
): Map<number, Expectation> {
  const expected = new Map<number, Expectation>();
  for (const { change } of asSent(changes)) {
    const { record_id: id, before, after } = change;
    if (id === null) continue;
    const takes = takenBy(took, change);
    const row = expected.get(id) ?? { ids: [], contents: [], here: null, keep: false, ...(takes && { takes }) };
    if (change.expected === '') row.here = { ...row.here, ...changed(before, after) };
    else if (!takesAway(change)) row.keep ||= isEarly(change, begun);
    if (change.expected) row.ids.push(change.expected);
    if (after && change.expected !== '') row.contents.push(after);
    expected.set(id, row);
  }
  return expected;
}

/**
 * Whether a record is all that a change was to make of it: the remark counts where the provider keeps it, and what the
 * change left as it was may be something else by now, be it by another change of the list.
 */
const says = (record: RemoteRecord, { before, after, own }: InDoubtChange): boolean => {
  if (after === null || !sameRecord(record, after)) return false;
  if (record.remark !== undefined && own && record.remark !== own.to.remark) return false;
  const fields = ['ttl', 'proxied', 'weight', 'enabled'] as const;
  return fields.every((field) => record[field] === after[field] || before?.[field] === after[field]);
};

/**
 * Judges changes in doubt by a complete list of the provider that was begun at this time. What a change was to make and
 * is there proves it applied, at once. What is not there proves the contrary only when the provider had time enough to
 * apply it; so does what is neither the old nor the new state, which somebody made at the provider.
 * @param isAtomic whether the provider carries out an atomic list whole or not at all
 * @returns for each the provider's id of its record (null: it is gone), or why not; without an entry it stays unknown
 */
export function judge(
  changes: readonly InDoubtChange[],
  remote: readonly RemoteRecord[],
  begun: string,
  remoteIdOf: (recordId: number) => string | null,
  { took, isAtomic }: { took: Successors; isAtomic: boolean },
): Map<InDoubtChange, Verdict> {
  const verdicts = new Map<InDoubtChange, Verdict>();
  if (!changes.length) return verdicts;
  // only what stands at the names of the changes is looked through
  const hosts = new Set(changes.flatMap((change) => (change.after ? [change.after.host] : [])));
  const listed: Listed = {
    byId: new Map(distinct(remote).map((record) => [record.remoteId, record])),
    there: remote.filter((record) => hosts.has(record.host)),
    taken: new Set(changes.flatMap(({ before }) => before?.remote_id ?? [])),
    begun,
    took,
  };
  const sent = asSent(changes);
  for (const { change, parts } of sent) {
    const verdict = verdictOf(listed, change, change.record_id === null ? null : remoteIdOf(change.record_id));
    if (verdict) for (const part of parts) verdicts.set(part, verdict);
  }
  if (isAtomic) takeBack(verdicts, sent);
  return verdicts;
}

/**
 * Of an atomic list of which nothing is shown but records that it was to make, and not all of these: somebody else has
 * made the same ones. It has the end of its other changes, or none yet.
 */
function takeBack(verdicts: Map<InDoubtChange, Verdict>, sent: ReturnType<typeof asSent>): void {
  const lists = new Map<number, InDoubtChange[]>();
  for (const { change, parts } of sent)
    if (change.atomic && !isOurs(change))
      lists.set(change.change_set_id, [...(lists.get(change.change_set_id) ?? []), ...parts]);
  for (const list of lists.values()) {
    const shown = list.filter((change) => verdicts.get(change)?.applied);
    if (shown.length === list.length || shown.some(({ before }) => before?.remote_id)) continue;
    const isFailed = list.some((change) => verdicts.get(change)?.applied === false);
    for (const change of shown) {
      if (isFailed) verdicts.set(change, { applied: false });
      else verdicts.delete(change);
    }
  }
}

type Verdict = { applied: true; remoteId: string | null } | { applied: false; gone?: boolean };

/** What a list proves of a change as it was sent; null: nothing. @param cached the provider's id that the cache has */
function verdictOf(listed: Listed, change: InDoubtChange, cached: string | null): Verdict | null {
  const { before, after, late, atomic } = change;
  const here = isOurs(change);
  const early = isEarly(change, listed.begun);
  if (here && atomic) return null;
  // what is there may be of an attempt before the one that may still be carried out
  if (late === 'again' && early) return null;
  const found = here ? null : shownBy(listed, change, cached);
  if (found) return { applied: true, remoteId: found.remoteId };
  if (early && !here) return null;
  return { applied: false, gone: !!before?.remote_id && after !== null && !listed.byId.has(before.remote_id) };
}

/** A list of the provider: its records by their ids, those at the names of changes in doubt, and when it was begun. */
interface Listed {
  byId: ReadonlyMap<string, RemoteRecord>;
  there: readonly RemoteRecord[];
  /** ids that records had before they were to be changed or deleted */
  taken: ReadonlySet<string>;
  begun: string;
  /** see `successors` */
  took: Successors;
}

/** What a list shows of a change that was applied: the provider's id of its record, null where it is gone. */
function shownBy(
  { byId, there, taken, took }: Listed,
  change: InDoubtChange,
  cached: string | null,
): { remoteId: string | null } | null {
  const { before, after, expected } = change;
  const place = takenBy(took, change);
  if (place) return { remoteId: place };
  // what another one has taken is not its own any more
  const known = [before?.remote_id ?? null, cached].filter((id) => id === null || !took.has(id));
  if (takesAway(change)) return known.some((id) => id !== null && byId.has(id)) ? null : { remoteId: null };
  // its new id may be that of a record which was to make room for it: both are there where nothing was carried out
  const isContested = expected !== null && !known.includes(expected) && taken.has(expected);
  if (isContested && before?.remote_id && byId.has(before.remote_id)) return null;
  // an id that is derived from the content, and a new one, is there because the change was applied
  if (expected !== null && !known.includes(expected) && byId.has(expected)) return { remoteId: expected };
  if (!after) return null;
  // one that is live is not the disabled one that was to be made: a later step of it failed
  const isMade = (record: RemoteRecord) => sameRecord(record, after) && record.enabled === after.enabled;
  if (!before || before.remote_id === null) return there.find(isMade) ?? null;
  const own = [...known, expected].map((id) => (id === null ? undefined : byId.get(id)));
  return [...own, ...there].find((record) => record !== undefined && says(record, change)) ?? null;
}
