import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Connection } from '../accounts/provider-connections.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { type OpenDomain, revisionTag } from '../domains/domain-policy.js';
import { type SharedZone, SharedZones } from '../domains/shared-zones.service.js';
import { monotonicMs } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { errors } from '../platform/common/errors.js';
import { say } from '../platform/common/words/field-text.js';
import { type Held, Leases } from '../platform/database/leases.js';
import { assertConditions } from '../platform/http/conditions.js';
import { keyText } from '../providers/kit/rrsets/record-set.js';
import type { ApplyOptions, Capabilities } from '../providers/provider.js';
import { ChangeSets, type Ended, type How, type ListOptions } from './change-sets.js';
import { assertStands } from './edits/base.js';
import type { Net, Planned } from './edits/working-copy.js';
import { ChangeExecutor } from './executor.service.js';
import { ChangeGate } from './gate/change-gate.service.js';
import { changesOf } from './gate/planned.js';
import { HeldLists } from './held.service.js';
import { NOBODY } from './history/change-sets.repository.js';
import { mayRead } from './history/who.js';
import { InDoubtChanges } from './in-doubt/in-doubt-changes.js';
import { InFlightWrites } from './in-doubt/in-flight-writes.js';
import { locksOf } from './in-doubt/locks.js';
import { chunksOf, type Edits, type Names, type Plan, Planner } from './planner.js';
import { assertAllFit, type Result, resultOf } from './results.js';
import type { Truth } from './truth.js';

/** ms that a writer waits for another one of the same name, be it one that the provider may still be at */
export const LOCK_WAIT_MS = 60_000;
/** changes that are committed together */
const CHUNK = 100;
/** a list with more changes goes on in the background, where the caller can be answered 202 */
const FOREGROUND = 200;

/** A list that was carried out. */
export interface Finished {
  /** null: nothing was to be done */
  changeSet: number | null;
  results: Result[];
  /** in how many pieces it is carried out, one behind the other */
  pieces: number;
  /** the rest is carried out later, by another process or after somebody has confirmed it */
  paused?: boolean;
  /** it is only stored, and carried out piece by piece: what was planned, and the positions of what is to be done */
  left?: { planned: Planned[]; pending: ReadonlySet<number> };
}

/** A long list that is stored, and goes on in the background. */
export type Accepted = Pick<Finished, 'pieces'> & { changeSet: number };

/** A list on its way. */
export interface Job {
  actor: Actor;
  domain: OpenDomain;
  edits: Edits;
  options: ListOptions;
  connection: Connection;
  /** called when a long list is stored and continues in the background; null: the caller waits for its end */
  accepted: ((list: Accepted) => void) | null;
  /** a stored list that another process left, and where the edits stood in it; null: a new one */
  resumes: { changeSet: number; positions: readonly number[] } | null;
}

/** The state of a list between its attempts. */
export interface Course {
  /** of several domains that are one zone the first one, which the locks name */
  first: number;
  /** names that it touches beside those that its edits name */
  more: Set<string>;
  /** the provider was asked what became of earlier changes */
  looked: boolean;
  /** until when the caller waits, of `timeMs()` */
  end: number;
  /** null: its edits say nothing of what the sets hold */
  truth: Truth | null;
  /** as the provider wrote when the list came */
  replaces: Capabilities['replaces'];
  /** whether the process ends */
  stopping: () => boolean;
}

/** The locks of a list: of its whole zone or of names, and the zone as they were got. */
type Under = Pick<How, 'whole'> & { shared: SharedZone };
/** and why it is made in spite of a freeze */
type Let = Under & { override: string | undefined };

/** What came of one attempt under locks: the list is done, or why it has to be planned again. */
export type Attempt =
  | { kind: 'done'; finished: Finished }
  /** another domain is the first one of the zone by now */
  | { kind: 'moved'; first: number }
  /** the domain is another zone by now, maybe of another account */
  | { kind: 'elsewhere' }
  /** the caches of these domains may be wrong about what the list touches */
  | { kind: 'refresh'; ids: readonly number[] }
  /** the provider holds other records of its sets than the cache */
  | { kind: 'differs' }
  /** until then the provider may still carry out an earlier change of these domains */
  | { kind: 'in-flight'; until: string; ids: readonly number[]; hosts: readonly string[] }
  /** it touches these names, too; none: its names have changed, or its locks are over */
  | { kind: 'more-names'; hosts: readonly string[] };

