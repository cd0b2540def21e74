import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { groupByHost } from '../dns/group-by-host.js';
import { systemAccess } from '../domains/access-rights.js';
import { DomainsService } from '../domains/domains.service.js';
import { now, sleep, timeMs } from '../platform/common/clock.js';
import { actingLater } from '../platform/common/deadline.js';
import { AppError, errors } from '../platform/common/errors.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Installation } from '../platform/database/installation.js';
import { Events } from '../platform/events/events.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { ChangeSets } from './change-sets.js';
import type { Edit } from './edits/edit.js';
import type { RecordPatch } from './edits/record.dto.js';
import { ChangeEngine } from './engine.service.js';
import type { ChangeSet, RecordChange } from './history/change-set.entity.js';
import { ChangeSetsRepository, NOBODY } from './history/change-sets.repository.js';
import { type LeftChange, RecordChangesRepository } from './history/record-changes.repository.js';
import { type ChangedState, creationOf, patchOf, stateOf } from './history/states.js';
import { actorOf } from './history/who.js';
import { hostsOf } from './in-doubt/evidence.js';
import { InDoubtChanges, LIST_LIFE_MS } from './in-doubt/in-doubt-changes.js';
import { MAX_NAMES } from './in-doubt/locks.js';
import { cancelled } from './results.js';

/** ms between looks for lists that were left */
const EVERY_MS = 15_000;
/** longer ones are over at once */
const MAX_SLEEP_MS = 2 ** 31 - 1;
/** changes of one piece: other writers of the domain come in between two of them */
const PIECE = 100;
/**
 * Carries on with long lists that were accepted, piece by piece, whichever process accepted them: what is left of each
 * passes the engine once more, judged against the records as they are now.
 */
@Injectable()
export class ResumeService implements OnModuleInit, OnModuleDestroy {
  private readonly pool = new FairPool('resumed lists');
  /** lists that are being continued */
  private readonly carried = new Map<number, Promise<void>>();
  private stopping = false;

