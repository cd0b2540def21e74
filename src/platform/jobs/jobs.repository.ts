import { Injectable } from '@nestjs/common';
import { now } from '../common/clock.js';
import { randomHex } from '../common/hash.js';
import type { PageQuery } from '../common/paging.dto.js';
import { Db, isDuplicate, marks, type SqlValue } from '../database/db.js';
import { listRows } from '../database/lists.js';
import { BRIEF } from '../database/sqlite.js';
import type { JobRow } from './job.entity.js';
import { type DueRow, LEASE_MS } from './job-state.js';

/** jobs in one page of a look */
export const LOOK = 500;
const MAX_ERROR = 2000;

/** A job that has no row yet. */
interface NewJob {
  name: string;
  kind: 'scheduled' | 'once';
  /** null: there may be others like it */
  key: string | null;
  payload: unknown;
  everyMs: number | null;
}

/** How a run ended. */
export interface Ending {
  state: 'waiting' | 'done' | 'failed';
  nextAt: string;
  tries: number;
  /** null: it ended well; left out: it was cut off */
  error?: string | null;
  progress?: string | null;
  result?: string | null;
}

/** Which jobs a list shows. */
export interface JobFilter {
  state?: string;
  name?: string;
  failing?: boolean;
}

/** A job with its history, without the columns that only a run needs. */
export type ShownRow = Omit<JobRow, 'payload' | 'asked' | 'stopped_at'>;

const COLUMNS = 'id, name, kind, unique_key, payload, progress, every_ms, state, next_at, owner, tries, last_error';
const SHOWN = `id, name, kind, unique_key, every_ms, state, next_at, runs, tries, progress, result, last_error,
  owner, created_at, started_at, ended_at`;

/**
 * A scheduled job is never given up: it counts as failing from a failure until a run ends well, and when it stopped.
 */
const failing = (stoppedIds: readonly number[]): string => {
  const failed = `kind = 'scheduled' AND last_error IS NOT NULL`;
  return stoppedIds.length ? `(${failed} OR id IN (${stoppedIds.join(', ')}))` : `(${failed})`;
};

/** The row as it was seen, for a compare-and-set: the first process that moves it has it. */
function seen({ id, state, next_at, owner }: Pick<DueRow, 'id' | 'state' | 'next_at' | 'owner'>): [string, SqlValue[]] {
  const where = `id = ? AND state = ? AND next_at = ? AND ${owner === null ? 'owner IS NULL' : 'owner = ?'}`;
  return [where, [id, state, next_at, ...(owner === null ? [] : [owner])]];
}

/** The table of jobs. While a job runs, `next_at` is the end of its lease, and `owner` names the run. */
@Injectable()
export class JobsRepository {
  constructor(private readonly db: Db) {}

  one(id: number): Promise<DueRow | undefined> {
    return this.db.row<DueRow>(`SELECT ${COLUMNS} FROM jobs WHERE id = ?`, [id]);
  }

  byKey(key: string): Promise<DueRow | undefined> {
    return this.db.row<DueRow>(`SELECT ${COLUMNS} FROM jobs WHERE unique_key = ?`, [key]);
  }

  scheduled(): Promise<(DueRow & Pick<JobRow, 'stopped_at'>)[]> {
    return this.db.rows(`SELECT ${COLUMNS}, stopped_at FROM jobs WHERE kind = 'scheduled'`);
  }

  /**
   * Jobs of these names that wait or run, the next ones first; jobs that are done once never hide the scheduled ones.
   * @param last of the page before
   */
  async next(names: readonly string[], last?: Pick<DueRow, 'kind' | 'next_at' | 'id'>): Promise<DueRow[]> {
    if (!names.length) return [];
    const behind = last ? 'AND (kind < ? OR (kind = ? AND (next_at > ? OR (next_at = ? AND id > ?))))' : '';
    return this.db.rows<DueRow>(
      `SELECT ${COLUMNS} FROM jobs WHERE state IN ('waiting', 'running') AND name IN (${marks(names.length)}) ${behind}
       ORDER BY kind DESC, next_at, id LIMIT ${LOOK}`,
      [...names, ...(last ? [last.kind, last.kind, last.next_at, last.next_at, last.id] : [])],
    );
  }

  /** When the first scheduled job was made; null: there is none. */
  async firstScheduledAt(): Promise<string | null> {
    const row = await this.db.row<{ at: string | null }>(
      `SELECT MIN(created_at) AS at FROM jobs WHERE kind = 'scheduled'`,
    );
    return row?.at ?? null;
  }

