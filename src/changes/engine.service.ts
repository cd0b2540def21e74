import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Connection } from '../accounts/provider-connections.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { SuspiciousList } from '../cache/suspicious.js';
import { sleep, timeMs } from '../common/clock.js';
import { requestDeadline } from '../common/deadline.js';
import { AppError, errors } from '../common/errors.js';
import { log } from '../common/logger.js';
import type { RecordState } from '../common/token-rules.js';
import { due, turn } from '../common/turns.js';
import { Installation } from '../database/installation.js';
import { type Held, Leases } from '../database/leases.js';
import { assertMay, judgeRecord } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { type SharedZone, SharedZones } from '../domains/shared-zones.service.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import type { ApplyOptions } from '../providers/provider.js';
import { keyText, type SetKey } from '../providers/record-set.js';
import { ChangeSets, doorOf, type Ended, type How, type ListOptions } from './change-sets.js';
import { chunksOf } from './chunks.js';
import type { Edit } from './edit.js';
import { ChangeExecutor } from './executor.service.js';
import { HeldLists } from './held.service.js';
import { InDoubtChanges, NOBODY } from './in-doubt-changes.js';
import { InFlightWrites } from './in-flight-writes.js';
import { lockOf, MAX_NAMES } from './locks.js';
import { mergedRecord } from './record-rules.js';
import { RecordSyncService } from './record-sync.service.js';
import { assertAllFit, assertStorable, type Result, resultOf, storedResult } from './results.js';
import { setsOf, Truth } from './truth.js';
import { readsRecords } from './who.js';
import { isIdle, type Net, type Planned, WorkingCopy } from './working-copy.js';

/** ms that a writer waits for another one of the same name, be it one that the provider may still be at */
const LOCK_WAIT_MS = 60_000;
const TICK_MS = 500;
/** ms that a writer gives the provider to show an earlier change which it may carry out for longer than one waits */
const PROOF_MS = 3_000;
const LATE = 'The provider gave no answer in time about an earlier change here, and may still carry it out';
/** changes that are committed together */
const CHUNK = 100;
/** a list with more changes goes on in the background, when who asks can be told so */
const FOREGROUND = 200;
/** edits that are judged before everybody else has a turn */
const TURN = 100;

/** A list of edits; or the names that it touches, and what it is once their rows are known. */
export type Edits =
  | readonly Edit[]
  | {
      hosts: string[];
      /** sets that are read at the provider before */
      sets?: readonly SetKey[];
      /** @param foreign those of the rows that the cache learned of by that reading */
      of: (rows: readonly StoredRecord[], foreign: readonly StoredRecord[]) => Edit[] | Promise<Edit[]>;
    };

/** A list that was carried out. */
export interface Finished {
  /** null: nothing was to be done */
  changeSet: number | null;
  results: Result[];
  /** the rest of it goes on at another time, by another process or when somebody has confirmed it */
  paused?: boolean;
  /** it is stored only, and goes on piece by piece: what was planned, and the places of what is to be done */
  left?: { planned: Planned[]; pending: ReadonlySet<number> };
}

/** A list on its way. */
interface Job {
  actor: Actor;
  domain: OpenDomain;
  edits: Edits;
  options: ListOptions;
  /** told when a long list is stored and goes on by itself; null: somebody waits */
  accepted: ((changeSet: number) => void) | null;
  connection: Connection;
  /** a stored list that another process left, and where the edits stood in it; null: a new one */
  resumes: { changeSet: number; positions: readonly number[] } | null;
}

/**
 * The one road of every change of a record: whoever asks (a route, an import, a job) hands a list of edits, a single
 * edit being a list of one. Locks of the names → edits folded over their rows → change set stored → provider → cache,
 * audit and change set in one transaction for each piece of the list. No transaction is open during a call. What a
 * crash or a lost answer leaves is taken up by `in-doubt-changes.ts`.
 */
