import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import type { Connection } from '../accounts/provider-connections.js';
import type { Actor } from '../audit/audit.service.js';
import type { StoredRecord } from '../cache/record-cache.js';
import { SuspiciousList } from '../cache/suspicious.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { after, monotonicMs, sleep, timeMs } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { Installation } from '../platform/database/installation.js';
import { keyText, type SetKey } from '../providers/kit/rrsets/record-set.js';
import {
  type Accepted,
  type Attempt,
  ChangeAttempts,
  type Course,
  type Finished,
  type Job,
  LOCK_WAIT_MS,
} from './attempts.service.js';
import { ChangeSets, type ListOptions } from './change-sets.js';
import { DryRun } from './dry-run.js';
import type { Edit } from './edits/edit.js';
import { NeedsApproval } from './gate/waits.js';
import { mayRead } from './history/who.js';
import { InDoubtChanges } from './in-doubt/in-doubt-changes.js';
import { RecordSyncService } from './in-doubt/record-sync.service.js';
import type { Edits } from './planner.js';
import { type Result, storedResult } from './results.js';
import { Truth } from './truth.js';

export const TICK_MS = 500;
/** ms that a writer gives the provider to show an earlier change which it may carry out for longer than one waits */
export const PROOF_MS = 3_000;
/** What accompanies a single edit. */
type OneOptions = Pick<ListOptions, 'door' | 'comment' | 'conditional'>;

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
  private ask: (job: Job, wish: NeedsApproval) => Promise<Error> = async (_job, wish) => wish;

  constructor(
    private readonly facts: ZoneFacts,
    private readonly domains: DomainsService,
    private readonly sets: ChangeSets,
    private readonly sync: RecordSyncService,
    private readonly attempts: ChangeAttempts,
    private readonly inDoubt: InDoubtChanges,
    private readonly installation: Installation,
    private readonly logger: Logger,
  ) {}

  /** Long lists stop after their current piece; the next start continues them. */
  onModuleDestroy(): void {
    this.stopping = true;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /**
   * A single edit, or what it is once the rows of its name are known. @param connection where it is known already
   * @returns the row as it is now, null after a deletion
   * @throws AppError 400001, 403001, 404001, 409001, 409003, 412001, 428001; ProviderError
   */
  async one(
    actor: Actor,
    domain: OpenDomain,
    edit: Edit | Exclude<Edits, readonly Edit[]>,
    options: OneOptions,
    connection?: Connection,
  ): Promise<StoredRecord | null> {
    const edits = 'hosts' in edit ? edit : [edit];
    const { results } = await this.whole(actor, domain, edits, { ...options, atomic: true }, connection);
    const [result] = results as [Result];
    if (!result.ok) throw result.error;
    return result.row;
  }

  /** A list that is waited for to its end. @throws AppError when it is atomic and an edit does not fit */
  async whole(
    actor: Actor,
    domain: OpenDomain,
    edits: Edits,
    options: ListOptions,
    known?: Connection,
  ): Promise<Finished> {
    const connection = known ?? (await this.facts.connection(domain));
    return this.start({ actor, domain, edits, options, accepted: null, connection, resumes: null });
  }

  /** Continues what is left of a list. @returns false where somebody else has taken it up */
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
   * @returns what became of each edit, in their order; or the number of the change set that continues in the background
   * @throws AppError when the list is atomic and an edit does not fit
   */
  async list(
    actor: Actor,
    domain: OpenDomain,
    edits: Edits,
    options: ListOptions,
    waitMs: number,
    connection: Connection,
  ): Promise<Finished | (Accepted & { results: null })> {
    let accept: (list: Accepted) => void = () => undefined;
    const accepted = new Promise<Accepted>((resolve) => {
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
    if ('results' in first) return first;
    const { changeSet } = first;
    this.running.add(done);
    void done
      .catch((err) =>
        this.logger.error({ err, change_set: changeSet, domain: domain.name }, 'a list of changes was cut off'),
      )
      .finally(() => this.running.delete(done));
    const cancel = after(waitMs, goAway);
    const end = await Promise.race([done, patience]).finally(cancel);
    return end && !end.paused ? end : { ...first, results: null };
  }

  /** Registers what continues long lists, piece by piece. */
  goesOnBy(carryOn: ChangeEngine['carryOn']): void {
    this.carryOn = carryOn;
  }

  /** Registers what stores lists that need an approval; it returns what their callers are told. */
  asksBy(ask: ChangeEngine['ask']): void {
    this.ask = ask;
  }

  /**
   * Waits for the end of a list that is carried out piece by piece.
   * @param patience until when the caller waits; after that the plan, which may be large, is not kept
   */
  private async wholeOf(
    domainId: number,
    { changeSet, left, pieces }: Finished,
    patience: Promise<unknown>,
  ): Promise<Finished> {
    const { planned, pending } = left as NonNullable<Finished['left']>;
    const id = changeSet as number;
    let isWaited = true;
    void patience.then(() => {
      isWaited = false;
    });
    await Promise.race([this.carryOn(id, domainId), patience]);
    // another process may work on it, or it is held or paused
    for (let on = await this.sets.goesOn(id); on; on = await this.sets.goesOn(id)) {
      if (this.stopping || !isWaited || on === 'held') return { changeSet, results: [], pieces, paused: true };
      await sleep(TICK_MS);
      await Promise.race([this.carryOn(id, domainId), patience]);
    }
    const rows = await this.sets.ended(id);
    const results = planned.map((edit) => {
      const row = rows.get(edit.position) ?? { record_id: null, state: 'not_tried', error: null };
      return storedResult(edit, row, pending.has(edit.position));
    });
    return { changeSet, results, pieces };
  }

  /** Repeats the attempt until the list is done; each one is planned with what the one before has shown. */
  private async start(job: Job): Promise<Finished> {
    const { edits, domain, connection } = job;
    assertMeant(job);
    this.installation.assertWorks();
    const sets = 'hosts' in edits ? (edits.sets ?? []) : setsOf(edits);
    const course: Course = {
      first: domain.id,
      more: new Set(),
      looked: false,
      end: timeMs() + Math.min(LOCK_WAIT_MS, requestDeadline().work - monotonicMs()),
      truth: sets.length ? new Truth(sets, job.resumes !== null) : null,
      replaces: connection.definition.capabilities.replaces,
      stopping: () => this.stopping,
    };
    for (;;) {
      if (requestDeadline().isOver) throw errors.overdue();
      const attempt: Attempt = await this.attempts.make(job, course).catch(async (error: unknown) => {
        throw error instanceof NeedsApproval ? await this.ask(job, error) : error;
      });
      switch (attempt.kind) {
        case 'done':
          return attempt.finished;
        case 'moved':
          course.first = attempt.first;
          break;
        case 'elsewhere':
          job.domain = { ...(await this.domains.reload(domain.id)), access: domain.access };
          job.connection = await this.facts.connection(job.domain);
          course.replaces = job.connection.definition.capabilities.replaces;
          break;
        case 'refresh':
          await this.refreshed(attempt.ids);
          course.looked = true;
          break;
        case 'differs':
          await this.followed(job);
          break;
        case 'in-flight':
          await this.patience(attempt, course);
          course.looked = false;
          // the account may have moved meanwhile
          job.connection = await this.facts.connection(job.domain);
          break;
        case 'more-names':
          for (const host of attempt.hosts) course.more.add(host);
          // the account may have got other credentials while the list was planned
          if (!attempt.hosts.length) job.connection = await this.facts.connection(job.domain);
      }
    }
  }

  /** What the provider holds may settle what is in doubt; where it does not, the plan says what cannot be said. */
  private async refreshed(ids: readonly number[]): Promise<void> {
    for (const id of ids)
      await this.domains
        .reload(id)
        .then((domain) => this.sync.refresh(domain, 'system'))
        .catch((error: Error) => this.logger.debug({ err: error.message }, 'unclear'));
  }

  /** Brings the cache up to date. @throws ProviderError; AppError 409002 with the records that the caller may read */
  private async followed({ domain, actor }: Job): Promise<void> {
    await this.sync.refresh(domain, 'system').catch((error: unknown) => {
      throw error instanceof SuspiciousList ? error.told(mayRead(actor, domain)) : error;
    });
  }

  /**
   * Waits, without a lock, until the provider cannot carry out an earlier change any more, or until a list of it has
   * shown what became of that.
   * @throws AppError 409001; 500002 when the request has no time left, and nothing was begun
   */
  private async patience(
    { ids, hosts, until }: Attempt & { kind: 'in-flight' },
    { end, replaces }: Course,
  ): Promise<void> {
    const at = Date.parse(until) || 0;
    const last = at > end ? timeMs() + PROOF_MS : at;
    do {
      if (this.stopping) break;
      const left = requestDeadline().work - monotonicMs();
      if (left <= 0) throw errors.overdue();
      await sleep(Math.max(1, Math.min(last + 1 - timeMs(), TICK_MS, left)));
      if (!(await this.inDoubt.isAt(ids, replaces === 'zone' ? null : hosts))) return;
    } while (timeMs() <= last);
    if (at > end || this.stopping) throw errors.conflict('earlier_change_unclear', { until });
  }
}

/** @throws DryRun where the caller only wants to be told what would be done */
function assertMeant({ actor, domain, edits, options }: Job): void {
  if (actor !== 'system' && actor.intent?.dryRun) throw new DryRun(domain, edits, options);
}

/** The sets of which a list says what they hold: an upsert that finds its record in the cache alone makes nothing. */
const setsOf = (edits: readonly Edit[]): SetKey[] => {
  const records = edits.flatMap((edit) =>
    edit.op === 'upsert' && 'record' in edit && !edit.wasCreate ? [edit.record] : [],
  );
  return [
    ...new Map(records.map(({ host, type, line }) => [keyText({ host, type, line }), { host, type, line }])).values(),
  ];
};
