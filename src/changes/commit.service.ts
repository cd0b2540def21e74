import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Connection } from '../accounts/provider-connections.js';
import { type Actor, type AuditEntry, AuditService } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { sameRecord } from '../dns/record.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import { type AppError, errors } from '../platform/common/errors.js';
import { Db } from '../platform/database/db.js';
import type { Held } from '../platform/database/leases.js';
import { Events, type ListProgress } from '../platform/events/events.js';
import { Metrics } from '../platform/metrics/metrics.js';
import type { ApplyOptions, Outcome } from '../providers/provider.js';
import { type Applied, commitApplied } from './applied.js';
import { ChangeSets, type Ended, type ListOptions } from './change-sets.js';
import { DriftSets } from './drift/drift-sets.service.js';
import { recordView } from './edits/record.dto.js';
import { isIdle, type Net, type Planned } from './edits/working-copy.js';
import type { ChangeState } from './history/change-set.entity.js';
import { differs, type Step, Versions } from './history/versions.js';
import { InDoubtChanges } from './in-doubt/in-doubt-changes.js';
import { cancelled, listEntry, singleEntries, storedEntry } from './results.js';

/** A list under its locks, planned and stored. */
export interface Run {
  actor: Actor;
  domain: OpenDomain;
  connection: Connection;
  options: ListOptions;
  held: Held;
  /** other domains that are the same zone */
  others: readonly number[];
  /** what others make of the domain's records is not adopted */
  keepsWanted: boolean;
  /** whether the caller may see a record */
  mayRead: (row: StoredRecord) => boolean;
  planned: readonly Planned[];
  changeSet: number;
  /** another process left it */
  resumed: boolean;
  /** what fails because the provider is unavailable is left pending, and tried again after a pause */
  pauses: boolean;
  /** of `options.only`: what the provider has to hold */
  only: ApplyOptions['only'];
  /** what became of the edits, by their positions; filled as the pieces end */
  ended: Map<number, Ended>;
}

/** A piece of a list that the provider was asked for. */
export interface Piece {
  chunk: readonly Net[];
  /** what the provider has answered about those of the chunk that concern it */
  outcomes: ReadonlyMap<Net, Outcome>;
  /** all that comes after it */
  behind: readonly Net[];
  /** why nothing of that can succeed; null: it can */
  because: AppError | null;
  /** what is sent next; null: nothing of the list is tried now, behind this piece */
  next: readonly Net[] | null;
  /** whether some change of the list has no clear end so far */
  inDoubt: boolean;
  /** the list goes on behind its answer */
  background: boolean;
}

type Failure = Pick<Ended, 'state' | 'error'>;
type Failures = ReadonlyMap<Net, Failure>;

/** What became of the changes of a piece. */
interface Sorted {
  applied: readonly Applied[];
  failures: Failures;
  /** the provider is unavailable, and the list pauses until it answers again */
  away: boolean;
}

/**
 * Writes down what became of a piece: cache, audit and change set in one transaction, for which the locks must still be
 * ours.
 */
@Injectable()
export class ChangeCommits {
  constructor(
    private readonly db: Db,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly events: Events,
    private readonly inDoubt: InDoubtChanges,
    private readonly shared: SharedZones,
    private readonly versions: Versions,
    private readonly drift: DriftSets,
    private readonly metrics: Metrics,
  ) {}

  /** @returns whether the list goes on: not where somebody has cancelled it */
  async conclude(run: Run, piece: Piece): Promise<boolean> {
    const sorted = sortedOf(run, piece);
    const { ended, goesOn } = await this.db.transaction((manager) => this.write(manager, run, piece, sorted));
    for (const one of ended) {
      run.ended.set(one.position, one);
      if (one.state !== 'pending') this.metrics.recordChanges.inc({ state: one.state });
    }
    return goesOn;
  }