@Injectable()
export class ChangeEngine implements OnModuleDestroy, OnApplicationShutdown {
  private readonly running = new Set<Promise<unknown>>();
  private stopping = false;
  private carryOn: (changeSet: number, domainId: number) => Promise<void> = async () => {};

  constructor(
    private readonly leases: Leases,
    private readonly facts: ZoneFacts,
    private readonly domains: DomainsService,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly sync: RecordSyncService,
    private readonly executor: ChangeExecutor,
    private readonly inDoubt: InDoubtChanges,
    private readonly inFlight: InFlightWrites,
    private readonly heldLists: HeldLists,
    private readonly installation: Installation,
    private readonly shared: SharedZones,
  ) {}

  /** Long lists stop behind the piece that they are at; the next start carries on. */
  onModuleDestroy(): void {
    this.stopping = true;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /**
   * A single edit. @returns the row's id, null after a deletion
   * @throws AppError 400001, 403001, 404001, 409001, 412001; ProviderError
   */
  async one(actor: Actor, domain: OpenDomain, edit: Edit): Promise<number | null> {
    const { results } = await this.whole(actor, domain, [edit], { door: doorOf(actor), comment: '', atomic: true });
    const [result] = results as [Result];
    if (!result.ok) throw result.error;
    return result.id;
  }

  /** A list that is waited for to its end. @throws AppError when it is atomic and an edit does not fit */
  async whole(actor: Actor, domain: OpenDomain, edits: Edits, options: ListOptions): Promise<Finished> {
    const connection = await this.facts.connection(domain);
    return this.start({ actor, domain, edits, options, accepted: null, connection, resumes: null });
  }

  /** Carries on with what is left of a list. @returns whether it did: not where somebody else has taken it up */
  async resume(
    actor: Actor,
    domain: OpenDomain,
    edits: readonly Edit[],
    options: ListOptions,
    resumes: Job['resumes'],
  ): Promise<boolean> {
    const connection = await this.facts.connection(domain);
    const done = this.start({ actor, domain, edits, options, accepted: null, connection, resumes });
    this.running.add(done);
    return (await done.finally(() => this.running.delete(done))).changeSet !== null;
  }

  /**
   * A list. @param waitMs how long a long list is waited for
   * @returns what became of each edit, in their order; or the number of the change set that goes on
   * @throws AppError when the list is atomic and an edit does not fit
   */
  async list(
    actor: Actor,
    domain: OpenDomain,
    edits: Edits,
    options: ListOptions,
    waitMs: number,
  ): Promise<Finished | { changeSet: number; results: null }> {
    const connection = await this.facts.connection(domain);
    let accept: (changeSet: number) => void = () => undefined;
    const accepted = new Promise<number>((resolve) => {
      accept = resolve;
    });
    const begun = this.start({ actor, domain, edits, options, accepted: accept, connection, resumes: null });
    let goAway: () => void = () => undefined;
    const patience = new Promise<null>((resolve) => {
      goAway = () => resolve(null);
    });
    const done = begun.then((finished) => (finished.left ? this.wholeOf(domain.id, finished, patience) : finished));
    done.catch(() => undefined);
    const first = await Promise.race([done, accepted]);
    if (typeof first !== 'number') return first;
    this.running.add(done);
    void done
      .catch((err) => log().error({ err, change_set: first, domain: domain.name }, 'a list of changes was cut off'))
      .finally(() => this.running.delete(done));
    const timer = setTimeout(goAway, waitMs);
    const end = await Promise.race([done, patience]).finally(() => clearTimeout(timer));
    return end && !end.paused ? end : { changeSet: first, results: null };
  }

  /** Says who carries long lists on, piece by piece. */
  goesOnBy(carryOn: ChangeEngine['carryOn']): void {
    this.carryOn = carryOn;
  }

  /**
   * What became of a list that goes on piece by piece, when nothing is left of it.
   * @param patience until when somebody waits; then it goes on without what was planned, which may be large
   */
  private async wholeOf(
    domainId: number,
    { changeSet, left }: Finished,
    patience: Promise<unknown>,
  ): Promise<Finished> {
    const { planned, pending } = left as NonNullable<Finished['left']>;
    const id = changeSet as number;
    let isWaited = true;
    void patience.then(() => {
      isWaited = false;
    });
    await Promise.race([this.carryOn(id, domainId), patience]);
    // another process may be at it, or it waits for somebody
    for (let on = await this.sets.goesOn(id); on; on = await this.sets.goesOn(id)) {
      if (this.stopping || !isWaited || on === 'held') return { changeSet, results: [], paused: true };
      await sleep(TICK_MS);
      await Promise.race([this.carryOn(id, domainId), patience]);
    }
    const rows = await this.sets.ended(id);
    const results = planned.map((edit) => {
      const row = rows.get(edit.position) ?? { record_id: null, state: 'not_tried', error: null };
      return storedResult(edit, row, pending.has(edit.position));
    });
    return { changeSet, results };
  }

  private async start(job: Job): Promise<Finished> {
    this.installation.assertWorks();
    const { domain, connection } = job;
    // of several domains that are one zone the first one, which the locks tell
    let first = domain.id;
    const { replaces } = connection.definition.capabilities;
    const end = timeMs() + Math.min(LOCK_WAIT_MS, requestDeadline().work - performance.now());
    let looked = false;
    const truth = new Truth('hosts' in job.edits ? (job.edits.sets ?? []) : setsOf(job.edits), job.resumes !== null);
    const more = new Set<string>();
    for (;;) {
      const hosts = [...new Set([...(await this.hosts(job)), ...more])];
      const whole = replaces === 'zone' || hosts.length > MAX_NAMES;
      const zone = lockOf(first, null);
      const names = whole ? [zone] : hosts.map((host) => lockOf(first, host));
      const done = await this.leases.hold(
        names,
        LOCK_WAIT_MS,
        async (held) => {
          // somebody may have renamed a record while we waited for the locks
          const still = await this.hosts(job);
          if (still.some((host) => !hosts.includes(host))) return null;
          // it may have been deleted while we waited; whoever deletes it waits for us from now on
          const shared = await this.shared.of(domain.id);
          if (shared.ids[0] !== first) return shared.ids[0];
          const inDoubt = await this.inDoubt.isAt(shared.ids, replaces === 'zone' ? null : hosts);
          if ((inDoubt || shared.stale) && !looked) {
            // of whoever had these locks until they expired it is not known what is still on its way
            if (inDoubt) for (const id of shared.ids) await this.inDoubt.adoptDead(id);
            return { refresh: inDoubt ? shared.ids : [domain.id] };
          }
          const rows = await this.cache.those(domain.id, 'host', hosts);
          if (await truth.differs(job.connection, domain, rows, shared.syncedAt)) return { differs: true };
          return this.locked(job, rows, truth.foreign(rows), hosts, { whole, shared, inDoubt }, held);
        },
        whole ? { whole } : { within: zone },
      );
      if (typeof done === 'number') first = done;
      else if (done && 'refresh' in done && done.refresh) {
        // what the provider holds may settle it; where it does not, the plan says what cannot be said
        for (const id of done.refresh)
          await this.domains
            .reload(id)
            .then((one) => this.sync.refresh(one, 'system'))
            .catch((error: Error) => log().debug({ err: error.message }, 'unclear'));
        looked = true;
      } else if (done && 'differs' in done) await this.followed(job);
      else if (done && 'late' in done) {
        await this.patience(done.ids, replaces === 'zone' ? null : hosts, done.late, end);
        looked = false;
        // the account may have moved meanwhile
        job.connection = await this.facts.connection(domain);
      } else if (done && 'hosts' in done) for (const host of done.hosts) more.add(host);
      else if (done) return done;
    }
  }

  /** The cache follows the provider. @throws ProviderError; AppError 409002 naming what who asks may read */
  private async followed({ domain, actor }: Job): Promise<void> {
    await this.sync.refresh(domain, 'system').catch((error: unknown) => {
      throw error instanceof SuspiciousList ? error.told((row) => this.mayRead(actor, domain, row)) : error;
    });
  }

  private mayRead(actor: Actor, { id, access }: OpenDomain, row: RecordState): boolean {
    return readsRecords(actor) && judgeRecord(access, id, 'read', row).allowed;
  }

  /**
   * Waits, without a lock, until the provider cannot carry out an earlier change any more, or until a list of it has
   * shown what became of that.
   * @param hosts see `InDoubtChanges.isAt` @param end when whoever asks goes away @throws AppError 409001
   */
  private async patience(
    domainIds: readonly number[],
    hosts: readonly string[] | null,
    until: string,
    end: number,
  ): Promise<void> {
    const at = Date.parse(until) || 0;
    const last = at > end ? timeMs() + PROOF_MS : at;
    do {
      if (this.stopping) break;
      await sleep(Math.max(1, Math.min(last + 1 - timeMs(), TICK_MS)));
      if (!(await this.inDoubt.isAt(domainIds, hosts))) return;
    } while (timeMs() <= last);
    if (at > end || this.stopping) throw errors.conflict(`${LATE}; try again after ${until}`);
  }

  /** The names that a list touches, as far as they are known. What does not exist or may not be done has none. */
  private async hosts({ domain, edits, connection, actor }: Job): Promise<string[]> {
    if ('hosts' in edits) return edits.hosts;
    const hosts = new Set<string>();
    const ids = edits.flatMap((edit) => ('id' in edit ? [edit.id] : []));
    const rows = new Map((await this.cache.those(domain.id, 'id', ids)).map((row) => [row.id, row]));
    for (const [i, edit] of edits.entries()) {
      if (i % TURN === TURN - 1) await nextTurn();
      if ('misfit' in edit) continue;
      if ('record' in edit) {
        hosts.add(edit.record.host);
        continue;
      }
      const row = rows.get(edit.id);
      // what rules hide is as what does not exist: it waits for nobody, and nobody waits for it
      if (!row || !judgeRecord(domain.access, domain.id, 'read', row).allowed) continue;
      hosts.add(row.host);
      if (edit.op !== 'update' || (edit.patch.host ?? row.host) === row.host) continue;
      try {
        // before anything is said about it: what does not fit a record tells what it holds
        assertMay(domain.access, domain.id, 'update', row);
        hosts.add(mergedRecord(connection.definition, domain.name, row, edit.patch).host);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        log().debug({ actor: actor === 'system' ? actor : actor.requestId }, error.message);
      }
    }
    return [...hosts];
  }

  /**
   * @returns what became of the list; or, when it has to be planned anew, names that it touches, too, where one edit
   * stands on another one, or when the provider cannot carry out any more what would take its changes away
   */
  private async locked(
    job: Job,
    rows: StoredRecord[],
    foreign: readonly StoredRecord[],
    hosts: readonly string[],
    { inDoubt, whole, shared }: Pick<How, 'whole'> & { shared: SharedZone; inDoubt: boolean },
    held: Held,
  ): Promise<Finished | { hosts: string[] } | { late: string; ids: readonly number[] }> {
    const { actor, domain, connection, options } = job;
    const mayRead = (row: StoredRecord) => this.mayRead(actor, domain, row);
    const copy = new WorkingCopy(connection.definition, domain, rows, mayRead, !('hosts' in job.edits));
    const planned: Planned[] = [];
    const edits = 'hosts' in job.edits ? await job.edits.of(rows, foreign) : job.edits;
    for (const edit of edits) {
      planned.push(copy.plan(edit, job.resumes?.positions[planned.length] ?? planned.length));
      if (planned.length % TURN === 0) await nextTurn();
    }
    assertStorable(planned);
    const known = new Set(hosts);
    const others = planned.flatMap(({ after }) => (after && !known.has(after.host) ? [after.host] : []));
    if (others.length) return { hosts: others };
    if (options.atomic && !job.resumes) assertAllFit(planned);
    const nets: Net[] = [];
    for (const net of copy.nets()) {
      if (due()) await turn();
      if (!isIdle(net)) nets.push(net);
    }
    const late = inDoubt ? await this.lateUntil(job, shared.ids, nets, hosts) : null;
    if (late) return { late, ids: shared.ids };
    if (!job.resumes && !nets.length && !planned.some(({ error }) => error)) {
      this.audit.notNeeded(actor);
      return { changeSet: null, results: planned.map((edit) => resultOf(edit, undefined)) };
    }
    const { atomic, chunk } = connection.definition.capabilities;
    const size = options.atomic && atomic ? Math.max(chunk, CHUNK) : Math.min(chunk, CHUNK);
    const chunks = chunksOf(nets, size);
    const background = job.resumes !== null || (job.accepted !== null && nets.length > FOREGROUND);
    const refusal = job.resumes
      ? await this.heldLists.refusal(job.resumes.changeSet, domain.id, chunks[0] ?? [])
      : null;
    if (job.resumes && refusal) {
      await this.heldLists.hold(job.resumes.changeSet, domain.id, refusal, NOBODY);
      return { changeSet: job.resumes.changeSet, results: [], paused: true };
    }
    // the process was paused, or lost its database: somebody else may have the names by now
    if (performance.now() >= held.heldUntil()) return { hosts: [] };
    // others are let in between its pieces; of one that is whole or nothing, nobody is
    const left = background && !job.resumes && !options.atomic;
    const first = left ? [] : (chunks[0] ?? []);
    const how = { background, left, whole, owner: held.owner, syncedAt: shared.syncedAt };
    const changeSet = await this.store(job, planned, nets, first, how);
    if (changeSet === null) return job.resumes ? { changeSet, results: [] } : { hosts: [] };
    if (background && job.accepted) {
      // the entry is written at the end
      this.audit.notNeeded(actor);
      // who asked is answered, or waits as long as they said
      requestDeadline().lift();
      job.accepted(changeSet);
    }
    if (left) {
      const pending = new Set(nets.flatMap(({ entry }) => entry.positions));
      return { changeSet, results: [], left: { planned, pending } };
    }
    const ended = new Map<number, Ended>();
    const run = {
      actor,
      domain,
      connection,
      options,
      held,
      others: shared.ids.filter((id) => id !== domain.id),
      mayRead,
      planned,
      changeSet,
      resumed: job.resumes !== null,
      pauses: job.resumes !== null && !options.atomic,
      only: onlyOf(options.only, rows),
      ended,
    };
    const paused = await this.executor.run(run, chunks, background, () => this.stopping);
    return { changeSet, paused, results: planned.map((edit) => resultOf(edit, ended.get(edit.position))) };
  }

  /** Until when the list has to wait for what the provider may still carry out; null: not at all. */
  private async lateUntil(
    { edits, connection }: Job,
    domainIds: readonly number[],
    nets: readonly Net[],
    hosts: readonly string[],
  ): Promise<string | null> {
    const { replaces, outlives } = connection.definition.capabilities;
    // a set that is as it shall be would not be when another value came
    const names = nets.length || !('hosts' in edits) ? [] : hosts;
    return outlives ? this.inFlight.until(domainIds, nets, names, replaces) : null;
  }

  /** @returns the number of the list; null: somebody else has taken it up, or it has to be planned anew */
  private async store(
    { actor, domain, options, resumes }: Job,
    planned: readonly Planned[],
    nets: readonly Net[],
    first: readonly Net[],
    how: How,
  ): Promise<number | null> {
    if (!resumes) return this.sets.open(actor, domain, planned, nets, first, { ...options, ...how });
    const { changeSet } = resumes;
    return (await this.sets.takeUp(changeSet, planned, nets, first, how)) ? changeSet : null;
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