/**
 * One attempt of a list under the locks of its names: planned by the rows there, stored, and carried out, unless it
 * has to be planned again. No transaction is open during a call.
 */
@Injectable()
export class ChangeAttempts {
  constructor(
    private readonly leases: Leases,
    private readonly cache: RecordCache,
    private readonly planner: Planner,
    private readonly gate: ChangeGate,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly executor: ChangeExecutor,
    private readonly inDoubt: InDoubtChanges,
    private readonly inFlight: InFlightWrites,
    private readonly heldLists: HeldLists,
    private readonly shared: SharedZones,
  ) {}

  /** Locks the names of a list, or its zone, and carries it out unless it has to be planned again. */
  async make(job: Job, course: Course): Promise<Attempt> {
    const known = await this.planner.names(job, course.more);
    // a condition on all records holds only while nobody changes others of them
    const all = course.replaces === 'zone' || (job.options.ifMatch !== undefined && !job.resumes);
    const { names, whole, options } = locksOf(course.first, known.hosts, all);
    return this.leases.hold(names, LOCK_WAIT_MS, (held) => this.locked(job, course, known, whole, held), options);
  }

  private async locked(job: Job, course: Course, names: Names, whole: boolean, held: Held): Promise<Attempt> {
    const { domain } = job;
    const { hosts } = names;
    // it may have been deleted while we waited; whoever deletes it waits for us from now on
    const shared = await this.shared.of(domain.id);
    const moved = movedTo(shared, domain, course);
    if (moved) return moved;
    const { ifMatch } = job.options;
    if (!job.resumes) assertConditions({ ifMatch }, revisionTag(shared.revision), { revision: shared.revision });
    const inDoubt = await this.inDoubt.isIn(shared, course.replaces === 'zone' ? null : hosts);
    if ((inDoubt || shared.stale) && !course.looked) {
      // whoever held these locks until they expired may still have writes in flight
      if (inDoubt) for (const id of shared.ids) await this.inDoubt.adoptDead(id);
      return { kind: 'refresh', ids: inDoubt ? shared.ids : [domain.id] };
    }
    const rows = await this.rowsNow(job, names, shared, inDoubt);
    if (!rows) return { kind: 'more-names', hosts: [] };
    if (await course.truth?.differs(job.connection, domain, rows, shared.syncedAt)) return { kind: 'differs' };
    return this.carriedOut(job, course, names, rows, { whole, shared, inDoubt }, held);
  }

  /** Plans a list by the rows of its names, which are locked, and carries it out unless it has to wait. */
  private async carriedOut(
    job: Job,
    course: Course,
    { hosts }: Names,
    rows: readonly StoredRecord[],
    { inDoubt, ...under }: Under & { inDoubt: boolean },
    held: Held,
  ): Promise<Attempt> {
    const { base } = job.options;
    if (base && !job.resumes) assertStands(base, rows);
    const foreign = course.truth?.foreign(rows) ?? [];
    const together = job.resumes ? 'if-fitting' : job.options.plan !== undefined;
    const plan = await this.planner.plan({ ...job, together }, rows, foreign, new Set(hosts), job.resumes?.positions);
    if ('hosts' in plan) return { kind: 'more-names', ...plan };
    const override = job.resumes ? undefined : await this.passes(job, plan, rows, under.shared);
    const { ids } = under.shared;
    const until = inDoubt ? await this.inFlightUntil(job, ids, plan, hosts) : null;
    if (until !== null) return { kind: 'in-flight', until, ids, hosts };
    const finished = await this.carryOut(job, course, plan, rows, { ...under, override }, held);
    return finished ? { kind: 'done', finished } : { kind: 'more-names', hosts: [] };
  }

  /**
   * The rows of the locked names: those that told the names, unless a write or a synchronisation of the domain has
   * ended since it was opened, or some of them may have been marked as in doubt.
   * @returns null where somebody has renamed a record while we waited for the locks
   */
  private async rowsNow(
    job: Job,
    { hosts, rows }: Names,
    { revision, syncedAt }: SharedZone,
    inDoubt: boolean,
  ): Promise<readonly StoredRecord[] | null> {
    const { id, revision: known, synced_at } = job.domain;
    if (!rows) return this.cache.those(id, 'host', hosts);
    if (!inDoubt && revision === known && syncedAt === synced_at) return rows;
    const now = await this.planner.names(job, hosts);
    return now.hosts.length > hosts.length ? null : now.rows;
  }

