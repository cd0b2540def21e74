import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Db } from '../database/db.js';
import type { AuditCheckpoint, AuditVerdict } from './audit.dto.js';
import type { AuditChain } from './audit.entity.js';
import { type Break, ChainWalk, HASHED, type Linked } from './chain.js';
import { ChainEnds } from './chain-ends.service.js';
import { CheckpointFile } from './checkpoint-file.service.js';
import { AuditLinker, parsed } from './linker.service.js';

/** rows of one look: with more, their garbage lives longer */
const BATCH = 200;
const COLUMNS = [...HASHED, 'change_set_id', 'prev_hash', 'hash', 'seal'].join(', ');
/** below every number that a row can have */
const BEFORE_ALL = -2_147_483_648;

type Stored = Omit<AuditChain, 'id'>;
type Row = Omit<Linked, 'target' | 'state_before' | 'state_after'> &
  Record<'target' | 'state_before' | 'state_after', string | null>;

/** Recomputes the chain: finds entries that were changed, removed, moved or put in. */
@Injectable()
export class AuditVerifier {
  constructor(
    private readonly db: Db,
    private readonly ends: ChainEnds,
    private readonly linker: AuditLinker,
    private readonly file: CheckpointFile,
  ) {}

  /** All that is linked when it begins, some rows at a time. */
  async verify(): Promise<AuditVerdict> {
    await this.linker.linkIfPossible();
    for (;;) {
      // the file first: it never is ahead of the chain
      const file = await this.file.read();
      const ends = await this.ends.read();
      if (!ends) return verdict(0, null, { seq: null, reason: 'the end of the chain was taken out' }, null);
      const { walk, wrong } = await this.look(ends, file);
      // the oldest entries may have been removed meanwhile, as the settings say
      if (wrong && (await this.ends.read())?.start_seq !== ends.start_seq) continue;
      if (!wrong) await this.file.update();
      return verdict(walk.seq, ends, wrong, this.ends.checkpointOf(ends));
    }
  }

  /** Whether the entries from the beginning of the chain up to this one are as they were written. */
  async isWhole(ends: Stored, until: number, manager?: EntityManager): Promise<boolean> {
    const walk = this.walk(ends, []);
    return !(await this.follow(walk, until, manager)) && walk.seq === until;
  }

  private walk(ends: Stored, checkpoints: Pick<AuditCheckpoint, 'seq' | 'hash'>[]): ChainWalk {
    const keys = ends.secret ? this.ends.keysOf(ends.secret) : null;
    return new ChainWalk(
      (ends.start_seq ?? 1) - 1,
      ends.start_hash ?? '',
      checkpoints,
      ends.unsealed_seq ?? 0,
      keys ? (hash) => keys.seal(hash) : undefined,
    );
  }

  private async look(ends: Stored, file: AuditCheckpoint | null): Promise<{ walk: ChainWalk; wrong: Break | null }> {
    const start = ends.start_seq ?? 1;
    const walk = this.walk(ends, [ends, ...(file && file.seq >= start ? [file] : [])]);
    const wrong = (await this.follow(walk, ends.seq)) ?? walk.end() ?? (await this.beyond());
    return { walk, wrong: wrong ?? this.judge(ends, file, walk) };
  }

  /** @returns what is wrong with the first entry that is */
  private async follow(walk: ChainWalk, until: number, manager?: EntityManager): Promise<Break | null> {
    for (let after = BEFORE_ALL; after < until; after = walk.seq) {
      const rows = await this.db.rows<Row>(
        `SELECT ${COLUMNS} FROM audit_logs WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${BATCH}`,
        [after, until],
        manager,
      );
      for (const { target, state_before, state_after, ...plain } of rows) {
        const states = {
          target: parsed(target),
          state_before: parsed(state_before),
          state_after: parsed(state_after),
        };
        const wrong = walk.next({ ...plain, ...states });
        if (wrong) return wrong;
      }
      if (rows.length < BATCH) break;
      // others' requests, too: SQLite answers within the same turn
      await nextTurn();
    }
    return null;
  }

  /** An entry behind the end of the chain. */
  private async beyond(): Promise<Break | null> {
    const row = await this.db.row<{ seq: number }>(
      'SELECT l.seq AS seq FROM audit_chain c JOIN audit_logs l ON l.seq > c.seq WHERE c.id = 1 ORDER BY l.seq LIMIT 1',
    );
    return row ? { seq: row.seq, reason: `entry ${row.seq} was put in behind the end of the chain` } : null;
  }

  /** What the entries do not tell: whether the end is the one that was signed. */
  private judge(ends: Stored, file: AuditCheckpoint | null, walk: ChainWalk): Break | null {
    if (walk.hash !== ends.hash) return { seq: walk.seq, reason: 'the chain does not end in its recorded hash' };
    const checkpoint = this.ends.checkpointOf(ends);
    // a database that takes no writes since the upgrade
    if (!ends.secret && !file) return null;
    if (!checkpoint)
      return { seq: ends.seq + 1, reason: 'the recorded end of the chain was not signed by this service' };
    if (file && file.public_key !== checkpoint.public_key)
      return { seq: null, reason: 'the checkpoint in the data directory was signed with another key' };
    return null;
  }
}

function verdict(
  seq: number,
  ends: Stored | null,
  wrong: Break | null,
  checkpoint: AuditCheckpoint | null,
): AuditVerdict {
  const entries = ends ? Math.max(0, seq - (ends.start_seq ?? 1) + 1) : 0;
  const bad = wrong?.seq ?? null;
  return {
    ok: !wrong,
    entries,
    first_bad_seq: bad,
    reason: wrong?.reason ?? null,
    checkpoint: wrong ? null : checkpoint,
    checked: entries,
    broken_seq: bad,
  };
}
