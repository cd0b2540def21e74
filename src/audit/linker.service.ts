import { Injectable } from '@nestjs/common';
import { after, type Cancel } from '../platform/common/clock.js';
import { withoutDeadline } from '../platform/common/deadline.js';
import { Logger } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import { AuditLogsRepository, type LinkedEntry } from './audit-logs.repository.js';
import { AuditPendingRepository } from './audit-pending.repository.js';
import { entryHash } from './chain.js';
import { ChainEnds } from './chain-ends.service.js';
import { statesOf } from './states.js';

/** ms after a write until it is linked, together with what is written meanwhile */
const SOON_MS = 100;
/** entries of one transaction */
const PIECE = 200;

/**
 * Moves entries into the chain, in the order in which they are found: numbered without gaps, each hashed over the one
 * before it. All processes may try, since it is done under the lock of the chain's one row, which nothing else waits
 * for. An entry that is committed later than one with a higher id is found by the next run.
 */
@Injectable()
export class AuditLinker {
  private cancelRun: Cancel | undefined;
  private running: Promise<void> = Promise.resolve();
  /** the next run, while it has not begun: it will find all that is committed now */
  private next: Promise<void> | undefined;
  /** false until the first run, which signs an existing chain even when no entry is pending */
  private signed = false;
  private stopped = false;
  /** the message of the last failure */
  private trouble = '';

  constructor(
    private readonly db: Db,
    private readonly entries: AuditPendingRepository,
    private readonly logs: AuditLogsRepository,
    private readonly ends: ChainEnds,
    private readonly logger: Logger,
  ) {}

  /** Links soon. Call it after a commit; what a crash leaves is linked by the job. */
  wake(): void {
    if (this.stopped) return;
    // of no request: it links what others wrote meanwhile, too
    this.cancelRun ??= withoutDeadline(() =>
      after(
        SOON_MS,
        () => {
          this.cancelRun = undefined;
          void this.linkIfPossible();
        },
        { idle: true },
      ),
    );
  }

  /** Links all that is committed when it is called. */
  link(): Promise<void> {
    this.next ??= this.running.then(() => {
      this.next = undefined;
      const run = this.run();
      this.running = run.catch(() => undefined);
      return run;
    });
    return this.next;
  }

  /**
   * The same for readers: a database that takes no writes can still be read.
   * @returns why it failed
   */
  async linkIfPossible(): Promise<Error | null> {
    try {
      await this.link();
      this.trouble = '';
      return null;
    } catch (err) {
      const { message } = err as Error;
      // logged once, not with each read and write
      if (message !== this.trouble) this.logger.warn({ err }, 'audit entries could not be linked; trying again');
      this.trouble = message;
      return err as Error;
    }
  }

  /** Links once more; what is written later is linked by the next start. */
  stop(): Promise<void> {
    this.stopped = true;
    this.cancelRun?.();
    return this.link();
  }

  private async run(): Promise<void> {
    for (;;) {
      if (this.signed && (await this.entries.isEmpty())) return;
      if ((await this.piece()) < PIECE) return;
    }
  }

  /** @returns how many entries were linked */
  private async piece(): Promise<number> {
    const count = await this.db.transaction(async (manager) => {
      const { secret: stored, signature, ...ends } = await this.ends.lock(manager);
      const rows = await this.entries.oldest(PIECE, manager);
      // the key is created with the first entry: an empty database needs none
      if (!rows.length && (stored || !ends.seq)) return 0;
      const secret = stored ?? this.ends.newSecret();
      const keys = this.ends.keysOf(secret);
      // an end that somebody else changed is not signed again: the signature would vouch for it
      const ours = !stored || keys.signs(ends, signature);
      if (!stored) ends.unsealed_seq = ends.seq;
      const linked = rows.map(({ id: _, ...row }): LinkedEntry => {
        const prev_hash = ends.hash;
        ends.seq += 1;
        ends.hash = entryHash(prev_hash, { ...row, ...statesOf(row), seq: ends.seq });
        return { ...row, seq: ends.seq, prev_hash, hash: ends.hash, seal: keys.seal(ends.hash) };
      });
      await this.logs.insert(linked, manager);
      const ids = rows.map(({ id }) => id);
      await this.entries.remove(ids, manager);
      await this.ends.store(manager, ends, secret, ours ? keys.sign(ends) : null);
      return rows.length;
    });
    this.signed = true;
    return count;
  }
}