  /** Whether any process has begun a job within so many ms. */
  async someBegan(withinMs: number): Promise<boolean> {
    return Boolean(await this.db.row('SELECT id FROM jobs WHERE started_at > ? LIMIT 1', [now(-withinMs)]));
  }

  /**
   * @param owner the run that begins with it; null: it waits
   * @returns its id; null when there is one with the same key
   */
  async insert(job: NewJob, owner: string | null = null): Promise<number | null> {
    const runs = owner === null ? 0 : 1;
    // one without a key gets one of its own, and is found by it
    const key = job.key ?? `#${randomHex(16)}`;
    const row = {
      name: job.name,
      kind: job.kind,
      unique_key: key,
      payload: JSON.stringify(job.payload ?? null),
      every_ms: job.everyMs,
      state: owner === null ? 'waiting' : 'running',
      next_at: now(owner === null ? 0 : LEASE_MS),
      owner,
      runs,
      tries: runs,
      created_at: now(),
      started_at: owner === null ? null : now(),
    };
    const columns = Object.keys(row);
    try {
      await this.db.run(
        `INSERT INTO jobs (${columns.join(', ')}) VALUES (${marks(columns.length)})`,
        Object.values(row),
      );
    } catch (error) {
      if (isDuplicate(error)) return null;
      throw error;
    }
    return (await this.byKey(key))?.id ?? null;
  }

  async setInterval(id: number, everyMs: number): Promise<void> {
    await this.db.run('UPDATE jobs SET every_ms = ? WHERE id = ?', [everyMs, id]);
  }

  /** A job that waits until later is due at this moment. */
  async bringForward(id: number, at: string): Promise<void> {
    await this.db.run(`UPDATE jobs SET next_at = ? WHERE id = ? AND state = 'waiting' AND next_at > ?`, [at, id, at]);
  }

  /** Has a job run once more when this run ends. @returns false when that run has ended */
  async askAgain({ id, owner }: DueRow, payload: string): Promise<boolean> {
    // its lease may be renewed meanwhile, but its end must not have been written
    return (await this.db.run('UPDATE jobs SET asked = ? WHERE id = ? AND owner = ?', [payload, id, owner])) === 1;
  }

  /** A job that has ended waits anew. @returns false when it was changed since it was read */
  async renewEnded(known: DueRow, payload: string): Promise<boolean> {
    const [where, values] = seen(known);
    const changed = await this.db.run(
      `UPDATE jobs SET payload = ?, state = 'waiting', next_at = ?, tries = 0, progress = NULL WHERE ${where}`,
      [payload, now(), ...values],
    );
    return changed === 1;
  }

  /**
   * Gives a job another payload, and begins it, or has it wait.
   * @param owner the run that begins with it; null: it waits
   * @returns the row as it is now; null when it was changed since it was read
   */
  async takeAnew(known: DueRow, payload: string, owner: string | null): Promise<DueRow | null> {
    const state = owner === null ? 'waiting' : 'running';
    const tries = owner === null ? 0 : 1;
    const [where, values] = seen(known);
    const changed = await this.db.run(
      `UPDATE jobs SET payload = ?, state = ?, owner = ?, next_at = ?, started_at = COALESCE(?, started_at),
           runs = runs + ?, tries = ?, progress = NULL, result = NULL WHERE ${where}`,
      [payload, state, owner, now(owner === null ? 0 : LEASE_MS), owner && now(), tries, tries, ...values],
    );
    return changed === 1 ? { ...known, payload, state, owner, tries, progress: null } : null;
  }

  /** Begins a run of a job that is due. @returns false when another process was faster */
  async claim(row: DueRow, owner: string): Promise<boolean> {
    const [where, values] = seen(row);
    const changed = await this.db.run(
      `UPDATE jobs SET state = 'running', owner = ?, next_at = ?, started_at = ?, runs = runs + 1, tries = tries + 1
       WHERE ${where}${BRIEF}`,
      [owner, now(LEASE_MS), now(), ...values],
    );
    return changed === 1;
  }

