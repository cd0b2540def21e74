import { Injectable } from '@nestjs/common';
import { log } from '../common/logger.js';
import { Db, marks, type SqlValue } from '../database/db.js';
import type { AuditPending } from './audit.entity.js';
import { entryHash, HASHED } from './chain.js';
import { ChainEnds } from './chain-ends.service.js';

/** ms after a write until it is linked: what comes meanwhile is linked with it */
const SOON_MS = 100;
/** entries of one transaction, and of one statement */
const PIECE = 200;
const ROWS = 20;

type Written = Exclude<(typeof HASHED)[number], 'seq'>;
/** what a writer says of an entry: what is hashed, but its number */
const ENTRY = [...HASHED.filter((column): column is Written => column !== 'seq'), 'change_set_id'] as const;
const COLUMNS = [...ENTRY, 'seq', 'prev_hash', 'hash', 'seal'] as const;

type Row = Omit<AuditPending, 'target' | 'state_before' | 'state_after'> &
  Record<'target' | 'state_before' | 'state_after', string | null>;

/** A column of JSON. What is none was not written by us: it is taken, hashed and shown as the text that it is. */
export function parsed(text: string | null): object | string | null {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Moves entries into the chain, in the order in which they are found: numbered without gaps, each hashed over the one
 * before it. Under the lock of the chain's one row, so that all processes may try: nobody else waits for that lock. An
 * entry that is committed later than one with a higher id is found by the next run.
 */
@Injectable()
export class AuditLinker {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  /** the run that has not begun yet: it will find all that is committed now */
  private next: Promise<void> | undefined;
  /** an entry of before there was a key is not waited for: the first run signs what is there */
  private signed = false;
  private stopped = false;
  /** what the last run failed of */
  private trouble = '';

  constructor(
    private readonly db: Db,
    private readonly ends: ChainEnds,
  ) {}

  /** Links soon. It is enough to call it after a commit; what a crash leaves is linked by the job. */
  wake(): void {
    if (this.stopped) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.linkIfPossible();
    }, SOON_MS).unref();
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
   * The same for who reads: a database that takes no writes can still be read.
   * @returns what it failed of
   */
  async linkIfPossible(): Promise<Error | null> {
    try {
      await this.link();
      this.trouble = '';
      return null;
    } catch (err) {
      const { message } = err as Error;
      // once, not with each reading and writing
      if (message !== this.trouble) log().warn({ err }, 'audit entries could not be linked; trying again');
      this.trouble = message;
      return err as Error;
    }
  }

  /** What is written from now on is linked by the next start. */
  stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    return this.link();
  }

  private async run(): Promise<void> {
    for (;;) {
      if (this.signed && !(await this.db.row('SELECT id FROM audit_pending LIMIT 1'))) return;
      if ((await this.piece()) < PIECE) return;
    }
  }

  /** @returns how many entries were linked */
  private async piece(): Promise<number> {
    const count = await this.db.transaction(async (manager) => {
      const { secret: stored, signature, ...ends } = await this.ends.lock(manager);
      const rows = await this.db.rows<Row>(
        `SELECT id, ${ENTRY.join(', ')} FROM audit_pending ORDER BY id LIMIT ${PIECE}`,
        [],
        manager,
      );
      // the key comes with the first entry, so that an empty database belongs to nobody
      if (!rows.length && (stored || !ends.seq)) return 0;
      const secret = stored ?? this.ends.newSecret();
      const keys = this.ends.keysOf(secret);
      // an end that somebody else moved is not signed again, or it would look like ours
      const ours = !stored || keys.signs(ends, signature);
      if (!stored) ends.unsealed_seq = ends.seq;
      const linked = rows.map(({ id: _, ...row }): SqlValue[] => {
        const states = {
          target: parsed(row.target),
          state_before: parsed(row.state_before),
          state_after: parsed(row.state_after),
        };
        const previous = ends.hash;
        ends.seq += 1;
        ends.hash = entryHash(previous, { ...row, ...states, seq: ends.seq });
        return [...ENTRY.map((column) => row[column]), ends.seq, previous, ends.hash, keys.seal(ends.hash)];
      });
      const one = `(${marks(COLUMNS.length)})`;
      for (let i = 0; i < linked.length; i += ROWS) {
        const some = linked.slice(i, i + ROWS);
        await this.db.run(
          `INSERT INTO audit_logs (${COLUMNS.join(', ')}) VALUES ${some.map(() => one).join(', ')}`,
          some.flat(),
          manager,
        );
      }
      for (let i = 0; i < rows.length; i += ROWS) {
        const ids = rows.slice(i, i + ROWS).map(({ id }) => id);
        await this.db.run(`DELETE FROM audit_pending WHERE id IN (${marks(ids.length)})`, ids, manager);
      }
      await this.ends.store(manager, ends, secret, ours ? keys.sign(ends) : null);
      return rows.length;
    });
    this.signed = true;
    return count;
  }
}
