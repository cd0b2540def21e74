import { Injectable } from '@nestjs/common';
import type { Connection } from '../../accounts/provider-connections.js';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { type AppError, errors } from '../../common/errors.js';
import { log } from '../../common/logger.js';
import { Db } from '../../database/db.js';
import type { Held } from '../../database/leases.js';
import { sameRecord } from '../../dns/record.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { Events } from '../../events/events.js';
import { recordChanges } from '../../metrics/metrics.js';
import type { ApplyOptions, Change, Outcome } from '../../providers/provider.js';
import { RecordCache, type StoredRecord } from '../record-cache.js';
import { RecordSyncService } from '../record-sync.service.js';
import { recordView } from '../record-view.js';
import { ChangeSets, type Ended, type ListOptions } from './change-sets.js';
import { type Applied, commitApplied } from './commit.js';
import { isIdle, type Net, type Planned } from './plan.js';
import { listEntry, singleEntries } from './results.js';
import { Unclear } from './unclear.js';

/** ms for a list that somebody waits for; what is not begun by then is not tried */
const LIST_MS = 120_000;
/** ms for one that goes on in the background, at a provider that lets few requests an hour */
const LONG_LIST_MS = 86_400_000;

/** A list under its locks, planned and stored. */
export interface Run {
  actor: Actor;
  domain: OpenDomain;
  connection: Connection;
  options: ListOptions;
  held: Held;
  /** whether who asks may see a record */
  mayRead: (row: StoredRecord) => boolean;
  planned: readonly Planned[];
  changeSet: number;
  /** another process left it */
  resumed: boolean;
  /** of `options.only`: what the provider has to hold */
  only: ApplyOptions['only'];
  /** what became of the edits, by their places; filled as the pieces end */
  ended: Map<number, Ended>;
}

/**
 * Carries out what is planned and stored, piece by piece: the provider first, then cache, audit and change set in one
 * transaction, for which the locks must still be ours. A piece whose commit fails is taken up as unclear.
 */
@Injectable()
export class Execution {
  constructor(
    private readonly db: Db,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly sync: RecordSyncService,
    private readonly events: Events,
    private readonly unclear: Unclear,
  ) {}

  /** The pieces of a list, one after the other; behind one that shows that no other can succeed, none is tried. */
  async run(run: Run, chunks: readonly Net[][], background: boolean, stopping: () => boolean): Promise<void> {
    const { domain, connection, changeSet, options } = run;
    const zone = { id: domain.remote_id, name: domain.name };
    const { atomic } = options;
    const bounds = { deadline: performance.now() + (background ? LONG_LIST_MS : LIST_MS), atomic, only: run.only };
    let unclear = false;
    try {
      unclear = await this.pieces(run, chunks, background, stopping, (list) =>
        connection.provider.apply(zone, list, bounds),
      );
    } catch (error) {
      // what the provider was asked for and did is not in the cache: nobody may go by that until it is
      await this.unclear.abandon(domain.id, changeSet, background).catch(() => undefined);
      void this.sync.settleAll();
      throw error;
    }
    if (!unclear) return;
    log().warn({ domain: domain.name }, 'the provider gave no clear answer; asking it what it holds');
    void this.sync.settleAll();
  }

