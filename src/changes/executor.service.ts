import { Injectable } from '@nestjs/common';
import type { Connection } from '../accounts/provider-connections.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { sameRecord } from '../dns/record.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { type AppError, errors } from '../platform/common/errors.js';
import { log } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import { type Held, LeaseLost } from '../platform/database/leases.js';
import { Events } from '../platform/events/events.js';
import { recordChanges } from '../platform/metrics/metrics.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';
import type { ApplyOptions, Change, Outcome } from '../providers/provider.js';
import { ChangeSets, type Ended, type ListOptions } from './change-sets.js';
import { type Applied, commitApplied } from './commit.js';
import { recordView } from './edits/record-view.js';
import { isIdle, type Net, type Planned } from './edits/working-copy.js';
import { HeldLists } from './held.service.js';
import { InDoubtChanges } from './in-doubt/in-doubt-changes.js';
import { RecordSyncService } from './in-doubt/record-sync.service.js';
import { cancelled, listEntry, singleEntries, storedEntry } from './results.js';

/** ms for a list, less where a request has less time left; what is not begun by then is not tried */
const LIST_MS = 120_000;
/** ms for one that goes on in the background, at a provider that lets few requests an hour */
const LONG_LIST_MS = 86_400_000;
const ASKED = 'the provider is being asked what it holds';
const LOST = `The locks of the change were lost while it was made, and somebody else may have changed its names; ${ASKED}`;
const UNWRITTEN = `What came of the change could not be written down; ${ASKED}`;

/** A list under its locks, planned and stored. */
export interface Run {
  actor: Actor;
  domain: OpenDomain;
  connection: Connection;
  options: ListOptions;
  held: Held;
  /** other domains that are the same zone */
  others: readonly number[];
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

/**
 * Carries out what is planned and stored, piece by piece: the provider first, then cache, audit and change set in one
 * transaction, for which the locks must still be ours. A piece whose commit fails is in doubt.
 */
@Injectable()
export class ChangeExecutor {
  constructor(
    private readonly db: Db,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly sync: RecordSyncService,
    private readonly events: Events,
    private readonly inDoubt: InDoubtChanges,
    private readonly heldLists: HeldLists,
    private readonly shared: SharedZones,
  ) {}

  /**
   * The pieces of a list, one after the other; behind one that shows that no other can succeed, none is tried.
   * @returns whether the rest waits: for another process, or for who confirms it
   */
  async run(run: Run, chunks: readonly Net[][], background: boolean, stopping: () => boolean): Promise<boolean> {
    const { domain, connection, changeSet, options } = run;
    const zone = { id: domain.remote_id, name: domain.name };
    const { atomic } = options;
    const { heldUntil } = run.held;
    const end = performance.now() + (background && !run.pauses ? LONG_LIST_MS : LIST_MS);
    const bounds = { deadline: Math.min(end, requestDeadline().work), heldUntil, atomic, only: run.only };
    let ended: { inDoubt: boolean; paused: boolean };
    try {
      ended = await this.pieces(run, chunks, background, stopping, (list) =>
        connection.provider.apply(zone, list, bounds),
      );
    } catch (error) {
      // what the provider was asked for and did is not in the cache: nobody may go by that until it is
      await this.inDoubt
        .abandon(domain.id, { id: changeSet, background, owner: run.held.owner })
        .catch(() => undefined);
      void this.sync.settleAll();
      if (error instanceof OutboundError) throw error;
      log().error({ err: error, domain: domain.name, change_set: changeSet }, 'the end of a change was not written');
      throw new OutboundError('unavailable', error instanceof LeaseLost ? LOST : UNWRITTEN).of(domain.provider, false);
    }
    if (run.others.length) void this.sync.settleAll();
    if (!ended.inDoubt) return ended.paused;
    log().warn({ domain: domain.name }, 'the provider gave no clear answer; asking it what it holds');
    void this.sync.settleAll();
    return ended.paused;
  }