  private async write(
    manager: EntityManager,
    run: Run,
    piece: Piece,
    { applied, failures, away }: Sorted,
  ): Promise<{ ended: readonly Ended[]; goesOn: boolean }> {
    const { domain, changeSet, held } = run;
    // the answer waits for nothing behind the last piece: the locks end with it
    await (piece.next ? held.confirm(manager) : held.release(manager));
    const differs = applied.length > 0 || [...failures.values()].some(({ state }) => state === 'unknown');
    const revision = await this.sets.touch(manager, domain.id, differs);
    const { because, next, rest, ends } = await this.behind(manager, run, piece);
    const failed: Failures = new Map([
      ...failures,
      ...rest.map((net) => [net, { state: 'not_tried' as const, error: because }] as const),
    ]);
    await this.shared.outdate(manager, run.others);
    const { rows, moved } = await commitApplied(this.cache, manager, domain.id, applied);
    // an edit before them may have moved their TTLs, and what was stored of a list that goes on may be old
    const ended = endedOf(applied, failed, rows, run.resumed || run.planned.length > 1);
    const version = await this.version(manager, run, rows, moved);
    if (run.keepsWanted) {
      const made = [...rows].map(([{ before }, after]) => ({ before, after }));
      await this.drift.written(manager, domain.id, run.options.door, [...made, ...moved]);
    }
    await this.sets.end(manager, changeSet, ended, this.inDoubt.settleAfter(), version);
    await this.markInDoubt(manager, domain.id, failed);
    if (next) await this.sets.trying(manager, changeSet, next);
    if (run.pauses) {
      const waits = away && !ends;
      if (because && !waits) await this.sets.notTried(manager, changeSet, because);
      await this.sets.pause(manager, changeSet, waits, applied.length > 0);
    }
    const left = await this.sets.commit(manager, changeSet, revision, next === null, piece.inDoubt || run.resumed);
    // whoever watches a list in the background learns of a piece that failed, too
    if (applied.length || piece.background) {
      const progress = await this.progress(manager, run, ended);
      this.db.afterCommit(manager, () => void this.events.emit('records.changed', domain.id, changeSet, progress));
    }
    for (const entry of await this.entries(manager, run, rows, ended, next === null && !left))
      await this.audit.write(manager, run.actor, { ...entry, domain, changeSet });
    return { ended, goesOn: next !== null };
  }

  /** How far a list is: one that ends in one piece says it by itself. */
  private async progress(
    manager: EntityManager,
    { changeSet, planned, resumed }: Run,
    ended: readonly Ended[],
  ): Promise<ListProgress> {
    const isAll = !resumed && ended.length === planned.length;
    return progressOf(isAll ? countsOf(ended) : await this.sets.counts(manager, changeSet));
  }

  /** Stores the differences of a piece that no edit names. @returns the version that all of them make; null: none */
  private async version(
    manager: EntityManager,
    { domain, changeSet }: Run,
    rows: ReadonlyMap<Net, StoredRecord | null>,
    moved: readonly Step[],
  ): Promise<number | null> {
    const carriers = [...rows].flatMap(([{ entry, before }, after]) =>
      entry.positions.length || !before ? [] : [{ recordId: before.id, before, after }],
    );
    const unnamed = [...carriers, ...moved].filter(differs);
    const steps = [
      ...[...rows].flatMap(([net, row]) => (net.entry.positions.length ? stepOf(net, row) : [])),
      ...unnamed,
    ];
    if (!steps.length) return null;
    const version = await this.versions.of(manager, domain.id, changeSet, steps);
    if (unnamed.length) {
      const lowest = await this.sets.lowest(manager, changeSet);
      await this.versions.store(manager, domain.id, changeSet, unnamed, version, Math.min(lowest, 0) - 1);
    }
    return version;
  }

  /** How the list goes on behind a piece, `rest` being what is given up; `ends`: somebody has cancelled it. */
  private async behind(
    manager: EntityManager,
    { changeSet, pauses }: Run,
    { because, behind, next }: Piece,
  ): Promise<Pick<Piece, 'because' | 'next'> & { rest: readonly Net[]; ends: boolean }> {
    // whoever cancels it locks the domain's row first, as `touch` does: from here on nobody does
    const ends = (next !== null || pauses) && (await this.sets.isCancelled(manager, changeSet));
    if (ends) return { because: cancelled(), next: null, rest: behind, ends };
    return { because, next, rest: because && !pauses ? behind : [], ends };
  }

  /** Marks the rows of changes without a known end. */
  private async markInDoubt(manager: EntityManager, domainId: number, failed: Failures): Promise<void> {
    const ids: number[] = [];
    // one that no edit names only carries a TTL: no change would take the mark away again
    for (const [{ before, entry }, { state }] of failed)
      if (state === 'unknown' && before && entry.positions.length) ids.push(before.id);
    await this.cache.markPending(manager, domainId, ids);
  }

  /** @param over whether the list has come to its end */
  private async entries(
    manager: EntityManager,
    run: Run,
    rows: ReadonlyMap<Net, StoredRecord | null>,
    ended: readonly Ended[],
    over: boolean,
  ): Promise<AuditEntry[]> {
    if (run.planned.length === 1 && !run.resumed) return singleEntries(run, rows, ended);
    if (!over) return [];
    return [run.resumed ? storedEntry(run, await this.sets.counts(manager, run.changeSet)) : listEntry(run, ended)];
  }
}

