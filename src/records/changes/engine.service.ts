import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Connection } from '../../accounts/provider-connections.js';
import { type Actor, AuditService } from '../../audit/audit.service.js';
import { sleep } from '../../common/clock.js';
import { AppError, errors } from '../../common/errors.js';
import { log } from '../../common/logger.js';
import { type Held, Leases } from '../../database/leases.js';
import { assertMay, judgeRecord } from '../../domains/access-rights.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { DomainsService } from '../../domains/domains.service.js';
import { ZoneFacts } from '../../domains/zone-facts.service.js';
import type { ApplyOptions } from '../../providers/provider.js';
import { RecordCache, type StoredRecord } from '../record-cache.js';
import { mergedRecord } from '../record-rules.js';
import { RecordSyncService } from '../record-sync.service.js';
import { ChangeSets, doorOf, type Ended, type How, type ListOptions } from './change-sets.js';
import { chunksOf } from './chunks.js';
import type { Edit } from './edit.js';
import { Execution } from './execution.service.js';
import { LateChanges } from './late.service.js';
import { lockOf, MAX_NAMES } from './locks.js';
import { isIdle, type Net, type Planned, WorkingCopy } from './plan.js';
import { assertAllFit, type Result, resultOf } from './results.js';
import { Unclear } from './unclear.js';
import { readsRecords } from './who.js';

/** ms that a writer waits for another one of the same name, be it one that the provider may still be at */
const LOCK_WAIT_MS = 60_000;
const TICK_MS = 500;
const LATE = 'The provider gave no answer in time about an earlier change here, and may still carry it out';
/** changes that are committed together */
const CHUNK = 100;
/** a list with more changes goes on in the background, when who asks can be told so */
const FOREGROUND = 200;
/** edits that are judged before everybody else has a turn */
const TURN = 100;

/** A list of edits; or the names that it touches, and what it is once their rows are known. */
export type Edits = readonly Edit[] | { hosts: string[]; of: (rows: readonly StoredRecord[]) => Edit[] };

/** A list that was carried out. */
export interface Finished {
  /** null: nothing was to be done */
  changeSet: number | null;
  results: Result[];
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
 * crash or a lost answer leaves is taken up by `unclear.ts`.
 */
@Injectable()
export class ChangeEngine implements OnModuleDestroy, OnApplicationShutdown {
  private readonly running = new Set<Promise<unknown>>();
  private stopping = false;

