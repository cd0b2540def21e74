import { Injectable } from '@nestjs/common';
import { monotonicMs } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import type { AppError } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { LeaseLost } from '../platform/database/leases.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';
import type { Change, Outcome } from '../providers/provider.js';
import { ChangeCommits, type Run } from './commit.service.js';
import type { Net } from './edits/working-copy.js';
import { HeldLists } from './held.service.js';
import { InDoubtChanges } from './in-doubt/in-doubt-changes.js';
import { RecordSyncService } from './in-doubt/record-sync.service.js';

/** ms for a list, less where a request has less time left; what is not begun by then is not tried */
const LIST_MS = 120_000;
/** ms for one that goes on in the background, at a provider that lets few requests an hour */
const LONG_LIST_MS = 86_400_000;
const ASKED = 'the provider is being asked what it holds';
const LOST = `The locks of the change were lost while it was made, and somebody else may have changed its names; ${ASKED}`;
const UNWRITTEN = `What came of the change could not be written down; ${ASKED}`;

/**
 * Carries out what is planned and stored, piece by piece: the provider first, then cache, audit and change set in one
 * transaction, for which the locks must still be ours. A piece whose commit fails is in doubt.
 */
@Injectable()
export class ChangeExecutor {
  constructor(
    private readonly commits: ChangeCommits,
    private readonly sync: RecordSyncService,
    private readonly inDoubt: InDoubtChanges,
    private readonly heldLists: HeldLists,
    private readonly logger: Logger,
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
    const end = monotonicMs() + (background && !run.pauses ? LONG_LIST_MS : LIST_MS);
    const { work, isOver } = requestDeadline();
    const bounds = { deadline: isOver ? 0 : Math.min(end, work), heldUntil, atomic, only: run.only };
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
      this.logger.error(
        { err: error, domain: domain.name, change_set: changeSet },
        'the end of a change was not written',
      );
      throw new OutboundError('unavailable', error instanceof LeaseLost ? LOST : UNWRITTEN).of(domain.provider, false);
    }
    if (ended.inDoubt)
      this.logger.warn({ domain: domain.name }, 'the provider gave no clear answer; asking it what it holds');
    if (ended.inDoubt || run.others.length) void this.sync.settleAll();
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
      const [chunk = [], following = [], ...later] = chunks.slice(i);
      const outcomes = await answersOf(chunk, apply);
      const because = hopelessOf(outcomes.values(), run.options.atomic);
      const last = i >= chunks.length - 1 || because !== null;
      inDoubt ||= [...outcomes.values()].some(isUnclear);
      const pause = background && !last ? await this.pauseBefore(run, following, stopping) : null;
      const next = pause ? [] : following;
      const behind = [following, ...later].flat();
      const goesOn = await this.commits.conclude(run, {
        chunk,
        outcomes,
        behind,
        because,
        next: last ? null : next,
        inDoubt,
        background,
      });
      if (pause?.refusal) await this.heldLists.hold(run.changeSet, run.domain.id, pause.refusal, run.held.owner);
      if (pause) return { inDoubt, paused: true };
      if (!goesOn) break;
    }
    return { inDoubt, paused: false };
  }

  /** Why a list in the background is not gone on with here; null: it is. */
  private async pauseBefore(
    { changeSet, domain }: Run,
    next: readonly Net[],
    stopping: () => boolean,
  ): Promise<{ refusal: string | null } | null> {
    // the next piece is not begun by a process that ends: another one continues
    if (stopping()) return { refusal: null };
    // whoever requested it may have lost the right meanwhile
    const refusal = await this.heldLists.refusal(changeSet, domain.id, next);
    return refusal === null ? null : { refusal };
  }
}

/** Asks the provider for what of a piece concerns it. */
async function answersOf(
  chunk: readonly Net[],
  apply: (changes: Change[]) => Promise<Outcome[]>,
): Promise<ReadonlyMap<Net, Outcome>> {
  const asked = chunk.filter((net) => net.change !== null);
  const answers = asked.length ? await apply(asked.map((net) => net.change as Change)) : [];
  return new Map(asked.map((net, at) => [net, answers[at] as Outcome]));
}

/** Kinds of failure behind which no other change of the list can succeed. */
const HOPELESS: ReadonlySet<string> = new Set(['auth', 'unavailable']);

/** A value that a provider cannot hold is not sent either, and says nothing of the others. */
const isHopeless = ({ error, tried }: Outcome & { ok: false }): boolean =>
  HOPELESS.has(error.kind) || (!tried && error.kind !== 'rejected');

const isUnclear = (outcome: Outcome): boolean => !outcome.ok && outcome.error.mayHaveApplied;

/** The failure behind which nothing more of a list is tried, if there is one. */
function hopelessOf(outcomes: Iterable<Outcome>, atomic: boolean): AppError | null {
  for (const outcome of outcomes) if (!outcome.ok && (atomic || isHopeless(outcome))) return outcome.error;
  return null;
}