  /** @returns whether some change has no clear end, and whether a rest is left for later */
  private async pieces(
    run: Run,
    chunks: readonly Net[][],
    background: boolean,
    stopping: () => boolean,
    apply: (changes: Change[]) => Promise<Outcome[]>,
  ): Promise<{ inDoubt: boolean; paused: boolean }> {
    let inDoubt = false;
    for (let i = 0; i < Math.max(chunks.length, 1); i++) {
      const chunk = chunks[i] ?? [];
      const asked = chunk.filter((net) => net.change !== null);
      const changes = asked.map((net) => net.change as Change);
      const answers = changes.length ? await apply(changes) : [];
      const outcomes = new Map(asked.map((net, at) => [net, answers[at] as Outcome]));
      const hopeless = answers.find((o) => !o.ok && (run.options.atomic || isHopeless(o)));
      const last = i >= chunks.length - 1 || hopeless !== undefined;
      const behind = chunks.slice(i + 1).flat();
      const rest = hopeless && !run.pauses ? behind : [];
      const because = hopeless && !hopeless.ok ? hopeless.error : null;
      inDoubt ||= answers.some((o) => !o.ok && o.error.mayHaveApplied);
      // the next piece is not begun by a process that ends: another one continues
      const goesOn = background && !last && !stopping();
      // whoever requested it may have lost the right meanwhile
      const refusal = goesOn ? await this.heldLists.refusal(run.changeSet, run.domain.id, chunks[i + 1] ?? []) : null;
      const pause = background && !last && (!goesOn || refusal !== null);
      const next = last ? null : pause ? [] : (chunks[i + 1] ?? []);
      const more = await this.conclude(run, chunk, outcomes, { rest, behind, because, next, inDoubt });
      if (refusal) await this.heldLists.hold(run.changeSet, run.domain.id, refusal, run.held.owner);
      if (pause) return { inDoubt, paused: true };
      if (last || !more) break;
    }
    return { inDoubt, paused: false };
  }