  constructor(
    private readonly leases: Leases,
    private readonly facts: ZoneFacts,
    private readonly domains: DomainsService,
    private readonly cache: RecordCache,
    private readonly sets: ChangeSets,
    private readonly audit: AuditService,
    private readonly sync: RecordSyncService,
    private readonly execution: Execution,
    private readonly unclear: Unclear,
    private readonly late: LateChanges,
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

  /** Carries on with what another process has left of a list. */
  async resume(
    actor: Actor,
    domain: OpenDomain,
    edits: readonly Edit[],
    options: ListOptions,
    resumes: Job['resumes'],
  ): Promise<void> {
    const connection = await this.facts.connection(domain);
    const done = this.start({ actor, domain, edits, options, accepted: null, connection, resumes });
    this.running.add(done);
    await done.finally(() => this.running.delete(done));
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
    const done = this.start({ actor, domain, edits, options, accepted: accept, connection, resumes: null });
    done.catch(() => undefined);
    const first = await Promise.race([done, accepted]);
    if (typeof first !== 'number') return first;
    this.running.add(done);
    void done
      .catch((err) => log().error({ err, change_set: first, domain: domain.name }, 'a list of changes was cut off'))
      .finally(() => this.running.delete(done));
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, waitMs, null);
    });
    const end = await Promise.race([done, patience]).finally(() => clearTimeout(timer));
    return end ?? { changeSet: first, results: null };
  }

  private async start(job: Job): Promise<Finished> {
    const { domain, connection } = job;
    const zone = lockOf(domain.id, null);
    const { replaces } = connection.definition.capabilities;
    const end = Date.now() + LOCK_WAIT_MS;
    let looked = false;
    const more = new Set<string>();
    for (;;) {
      const hosts = [...new Set([...(await this.hosts(job)), ...more])];
      const whole = replaces === 'zone' || hosts.length > MAX_NAMES;
      const names = whole ? [zone] : hosts.map((host) => lockOf(domain.id, host));
      const done = await this.leases.hold(
        names,
        LOCK_WAIT_MS,
        async (held) => {
          // somebody may have renamed a record while we waited for the locks
          const still = await this.hosts(job);
          if (still.some((host) => !hosts.includes(host))) return null;
          // it may have been deleted while we waited; whoever deletes it waits for us from now on
          const { synced_at: syncedAt } = await this.domains.reload(domain.id);
          const unclear = await this.unclear.isAt(domain.id, replaces === 'zone' ? null : hosts);
          if (unclear && !looked) return 'unclear' as const;
          const rows = await this.cache.those(domain.id, 'host', hosts);
          return this.locked(job, rows, hosts, { whole, syncedAt, unclear }, held);
        },
        whole ? { whole } : { within: zone },
      );
      if (done === 'unclear') {
        // what the provider holds may settle it; where it does not, the plan says what cannot be said
        await this.sync
          .refresh(domain, 'system')
          .catch((error: Error) => log().debug({ err: error.message }, 'unclear'));
        looked = true;
      } else if (done && 'late' in done) {
        await this.patience(done.late, end);
        looked = false;
        // the account may have moved meanwhile
        job.connection = await this.facts.connection(domain);
      } else if (done && 'hosts' in done) for (const host of done.hosts) more.add(host);
      else if (done) return done;
    }
  }

  /**
   * Waits, without a lock, until the provider cannot carry out an earlier change any more. @param end when whoever asks
   * goes away @throws AppError 409001
   */
  private async patience(until: string, end: number): Promise<void> {
    const at = Date.parse(until) || 0;
    while (Date.now() <= at) {
      if (at > end || this.stopping) throw errors.conflict(`${LATE}; try again after ${until}`);
      await sleep(Math.min(at + 1 - Date.now(), TICK_MS));
    }
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
      if (!row) continue;
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
    hosts: readonly string[],
    { unclear, ...at }: Pick<How, 'whole' | 'syncedAt'> & { unclear: boolean },
    held: Held,
  ): Promise<Finished | { hosts: string[] } | { late: string }> {
    const { actor, domain, connection, options } = job;
    const mayRead = (row: StoredRecord) =>
      readsRecords(actor) && judgeRecord(domain.access, domain.id, 'read', row).allowed;
    const copy = new WorkingCopy(connection.definition, domain, rows, mayRead, !('hosts' in job.edits));
    const planned: Planned[] = [];
    const edits = 'hosts' in job.edits ? job.edits.of(rows) : job.edits;
    for (const edit of edits) {
      planned.push(copy.plan(edit, job.resumes?.positions[planned.length] ?? planned.length));
      if (planned.length % TURN === 0) await nextTurn();
    }
    assertStorable(planned);
    const known = new Set(hosts);
    const others = planned.flatMap(({ after }) => (after && !known.has(after.host) ? [after.host] : []));
    if (others.length) return { hosts: others };
    if (options.atomic && !job.resumes) assertAllFit(planned);
    const nets = [...copy.nets()].filter((net) => !isIdle(net));
    const late = unclear ? await this.lateUntil(job, nets, hosts) : null;
    if (late) return { late };
    if (!job.resumes && !nets.length && !planned.some(({ error }) => error)) {
      this.audit.notNeeded(actor);
      return { changeSet: null, results: planned.map((edit) => resultOf(edit, undefined)) };
    }
    const { atomic, chunk } = connection.definition.capabilities;
    const size = options.atomic && atomic ? Math.max(chunk, CHUNK) : Math.min(chunk, CHUNK);
    const chunks = chunksOf(nets, size);
    const background = job.resumes !== null || (job.accepted !== null && nets.length > FOREGROUND);
    const changeSet = await this.store(job, planned, nets, chunks[0] ?? [], { background, ...at });
    if (changeSet === null) return job.resumes ? { changeSet, results: [] } : { hosts: [] };
    if (background && job.accepted) {
      // the entry is written at the end
      this.audit.notNeeded(actor);
      job.accepted(changeSet);
    }
    const ended = new Map<number, Ended>();
    const run = {
      actor,
      domain,
      connection,
      options,
      held,
      mayRead,
      planned,
      changeSet,
      resumed: job.resumes !== null,
      only: chunks.length > 1 ? undefined : onlyOf(options.only, rows),
      ended,
    };
    await this.execution.run(run, chunks, background, () => this.stopping);
    return { changeSet, results: planned.map((edit) => resultOf(edit, ended.get(edit.position))) };
  }

  /** Until when the list has to wait for what the provider may still carry out; null: not at all. */
  private async lateUntil(
    { domain, edits, connection }: Job,
    nets: readonly Net[],
    hosts: readonly string[],
  ): Promise<string | null> {
    const { replaces, outlives } = connection.definition.capabilities;
    // a set that is as it shall be would not be when another value came
    const names = nets.length || !('hosts' in edits) ? [] : hosts;
    return outlives ? this.late.until(domain.id, nets, names, replaces) : null;
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
    return (await this.sets.takeUp(changeSet, planned, nets, first, how.whole)) ? changeSet : null;
  }
}

/** Bytes of values that a list keeps, before and after: a short list can name long values thousands of times. */
const MAX_KEPT = 32 * 1024 * 1024;

/** @throws AppError 400001 */
function assertStorable(planned: readonly Planned[]): void {
  const kept = planned.reduce((sum, { before, after }) => sum + lengthOf(before) + lengthOf(after), 0);
  if (kept <= MAX_KEPT) return;
  const words = `hold ${kept} bytes of values before and after, more than the ${MAX_KEPT} of one list: send shorter lists`;
  throw errors.field('changes', words, 'length', { max: MAX_KEPT });
}

/** What of a set the provider has to hold: records that are kept here alone have no id there. */
function onlyOf(key: ListOptions['only'], rows: readonly StoredRecord[]): ApplyOptions['only'] {
  if (!key) return undefined;
  const { host, type, line } = key;
  const members = rows.filter((row) => row.host === host && row.type === type && row.line === line);
  return [{ host, type, line, remoteIds: members.flatMap(({ remote_id }) => remote_id ?? []) }];
}

const lengthOf = (row: StoredRecord | null): number => row?.value.length ?? 0;
