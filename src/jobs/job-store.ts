import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../common/clock.js';
import { Db, isDuplicate, marks } from '../database/db.js';
import { isGone } from '../database/process-name.js';
import { BRIEF } from '../database/sqlite.js';
import type { JobRow } from './job.entity.js';

/** ms after which the job of a process that stopped renewing its lease is taken over */
const LEASE_MS = 30_000;
/** jobs that one look shows: all scheduled ones, and the next others */
const LOOK = 100;
const MAX_ERROR = 2000;

/** What has to be known of a job to run it. */
export type DueRow = Pick<
  JobRow,
  'id' | 'name' | 'kind' | 'payload' | 'every_ms' | 'state' | 'next_at' | 'owner' | 'tries'
>;

/** How a run ended, as it is noted: `error` null for well. */
export interface Ending {
  state: 'waiting' | 'done' | 'failed';
  nextAt: string;
  error: string | null;
  tries: number;
  /** left out: stays as it is */
  result?: string;
}

const COLUMNS = 'id, name, kind, payload, every_ms, state, next_at, owner, tries';

/** Whether somebody may begin it now. */
export const isDue = ({ state, next_at, owner }: DueRow): boolean =>
  next_at <= now() || (state === 'running' && owner !== null && isGone(owner));

/**
 * The table of jobs. Whoever moves `next_at` by compare-and-set has a job; the new `next_at` is the lease, `owner`
 * names the run.
 */
@Injectable()
export class JobStore {
  constructor(private readonly db: Db) {}

  /** Makes the rows of scheduled jobs that have none, and follows a changed interval. */
  async register(scheduled: ReadonlyMap<string, number>): Promise<void> {
    for (const [name, everyMs] of scheduled) {
      const key = `scheduled|${name}`;
      const known = await this.db.row<{ id: number; every_ms: number }>(
        'SELECT id, every_ms FROM jobs WHERE unique_key = ?',
        [key],
      );
      if (known && Number(known.every_ms) === everyMs) continue;
      if (known) {
        await this.db.run('UPDATE jobs SET every_ms = ? WHERE id = ?', [everyMs, known.id]);
        // sooner than what the longer interval had planned
        await this.db.run(`UPDATE jobs SET next_at = ? WHERE id = ? AND state = 'waiting' AND next_at > ?`, [
          now(everyMs),
          known.id,
          now(everyMs),
        ]);
        continue;
      }
      await this.insert({ name, kind: 'scheduled', key, payload: 'null', everyMs, nextAt: now() }).catch((error) => {
        if (!isDuplicate(error)) throw error;
      });
    }
  }

  /** @throws the database's error when there is one with the same key */
  async insert(
    job: { name: string; kind: string; key: string | null; payload: string; everyMs: number | null; nextAt: string },
    manager?: EntityManager,
  ): Promise<void> {
    await this.db.run(
      `INSERT INTO jobs (name, kind, unique_key, payload, every_ms, state, next_at, runs, tries, created_at)
       VALUES (?, ?, ?, ?, ?, 'waiting', ?, 0, 0, ?)`,
      [job.name, job.kind, job.key, job.payload, job.everyMs, job.nextAt, now()],
      manager,
    );
  }

  /** Jobs of these names that are under way or to be done, the next ones first; no others hide the scheduled ones. */
  async next(names: readonly string[]): Promise<DueRow[]> {
    if (!names.length) return [];
    return this.db.rows<DueRow>(
      `SELECT ${COLUMNS} FROM jobs WHERE state IN ('waiting', 'running') AND name IN (${marks(names.length)})
       ORDER BY kind DESC, next_at, id LIMIT ${LOOK}`,
      [...names],
    );
  }

  /** Begins a run of what was seen as due. @returns false when somebody else was faster */
  async claim({ id, state, next_at, owner: seen }: DueRow, owner: string): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE jobs SET state = 'running', owner = ?, next_at = ?, started_at = ?, runs = runs + 1, tries = tries + 1
       WHERE id = ? AND state = ? AND next_at = ? AND ${seen === null ? 'owner IS NULL' : 'owner = ?'}${BRIEF}`,
      [owner, now(LEASE_MS), now(), id, state, next_at, ...(seen === null ? [] : [seen])],
    );
    return changed === 1;
  }

  /** @returns whether it is still this run's */
  async renew(id: number, owner: string, progress: string | null): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE jobs SET next_at = ?, progress = COALESCE(?, progress) WHERE id = ? AND owner = ?${BRIEF}`,
      [now(LEASE_MS), progress, id, owner],
    );
    return changed === 1;
  }

  /** Notes how a run ended, unless somebody else has the job by now. */
  async end(id: number, owner: string, { state, nextAt, error, tries, result }: Ending): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE jobs SET state = ?, owner = NULL, next_at = ?, last_error = ?, tries = ?, ended_at = ?
       ${result === undefined ? '' : ', result = ?'} WHERE id = ? AND owner = ?`,
      [
        state,
        nextAt,
        error?.slice(0, MAX_ERROR) ?? null,
        tries,
        now(),
        ...(result === undefined ? [] : [result]),
        id,
        owner,
      ],
    );
    return changed === 1;
  }
}