  /**
   * A list that is planned: stored, then carried out piece by piece, or left to `ResumeService`.
   * @returns what became of it; null: its locks are not ours any more, or the cache has followed the provider since
   */
  private async carryOut(
    job: Job,
    { stopping }: Course,
    { planned, nets }: Plan,
    rows: readonly StoredRecord[],
    { whole, shared, override }: Let,
    held: Held,
  ): Promise<Finished | null> {
    const { actor, domain, connection, options } = job;
    if (!job.resumes && !nets.length && !planned.some(({ error }) => error)) {
      this.audit.notNeeded(actor);
      return { changeSet: null, results: planned.map((edit) => resultOf(edit, undefined)), pieces: 0 };
    }
    const chunks = chunksOf(nets, sizeOf(job));
    const pieces = chunks.length;
    const resumed = job.resumes !== null;
    const background = goesBehind(job, nets);
    const next = chunks[0] ?? [];
    const onHold = await this.heldBack(job, next, shared);
    if (onHold) return onHold;
    // the process was paused, or lost its database: somebody else may have the names by now
    if (monotonicMs() >= held.heldUntil()) return null;
    // others are let in between its pieces; of one that is whole or nothing, nobody is
    const left = background && !resumed && !options.atomic;
    const first = left ? [] : next;
    const how = { background, left, whole, owner: held.owner, syncedAt: shared.syncedAt, sealed: connection.sealed };
    const changeSet = await this.store(job, planned, nets, first, { ...how, override });
    if (changeSet === null) return resumed ? { changeSet, results: [], pieces } : null;
    if (background) this.answer(job, { changeSet, pieces });
    if (left) return { changeSet, results: [], pieces, left: { planned, pending: positionsOf(nets) } };
    const ended = new Map<number, Ended>();
    const run = {
      actor,
      domain,
      connection,
      options,
      held,
      others: shared.ids.filter((id) => id !== domain.id),
      keepsWanted: shared.rules.drift.mode !== 'adopt',
      mayRead: mayRead(actor, domain),
      planned,
      changeSet,
      resumed,
      pauses: resumed && !options.atomic,
      only: onlyOf(options.only, rows),
      ended,
    };
    const paused = await this.executor.run(run, chunks, background, stopping);
    return { changeSet, paused, pieces, results: planned.map((edit) => resultOf(edit, ended.get(edit.position))) };
  }

  /**
   * Holds a list that goes on where who asked for it may not make its next piece any more, and pauses it in a freeze;
   * null: it may go on.
   */
  private async heldBack(
    { resumes, domain, options }: Job,
    next: readonly Net[],
    { rules }: SharedZone,
  ): Promise<Finished | null> {
    if (!resumes) return null;
    const { changeSet } = resumes;
    const until = this.gate.waitsUntil(rules, next, options.override);
    if (until !== null) {
      await this.sets.freeze(changeSet, until);
      return { changeSet, results: [], pieces: 0, paused: true };
    }
    const refusal = await this.heldLists.refusal(changeSet, domain.id, next);
    if (!refusal) return null;
    await this.heldLists.hold(changeSet, domain.id, refusal, NOBODY);
    return { changeSet, results: [], pieces: 0, paused: true };
  }

  /** Who asked for a list that goes on in the background is answered, or waits as long as they said. */
  private answer({ actor, accepted }: Job, list: Accepted): void {
    if (!accepted) return;
    // the entry is written at the end
    this.audit.notNeeded(actor);
    requestDeadline().lift();
    accepted(list);
  }

  /** Whether a list may go now. @returns why it goes in spite of a freeze @throws AppError; NeedsApproval */
  private async passes(
    job: Job,
    plan: Plan,
    rows: readonly StoredRecord[],
    zone: SharedZone,
  ): Promise<string | undefined> {
    assertTaken(job, plan);
    const { actor, domain, options } = job;
    const list = { actor, domain, zone, changes: await changesOf(plan), rows, options };
    return this.gate.pass(list, plan.nets, () => assertAllFit(plan.planned));
  }