  /** Renews the lease of a run. @returns whether the job is still this run's */
  async renew(id: number, owner: string, progress: string | null): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE jobs SET next_at = ?, progress = COALESCE(?, progress) WHERE id = ? AND owner = ?${BRIEF}`,
      [now(LEASE_MS), progress, id, owner],
    );
    return changed === 1;
  }

  /**
   * Writes how a run ended; a job that was asked for meanwhile is due at once, as if it was new.
   * @returns false when another process has the job by now
   */
  async end(id: number, owner: string, ending: Ending): Promise<boolean> {
    const { state, nextAt, tries, error, progress, result } = ending;
    const more: Record<string, SqlValue | undefined> = {
      // PostgreSQL takes no NUL
      last_error: error?.replaceAll('\0', '\uFFFD').slice(0, MAX_ERROR) ?? error,
      result,
    };
    const given = Object.entries(more).filter((entry): entry is [string, SqlValue] => entry[1] !== undefined);
    // a run that was cut off has not yet done what it was asked for before
    const unless = error === undefined ? '1 = 1' : 'asked IS NULL';
    const again = error === undefined ? '' : ', payload = COALESCE(asked, payload), asked = NULL';
    const changed = await this.db.run(
      `UPDATE jobs SET state = CASE WHEN ${unless} THEN ? ELSE 'waiting' END, owner = NULL,
       next_at = CASE WHEN ${unless} THEN ? ELSE ? END, tries = CASE WHEN ${unless} THEN ? ELSE 0 END,
       progress = CASE WHEN ${unless} THEN COALESCE(?, progress) END, ended_at = ?
       ${given.map(([column]) => `, ${column} = ?`).join('')}${again} WHERE id = ? AND owner = ?${BRIEF}`,
      [state, nextAt, now(), tries, progress ?? null, now(), ...given.map(([, value]) => value), id, owner],
    );
    return changed === 1;
  }

  /** Writes since when a job has stopped, or (null) that it goes on. @returns false when that was written before */
  async noteStop(id: number, since: string | null): Promise<boolean> {
    const where = since === null ? 'stopped_at IS NOT NULL' : 'stopped_at IS NULL';
    return (await this.db.run(`UPDATE jobs SET stopped_at = ? WHERE id = ? AND ${where}`, [since, id])) === 1;
  }

  /** A job that failed, or waits, is due now. @returns whether it was either */
  async again(id: number): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE jobs SET state = 'waiting', next_at = ?, tries = 0 WHERE id = ? AND state IN ('failed', 'waiting')`,
      [now(), id],
    );
    return changed === 1;
  }

  /**
   * Removes jobs of one state and kind that were due, and ended, before a moment.
   * @param but names that stay
   */
  async removeOld(
    state: string,
    kind: NewJob['kind'],
    before: { due: string; ended: string },
    but: readonly string[] = [],
  ): Promise<void> {
    const gone = `DELETE FROM jobs WHERE state = ? AND kind = ? AND next_at < ? AND COALESCE(ended_at, created_at) < ?`;
    const sql = but.length ? `${gone} AND name NOT IN (${marks(but.length)})` : gone;
    await this.db.run(sql, [state, kind, before.due, before.ended, ...but]);
  }

  /** @param stoppedIds scheduled jobs that have stopped */
  list(query: PageQuery & JobFilter, stoppedIds: readonly number[]): Promise<{ total: number; list: ShownRow[] }> {
    const given = Object.entries({ state: query.state, name: query.name }).filter(([, value]) => value !== undefined);
    return listRows<ShownRow>(this.db, query, {
      columns: SHOWN,
      from: 'jobs',
      where: [
        query.failing ? `(state = 'failed' OR ${failing(stoppedIds)})` : '1 = 1',
        ...given.map(([column]) => `${column} = ?`),
      ].join(' AND '),
      values: given.map(([, value]) => value as SqlValue),
      sorts: { id: 'id', name: 'name', state: 'state', next_run_at: 'next_at', last_run_at: 'started_at' },
      fallback: '-id',
      id: 'id',
      search: ['LOWER(name)'],
    });
  }

  shown(id: number): Promise<ShownRow | undefined> {
    return this.db.row<ShownRow>(`SELECT ${SHOWN} FROM jobs WHERE id = ?`, [id]);
  }

  /** Jobs by state, with `failing` for scheduled ones that fail or are among these. */
  async countByState(stoppedIds: readonly number[]): Promise<Record<string, number>> {
    const rows = await this.db.rows<{ state: string; n: number }>(
      `SELECT CASE WHEN ${failing(stoppedIds)} THEN 'failing' ELSE state END AS state, COUNT(*) AS n
         FROM jobs GROUP BY 1`,
    );
    return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
  }
}