  /**
   * Cache, audit and change set of what the provider has answered about a piece.
   * @returns whether the list goes on: not where somebody has cancelled it
   */
  private async conclude(
    run: Run,
    chunk: readonly Net[],
    outcomes: ReadonlyMap<Net, Outcome>,
    given: {
      rest: readonly Net[];
      behind: readonly Net[];
      because: AppError | null;
      next: readonly Net[] | null;
      inDoubt: boolean;
    },
  ): Promise<boolean> {
    let end = given;
    const { domain, changeSet, held, planned } = run;
    const applied: Applied[] = [];
    const failures = new Map<Net, Pick<Ended, 'state' | 'error'>>();
    const refusal = run.options.atomic ? refusalOf(outcomes.values()) : null;
    // done whole or not at all: what exists only here waits for what is asked of the provider (see `LocalOnlyRecords`)
    const doubt = run.options.atomic && !refusal ? doubtOf(outcomes.values()) : null;
    for (const [net, outcome] of outcomes) {
      if (outcome.ok) applied.push({ net, remoteId: outcome.remoteId, held: outcome.held });
      else
        failures.set(net, {
          state: isLeft(outcome, run) ? 'pending' : stateOf(outcome),
          error: errorOf(outcome, net, run),
        });
    }
    const away = run.pauses && [...outcomes.values()].some((o) => !o.ok && PAUSING.has(o.error.kind));
    for (const net of chunk.filter((one) => !outcomes.has(one))) {
      if (doubt && !isIdle(net)) {
        failures.set(net, { state: 'unknown', error: doubt });
        continue;
      }
      const error = refusal ?? inTheWay(net, failures);
      // without a change a record keeps the id that it has; disabled here, it has none
      if (error) failures.set(net, { state: away ? 'pending' : 'not_tried', error });
      else applied.push({ net, remoteId: net.before?.remote_id ?? null });
    }
    for (const net of end.rest) failures.set(net, { state: 'not_tried', error: end.because });
    const ended = await this.db.transaction(async (manager) => {
      // the answer waits for nothing behind the last piece: the locks end with it
      await (end.next ? held.confirm(manager) : held.release(manager));
      const revision = await this.sets.touch(manager, domain.id);
      // whoever cancels it locks the domain's row first, as `touch` does: from here on nobody does
      const ends = (end.next || run.pauses) && (await this.sets.isCancelled(manager, changeSet));
      if (ends) {
        end = { ...end, next: null, rest: end.behind, because: cancelled() };
        for (const net of end.rest) failures.set(net, { state: 'not_tried', error: end.because });
      }
      await this.shared.outdate(manager, run.others);
      const rows = await commitApplied(this.cache, manager, domain.id, applied);
      const ended: Ended[] = [];
      const tell = (net: Net, state: Ended['state'], error: AppError | null) => {
        const row = state === 'applied' ? (rows.get(net) ?? null) : null;
        const recordId = row?.id ?? null;
        for (const position of net.entry.positions) ended.push({ position, state, recordId, row, error });
      };
      for (const { net } of applied) tell(net, 'applied', null);
      for (const [net, { state, error }] of failures) tell(net, state, error);
      await this.sets.end(manager, changeSet, ended, this.inDoubt.settleAfter());
      // one that no edit names only carries a TTL: no change would take the mark away again
      const unknown = [...failures].filter(
        ([{ before, entry }, { state }]) => state === 'unknown' && before && entry.positions.length,
      );
      await this.cache.markPending(
        manager,
        domain.id,
        unknown.map(([{ before }]) => (before as StoredRecord).id),
      );
      if (end.next) await this.sets.trying(manager, changeSet, end.next);
      if (run.pauses) {
        const waits = away && !ends;
        if (end.because && !waits) await this.sets.notTried(manager, changeSet, end.because);
        await this.sets.pause(manager, changeSet, waits, applied.length > 0);
      }
      const last = end.next === null;
      const left = await this.sets.commit(manager, changeSet, revision, last, end.inDoubt || run.resumed);
      if (applied.length)
        this.db.afterCommit(manager, () => void this.events.emit('records.changed', domain.id, changeSet));
      const entries =
        planned.length === 1 && !run.resumed
          ? singleEntries(run, rows, ended)
          : !last || left
            ? []
            : [run.resumed ? storedEntry(run, await this.sets.counts(manager, changeSet)) : listEntry(run, ended)];
      for (const entry of entries) await this.audit.write(manager, run.actor, { ...entry, domain, changeSet });
      return ended;
    });
    for (const one of ended) {
      run.ended.set(one.position, one);
      if (one.state !== 'pending') recordChanges.inc({ state: one.state });
    }
    return end.next !== null;
  }
}

/** Kinds of failure behind which no other change of the list can succeed. */
const HOPELESS: ReadonlySet<string> = new Set(['auth', 'unavailable']);

/** A value that a provider cannot hold is not sent either, and says nothing of the others. */
const isHopeless = ({ error, tried }: Outcome & { ok: false }): boolean =>
  HOPELESS.has(error.kind) || (!tried && error.kind !== 'rejected');

/** Kinds of failure after which a list in the background waits for its provider. */
const PAUSING: ReadonlySet<string> = new Set(['unavailable', 'rate_limit']);

/** Whether a change that certainly was not carried out is tried again later. */
const isLeft = ({ error }: Outcome & { ok: false }, { pauses }: Run): boolean =>
  pauses && !error.mayHaveApplied && PAUSING.has(error.kind);

const stateOf = ({ error, tried }: Outcome & { ok: false }): Ended['state'] =>
  error.mayHaveApplied ? 'unknown' : tried ? 'failed' : 'not_tried';
/** Why a record that is kept here cannot take the place of the same one: that has not gone. */
function inTheWay({ after }: Net, failures: ReadonlyMap<Net, Pick<Ended, 'error'>>): AppError | null {
  for (const [{ before }, { error }] of failures) if (after && before && sameRecord(before, after)) return error;
  return null;
}

/** Why a piece was certainly not carried out as a whole, if so. */
function refusalOf(outcomes: Iterable<Outcome>): AppError | null {
  for (const outcome of outcomes) if (!outcome.ok && !outcome.error.mayHaveApplied) return outcome.error;
  return null;
}

/** Why nobody knows whether a piece was carried out, if so. */
function doubtOf(outcomes: Iterable<Outcome>): AppError | null {
  for (const outcome of outcomes) if (!outcome.ok && outcome.error.mayHaveApplied) return outcome.error;
  return null;
}

/** What is not what the caller has seen is a failed precondition, with what is there. */
function errorOf({ error }: Outcome & { ok: false }, { before }: Net, { mayRead, domain }: Run): AppError {
  if (error.kind !== 'changed') return error;
  const { found } = error;
  if (!found || !before) return errors.precondition('The record is no more at the provider; synchronise the domain');
  const { remoteId: _, readOnly: __, ...state } = found;
  const now = { ...before, ...state };
  const seen = mayRead(now) ? { record: recordView(now, domain) } : undefined;
  return errors.precondition('The provider holds another state of the record; synchronise the domain', seen);
}