  /** @returns whether some change has no clear end */
  private async pieces(
    run: Run,
    chunks: readonly Net[][],
    background: boolean,
    stopping: () => boolean,
    apply: (changes: Change[]) => Promise<Outcome[]>,
  ): Promise<boolean> {
    let unclear = false;
    for (let i = 0; i < Math.max(chunks.length, 1); i++) {
      const chunk = chunks[i] ?? [];
      const asked = chunk.filter((net) => net.change !== null);
      const changes = asked.map((net) => net.change as Change);
      const answers = changes.length ? await apply(changes) : [];
      const outcomes = new Map(asked.map((net, at) => [net, answers[at] as Outcome]));
      const hopeless = answers.find((o) => !o.ok && (!o.tried || run.options.atomic || HOPELESS.has(o.error.kind)));
      const last = i >= chunks.length - 1 || hopeless !== undefined;
      const rest = hopeless ? chunks.slice(i + 1).flat() : [];
      const because = hopeless && !hopeless.ok ? hopeless.error : null;
      unclear ||= answers.some((o) => !o.ok && o.error.mayHaveApplied);
      // the next piece is not begun by a process that ends: another one carries on
      const pause = background && !last && stopping();
      const next = last ? null : pause ? [] : (chunks[i + 1] ?? []);
      await this.conclude(run, chunk, outcomes, { rest, because, next, unclear });
      if (last || pause) break;
    }
    return unclear;
  }

  /** Cache, audit and change set of what the provider has answered about a piece. */
  private async conclude(
    run: Run,
    chunk: readonly Net[],
    outcomes: ReadonlyMap<Net, Outcome>,
    end: { rest: readonly Net[]; because: AppError | null; next: readonly Net[] | null; unclear: boolean },
  ): Promise<void> {
    const { domain, changeSet, held, planned } = run;
    const applied: Applied[] = [];
    const failures = new Map<Net, Pick<Ended, 'state' | 'error'>>();
    const refusal = run.options.atomic ? refusalOf(outcomes.values()) : null;
    // done whole or not at all: what exists only here waits for what is asked of the provider (see `KeptHere`)
    const doubt = run.options.atomic && !refusal ? doubtOf(outcomes.values()) : null;
    for (const [net, outcome] of outcomes) {
      if (outcome.ok) applied.push({ net, remoteId: outcome.remoteId, held: outcome.held });
      else failures.set(net, { state: stateOf(outcome), error: errorOf(outcome, net, run) });
    }
    for (const net of chunk.filter((one) => !outcomes.has(one))) {
      if (doubt && !isIdle(net)) {
        failures.set(net, { state: 'unknown', error: doubt });
        continue;
      }
      const error = refusal ?? inTheWay(net, failures);
      // without a change a record keeps the id that it has; disabled here, it has none
      if (error) failures.set(net, { state: 'not_tried', error });
      else applied.push({ net, remoteId: net.before?.remote_id ?? null });
    }
    for (const net of end.rest) failures.set(net, { state: 'not_tried', error: end.because });
    const ended = await this.db.transaction(async (manager) => {
      // the answer waits for nothing behind the last piece: the locks end with it
      await (end.next ? held.confirm(manager) : held.release(manager));
      const revision = await this.sets.touch(manager, domain.id);
      const rows = await commitApplied(this.cache, manager, domain.id, applied);
      const ended: Ended[] = [];
      const tell = (net: Net, state: Ended['state'], error: AppError | null) => {
        const recordId = state === 'applied' ? (rows.get(net)?.id ?? null) : null;
        for (const position of net.entry.positions) ended.push({ position, state, recordId, error });
      };
      for (const { net } of applied) tell(net, 'applied', null);
      for (const [net, { state, error }] of failures) tell(net, state, error);
      await this.sets.end(manager, changeSet, ended, this.unclear.settleAfter());
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
      await this.sets.commit(manager, changeSet, revision, end.next === null, end.unclear || run.resumed);
      if (applied.length)
        this.db.afterCommit(manager, () => void this.events.emit('records.changed', domain.id, changeSet));
      const entries =
        planned.length === 1 && !run.resumed
          ? singleEntries(run, rows, ended)
          : end.next
            ? []
            : [listEntry(run, ended)];
      for (const entry of entries) await this.audit.write(manager, run.actor, { ...entry, domain, changeSet });
      return ended;
    });
    for (const one of ended) {
      run.ended.set(one.position, one);
      recordChanges.inc({ state: one.state });
    }
  }
}

/** Kinds of failure behind which no other change of the list can succeed. */
const HOPELESS: ReadonlySet<string> = new Set(['auth', 'unavailable']);

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