  private overridden(
    manager: EntityManager,
    actor: Actor,
    domain: OpenDomain,
    changeSet: number,
    reason: string,
  ): Promise<void> {
    return this.audit.write(manager, actor, {
      action: 'changes.override',
      domain,
      target: { type: 'change_set', id: changeSet, name: domain.name },
      after: { reason },
      changeSet,
    });
  }

  /** Until when the list has to wait for writes in flight; null: not at all. */
  private async inFlightUntil(
    { edits, connection }: Job,
    domainIds: readonly number[],
    { nets, standing }: Plan,
    hosts: readonly string[],
  ): Promise<string | null> {
    const { replaces, outlives } = connection.definition.capabilities;
    // a set that is as it shall be would not be when another value came
    const names = nets.length || !('hosts' in edits) ? [] : hosts;
    return outlives ? this.inFlight.until(domainIds, nets, names, standing, replaces) : null;
  }

  /** @returns the number of the list; null: somebody else has taken it up, or it has to be planned again */
  private async store(
    { actor, domain, options, resumes }: Job,
    planned: readonly Planned[],
    nets: readonly Net[],
    first: readonly Net[],
    how: How & { override: string | undefined },
  ): Promise<number | null> {
    if (requestDeadline().isOver) throw errors.overdue();
    if (!resumes) {
      const stored = async (changeSet: number, manager: EntityManager) => {
        await options.stored?.(changeSet, manager);
        if (how.override !== undefined) await this.overridden(manager, actor, domain, changeSet, how.override);
      };
      return this.sets.open(actor, domain, planned, nets, first, { ...options, ...how, stored });
    }
    const { changeSet } = resumes;
    return (await this.sets.takeUp(changeSet, planned, nets, first, how)) ? changeSet : null;
  }
}

/** Whether a list goes on by itself, behind its answer and after a crash. */
const goesBehind = ({ resumes, accepted, options }: Job, nets: readonly Net[]): boolean =>
  resumes !== null || (accepted !== null && nets.length > (options.lasting ? 0 : FOREGROUND));

/** Why the locks, or the connection, of a list are those of another zone; null: they are not. */
function movedTo(
  { ids: [first], accountId, remoteId }: SharedZone,
  domain: OpenDomain,
  course: Course,
): Attempt | null {
  if (first !== course.first) return { kind: 'moved', first };
  return accountId === domain.account_id && remoteId === domain.remote_id ? null : { kind: 'elsewhere' };
}

const positionsOf = (nets: readonly Net[]): ReadonlySet<number> =>
  new Set(nets.flatMap(({ entry }) => entry.positions));

/** Changes of one piece: an atomic list is as few as possible where its provider does such whole. */
function sizeOf({ options, connection }: Job): number {
  const { atomic, chunk } = connection.definition.capabilities;
  return options.atomic && atomic ? Math.max(chunk, CHUNK) : Math.min(chunk, CHUNK);
}

/** @throws AppError of an atomic list with an edit that does not fit; 400001 for one that would not go in one piece */
function assertTaken(job: Job, { planned, nets }: Plan): void {
  const { options, connection } = job;
  if (options.atomic || options.strict) assertAllFit(planned);
  if (!options.inOnePiece) return;
  const { label: provider, capabilities } = connection.definition;
  if (!capabilities.atomic)
    throw errors.field('atomic', say('cannot be vendor: {provider} does not carry out lists whole', { provider }));
  if (chunksOf(nets, sizeOf(job)).length > 1) {
    const params = { changes: nets.length, max: capabilities.chunk, provider };
    const words = 'cannot be vendor: {changes} changes are more than the {max} that {provider} carries out whole';
    throw errors.field('atomic', say(words, params));
  }
}

/** What of some sets the provider has to hold: records that are kept here alone have no id there. */
function onlyOf(keys: ListOptions['only'], rows: readonly StoredRecord[]): ApplyOptions['only'] {
  if (!keys) return undefined;
  const sets = new Map(
    keys.map(({ host, type, line }) => [
      keyText({ host, type, line }),
      { host, type, line, remoteIds: [] as string[] },
    ]),
  );
  for (const row of rows) if (row.remote_id !== null) sets.get(keyText(row))?.remoteIds.push(row.remote_id);
  return [...sets.values()];
}