/** What was carried out of a piece, also of what exists only here, and what was not. */
function sortedOf(run: Run, { chunk, outcomes }: Piece): Sorted {
  const applied: Applied[] = [];
  const failures = new Map<Net, Failure>();
  for (const [net, outcome] of outcomes) {
    if (outcome.ok) applied.push({ net, remoteId: outcome.remoteId, held: outcome.held });
    else failures.set(net, { state: stateOf(outcome, run), error: errorOf(outcome, net, run) });
  }
  const away = run.pauses && [...outcomes.values()].some((o) => !o.ok && PAUSING.has(o.error.kind));
  const fate = run.options.atomic ? fateOf(outcomes.values()) : null;
  for (const net of chunk) {
    if (outcomes.has(net)) continue;
    const failure = failureHere(net, fate, failures, away);
    // without a change a record keeps the id that it has; disabled here, it has none
    if (failure) failures.set(net, failure);
    else applied.push({ net, remoteId: net.before?.remote_id ?? null });
  }
  return { applied, failures, away };
}

/** Why a change of what exists only here is not carried out with what was asked of the provider; null: it is. */
function failureHere(net: Net, fate: Failure | null, failures: Failures, away: boolean): Failure | null {
  // done whole or not at all: it waits for what is asked of the provider (see `LocalOnlyRecords`)
  if (fate?.state === 'unknown' && !isIdle(net)) return fate;
  const error = (fate?.state === 'failed' && fate.error) || inTheWay(net, failures);
  return error ? { state: away ? 'pending' : 'not_tried', error } : null;
}

/** How many changes of a list are in each state, where all have ended in one piece. */
function countsOf(ended: readonly Ended[]): Record<ChangeState, number> {
  const counts = { pending: 0, applied: 0, failed: 0, unknown: 0, not_tried: 0 };
  for (const { state } of ended) counts[state]++;
  return counts;
}

/** How far a list is, by the states of its changes. */
function progressOf({ pending, applied, failed, unknown, not_tried }: Record<ChangeState, number>): ListProgress {
  const done = applied + failed + not_tried;
  return { total: done + pending + unknown, done, failed: failed + not_tried };
}

/** The step that a net made, if it makes a difference. */
function stepOf({ before }: Net, after: StoredRecord | null): Step[] {
  const recordId = after?.id ?? before?.id;
  return recordId !== undefined && differs({ before, after }) ? [{ recordId, before, after }] : [];
}

/** What became of the edits. @param anew the states before the first ones may be others than are stored of them */
function endedOf(
  applied: readonly Applied[],
  failed: Failures,
  rows: ReadonlyMap<Net, StoredRecord | null>,
  anew: boolean,
): Ended[] {
  const ended: Ended[] = [];
  for (const { net } of applied) {
    const row = rows.get(net) ?? null;
    const { positions } = net.entry;
    const [step] = stepOf(net, row);
    for (const position of positions)
      ended.push({
        ...{ position, state: 'applied', recordId: row?.id ?? null, row, error: null },
        ...(step && {
          step: {
            ...(anew && position === positions[0] && { before: step.before }),
            ...(position === positions.at(-1) && { after: step.after }),
          },
        }),
      });
  }
  for (const [net, { state, error }] of failed)
    for (const position of net.entry.positions) ended.push({ position, state, recordId: null, row: null, error });
  return ended;
}

/** Kinds of failure after which a list in the background waits for its provider. */
const PAUSING: ReadonlySet<string> = new Set(['unavailable', 'rate_limit']);

/** Whether a change that certainly was not carried out is tried again later. */
const isLeft = ({ error }: Outcome & { ok: false }, { pauses }: Run): boolean =>
  pauses && !error.mayHaveApplied && PAUSING.has(error.kind);

function stateOf(outcome: Outcome & { ok: false }, run: Run): Ended['state'] {
  if (isLeft(outcome, run)) return 'pending';
  if (outcome.error.mayHaveApplied) return 'unknown';
  return outcome.tried ? 'failed' : 'not_tried';
}

/** Why a record that is kept here cannot take the place of the same one: that has not gone. */
function inTheWay({ after }: Net, failures: Failures): AppError | null {
  for (const [{ before }, { error }] of failures) if (after && before && sameRecord(before, after)) return error;
  return null;
}

/** What keeps a piece from being carried out whole: one certain failure, else what nobody knows; null: nothing. */
function fateOf(outcomes: Iterable<Outcome>): Failure | null {
  let fate: Failure | null = null;
  for (const outcome of outcomes) {
    if (outcome.ok) continue;
    if (!outcome.error.mayHaveApplied) return { state: 'failed', error: outcome.error };
    fate ??= { state: 'unknown', error: outcome.error };
  }
  return fate;
}

/** What is not what the caller has seen is a failed precondition, with what is there. */
function errorOf({ error }: Outcome & { ok: false }, { before }: Net, { mayRead, domain }: Run): AppError {
  if (error.kind !== 'changed') return error;
  const { found } = error;
  if (!found || !before) return errors.precondition('record_gone_at_provider');
  const { remoteId: _, readOnly: __, readOnlyReason: ___, ...state } = found;
  const now = { ...before, ...state };
  const seen = mayRead(now) ? { record: recordView(now, domain) } : undefined;
  return errors.precondition('record_differs_at_provider', {}, seen);
}
