import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isDatabaseDown, isDatabaseSlow, mayGoWell, whyUnwritable } from '../platform/database/db.js';
import { Metrics } from '../platform/metrics/metrics.js';
import type { AuditCheckpoint, AuditVerdict } from './audit.dto.js';
import type { StoredEnds } from './audit-chain.repository.js';
import { AuditLogsRepository } from './audit-logs.repository.js';
import { type Break, ChainWalk } from './chain.js';
import { ChainEnds } from './chain-ends.service.js';
import { CheckpointFile } from './checkpoint-file.service.js';
import { AuditLinker } from './linker.service.js';
import { statesOf } from './states.js';

/** rows of one query: with more, their garbage lives longer */
const BATCH = 200;
/** below every number that a row can have, except on SQLite */
const BEFORE_ALL = -2_147_483_648;
/** errors of the database that say nothing about the entries */
const PASSING = [isDatabaseDown, isDatabaseSlow, mayGoWell, whyUnwritable];
const STRANGE = 'the recorded key of the chain is none of this service';

/** Recomputes the chain: finds entries that were changed, removed, moved or put in. */
@Injectable()
export class AuditVerifier {
  /** the result of the last verification; null: there was none */
  private broken: boolean | null = null;

  constructor(
    private readonly logs: AuditLogsRepository,
    private readonly ends: ChainEnds,
    private readonly linker: AuditLinker,
    private readonly file: CheckpointFile,
    metrics: Metrics,
  ) {
    metrics.provide('zoneward_audit_broken', () => {
      const verified = this.broken === null ? {} : { verification: Number(this.broken) };
      return { ...verified, checkpoint: Number(file.wrong) };
    });
  }

  /** Verifies all that is linked when it begins, some rows at a time. */
  async verify(): Promise<AuditVerdict> {
    const found = await this.verified();
    this.broken = !found.ok;
    return found;
  }

  private async verified(): Promise<AuditVerdict> {
    const waiting = await this.waiting();
    for (;;) {
      // the file is read first, so that it is never ahead of the chain
      const file = await this.file.read();
      const ends = await this.ends.read();
      if (!ends) return verdict(0, null, { seq: null, reason: 'the end of the chain was taken out' }, null);
      if (ends.secret && !this.ends.knows(ends.secret)) return verdict(0, null, { seq: null, reason: STRANGE }, null);
      const { walk, wrong: found } = await this.look(ends, file);
      const wrong = found ?? waiting;
      // retention may have removed the oldest entries meanwhile
      if (wrong && (await this.ends.read())?.start_seq !== ends.start_seq) continue;
      if (!wrong) await this.file.update();
      return verdict(walk.seq, ends, wrong, this.ends.checkpointOf(ends));
    }
  }

  /** Why pending entries cannot be linked, unless the database is the cause. */
  private async waiting(): Promise<Break | null> {
    const error = (await this.linker.linkIfPossible()) && (await this.linker.linkIfPossible());
    if (!error || PASSING.some((is) => is(error))) return null;
    return { seq: null, reason: `entries wait that cannot be put into the chain: ${error.message}` };
  }

  /** Whether the entries from the beginning of the chain up to this one are as they were written. */
  async isWhole(ends: StoredEnds, until: number, manager?: EntityManager): Promise<boolean> {
    const walk = this.walk(ends, []);
    if ((await this.follow(walk, until, manager)) || walk.seq !== until) return false;
    return !(await this.unseen(ends, until, manager));
  }

  private walk(ends: StoredEnds, checkpoints: Pick<AuditCheckpoint, 'seq' | 'hash'>[]): ChainWalk {
    const keys = ends.secret ? this.ends.keysOf(ends.secret) : null;
    return new ChainWalk(
      (ends.start_seq ?? 1) - 1,
      ends.start_hash ?? '',
      checkpoints,
      ends.unsealed_seq ?? 0,
      keys ? (hash) => keys.seal(hash) : undefined,
    );
  }

  private async look(
    ends: StoredEnds,
    file: AuditCheckpoint | null,
  ): Promise<{ walk: ChainWalk; wrong: Break | null }> {
    const start = ends.start_seq ?? 1;
    const walk = this.walk(ends, [ends, ...(file && file.seq >= start ? [file] : [])]);
    const wrong =
      (await this.follow(walk, ends.seq)) ?? walk.end() ?? (await this.beyond()) ?? (await this.unseen(ends, ends.seq));
    return { walk, wrong: wrong ?? this.judge(ends, file, walk) };
  }

  /** @returns what is wrong with the first entry that is */
  private async follow(walk: ChainWalk, until: number, manager?: EntityManager): Promise<Break | null> {
    for (let after = BEFORE_ALL; after < until; after = walk.seq) {
      const found = await this.piece(walk, after, until, manager);
      if (found !== 'more') return found;
      // others' requests, too: SQLite answers within the same turn
      await nextTurn();
    }
    return null;
  }

  /** A function of its own: its caller waits for turns, and must not keep the rows alive meanwhile. */
  private async piece(
    walk: ChainWalk,
    after: number,
    until: number,
    manager?: EntityManager,
  ): Promise<Break | 'more' | null> {
    const rows = await this.logs.chainRows(after, until, BATCH, manager);
    for (const row of rows) {
      // in place: copies of so many fields live until the collector goes through everything
      const wrong = walk.next(Object.assign(row, statesOf(row)));
      if (wrong) return wrong;
    }
    return rows.length < BATCH ? null : 'more';
  }

  /** An entry behind the end of the chain. */
  private async beyond(): Promise<Break | null> {
    const seq = await this.logs.firstSeqBeyondEnd();
    if (seq === null) return null;
    return { seq, reason: `entry ${seq} was put in behind the end of the chain` };
  }

  /** An entry that the walk does not meet: before its beginning, or a duplicate number at the end of a batch. */
  private async unseen(ends: StoredEnds, until: number, manager?: EntityManager): Promise<Break | null> {
    const start = ends.start_seq ?? 1;
    const { count, least } = await this.logs.countUpTo(until, manager);
    if (count === until - start + 1) return null;
    if (least !== null && least < start)
      return { seq: least, reason: `entry ${least} was put in before the beginning of the chain` };
    const twice = await this.logs.firstDuplicateSeq(until, manager);
    return twice === null ? null : { seq: twice, reason: `entry ${twice} is there twice` };
  }

  /** Checks what the entries do not show: whether the end is the one that was signed. */
  private judge(ends: StoredEnds, file: AuditCheckpoint | null, walk: ChainWalk): Break | null {
    if (walk.hash !== ends.hash) return { seq: walk.seq, reason: 'the chain does not end in its recorded hash' };
    const checkpoint = this.ends.checkpointOf(ends);
    // a database that took no writes since the upgrade
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
  ends: StoredEnds | null,
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