  constructor(
    private readonly rows: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly database: DatabaseService,
    private readonly events: Events,
    private readonly jobs: Jobs,
    private readonly domains: DomainsService,
    private readonly inDoubt: InDoubtChanges,
    private readonly engine: ChangeEngine,
    private readonly sets: ChangeSets,
    private readonly installation: Installation,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.engine.goesOnBy((id, domainId) => this.carryOn(id, domainId));
    // a start begins with what the last end left
    this.events.on('database.opened', () => this.wake());
    // a freeze may be over sooner than it was when lists began to wait for its end
    this.events.on('domain.rules.changed', async (id) => {
      await this.rows.unfreeze(id);
      this.wake();
    });
    this.jobs.schedule('changes.resume', EVERY_MS, (signal) => this.look(signal));
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  /** A list that was held may go on: it is not waited for the next look. */
  wake(): void {
    void this.look().catch((error: Error) => this.logger.warn({ err: error.message }, 'lists that were left stay so'));
  }

  /** Side by side, and with what is left meanwhile: one at a provider that is down keeps no other one waiting. */
  private async look(signal?: AbortSignal): Promise<void> {
    do {
      if (!this.database.open || this.installation.halted) return;
      for (const { id, domain_id } of await this.inDoubt.resumable()) void this.carryOn(id, domain_id);
      if (!this.carried.size || !signal) return;
      const soon = sleep(EVERY_MS, { signal, idle: true });
      await Promise.race([Promise.all(this.carried.values()), soon]);
    } while (this.carried.size && !signal.aborted);
  }

  /** Until nothing is left of it that this process may do now. */
  private carryOn(id: number, domainId: number): Promise<void> {
    const running = this.carried.get(id) ?? this.inTurn(id, domainId).finally(() => this.carried.delete(id));
    this.carried.set(id, running);
    return running;
  }

  private async inTurn(id: number, domainId: number): Promise<void> {
    // of a domain that is gone it has to be given up
    const owner = await this.domains.reload(domainId).then(
      (domain) => domain.owner_id,
      () => null,
    );
    await this.pool.run({ user: owner, target: domainId }, () => this.rounds(id, domainId));
  }

  private async rounds(id: number, domainId: number): Promise<void> {
    try {
      while (!this.stopping && (await this.round(id, domainId)));
    } catch (error) {
      this.logger.warn(
        { change_set: id, err: (error as Error).message },
        'a list of changes could not be carried on with',
      );
      const isGone = error instanceof AppError && error.status === 404;
      const end = isGone ? this.sets.giveUp(id, error) : this.sets.rest(id).then((time) => this.wakeAt(time));
      await end.catch((err) => this.logger.warn({ change_set: id, err }, 'that was not written down'));
    }
  }

  /** A list that is paused is not waited for the next look. */
  private wakeAt(time: string | null): void {
    if (time !== null)
      void sleep(Math.min(Date.parse(time) - timeMs() + 1, MAX_SLEEP_MS), { idle: true }).then(() => this.wake());
  }

  /** Tries what is left, piece by piece, unless it is paused or held. @returns whether to look once more */
  private async round(id: number, domainId: number): Promise<boolean> {
    const set = await this.goesOn(id);
    if (!set) return false;
    const left = await this.changes.pending(id);
    if (!left.length) return false;
    let begun = false;
    for (const piece of set.atomic ? [left] : piecesOf(left, PIECE, MAX_NAMES)) {
      if (this.stopping) return false;
      if (!(await this.goOn(id, domainId, set, piece))) break;
      begun = true;
      const ended = await this.rows.progress(id);
      this.wakeAt(ended?.paused_until ?? null);
      if (ended?.owner !== NOBODY || ended.hold_reason !== null || ended.paused_until) break;
    }
    return begun;
  }

  /** The list, if it may be gone on with now; one that was cancelled, or has had its time, ends here. */
  private async goesOn(id: number): Promise<ChangeSet | null> {
    const set = await this.rows.toResume(id);
    // another process works on it, or it has ended
    if (set?.owner !== NOBODY) return null;
    if (set.cancelled_at !== null) {
      await this.sets.giveUp(id, cancelled());
      return null;
    }
    // it frees its slot of the pool meanwhile
    if (set.hold_reason !== null || Date.parse(set.paused_until ?? '') > timeMs()) return null;
    if ((set.confirmed_at ?? set.created_at) >= now(-LIST_LIFE_MS)) return set;
    await this.sets.giveUp(id, errors.conflict('list_unfinished'));
    return null;
  }

  /** Hands a piece of a list to the engine. @returns false where another process is faster */
  private async goOn(
    id: number,
    domainId: number,
    set: ChangeSet,
    piece: readonly { position: number }[],
  ): Promise<boolean> {
    const domain = await this.domains.reload(domainId);
    const positions = piece.map(({ position }) => position).toSorted((a, b) => a - b);
    const edits = (await this.changes.left(id, positions)).map((one) => editOf(one, Boolean(set.planned)));
    if (edits.length !== positions.length) return false;
    const override = set.override_reason ?? undefined;
    const options = { door: set.door, comment: set.comment, atomic: Boolean(set.atomic), override };
    const all = { ...domain, access: systemAccess };
    const resumes = { changeSet: id, positions };
    return actingLater(() => this.engine.resume(actorOf(set), all, edits, options, resumes));
  }
}

/**
 * What a stored change still wants: of an update what it was to change, since somebody may have changed the rest
 * meanwhile; of a plan only where that is as it was. Its rights are judged with its piece (`HeldLists`).
 */
function editOf(left: LeftChange, isPlan: boolean): Edit {
  const { op, record_id: id } = left;
  const state = stateOf(left.state_after, left.value_after);
  const was = stateOf(left.state_before, left.value_before);
  if (op === 'delete' || !state) return { op: 'delete', id: id ?? 0, ...(isPlan && was && { was: contentOf(was) }) };
  const after = patchOf(state);
  if (id !== null && was) {
    const before = patchOf(was);
    const keys = (Object.keys(after) as (keyof typeof after)[]).filter((key) => after[key] !== before[key]);
    const some = (all: typeof after): RecordPatch => Object.fromEntries(keys.map((key) => [key, all[key] ?? null]));
    return { op: 'update', id, patch: some(after), ...(isPlan && { was: some(before) }) };
  }
  const { host: _h, type: _t, value: _v, ...patch } = after;
  return { op: 'upsert', ...creationOf(state), patch, wasCreate: op === 'create' };
}

/** What makes a record this one: its TTL may move with its set, and the rest is said of it here alone. */
function contentOf(state: ChangedState): RecordPatch {
  const { ttl: _ttl, remark: _remark, expires_at: _end, ...content } = patchOf(state);
  return content;
}

/** Stored changes in pieces of at most so many, and of at most so many names where these are tied by nothing. */
function piecesOf<T extends Pick<RecordChange, 'host' | 'host_before'>>(
  changes: readonly T[],
  size: number,
  names: number,
): T[][] {
  const pieces: T[][] = [];
  let at = new Set<string>();
  for (const group of groupByHost(changes, hostsOf)) {
    const more = group.flatMap(hostsOf);
    const piece = pieces.at(-1);
    const together = new Set([...at, ...more]);
    if (piece && piece.length + group.length <= size && together.size <= names) {
      piece.push(...group);
      at = together;
    } else {
      pieces.push(group);
      at = new Set(more);
    }
  }
  return pieces;
}
