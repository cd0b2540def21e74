import { Injectable } from '@nestjs/common';
import { MAX_CLOCK_OFFSET_MS, now } from '../common/clock.js';
import { randomHex } from '../common/hash.js';
import { Db, isDuplicate, marks, type SqlValue } from '../database/db.js';
import { isGone } from '../database/process-name.js';
import { BRIEF } from '../database/sqlite.js';
import type { JobRow } from './job.entity.js';

/** ms after which the job of a process that stopped renewing its lease is taken over */
const LEASE_MS = 30_000;
/** jobs that one page of a look shows */
export const LOOK = 500;
const MAX_ERROR = 2000;
/** bytes: MariaDB's texts end there */
const MAX_JSON = 60_000;
const DAY_MS = 86_400_000;
const KEEP_DONE_MS = 7 * DAY_MS;
const KEEP_FAILED_MS = 30 * DAY_MS;
/** two that make the same job at once see each other's at the next try */
const TRIES = 5;

/** What has to be known of a job to run it. */
export type DueRow = Pick<
  JobRow,
  | 'id'
  | 'name'
  | 'kind'
  | 'unique_key'
  | 'payload'
  | 'progress'
  | 'every_ms'
  | 'state'
  | 'next_at'
  | 'owner'
  | 'tries'
  | 'last_error'
>;

/** How a run ended, as it is noted: `error` null for well, left out: nothing is known of it. */
export interface Ending {
  state: 'waiting' | 'done' | 'failed';
  nextAt: string;
  tries: number;
  error?: string | null;
  progress?: string | null;
  result?: string | null;
}

const COLUMNS = 'id, name, kind, unique_key, payload, progress, every_ms, state, next_at, owner, tries, last_error';

/** ms that a scheduled job may be late by at least before it counts as stopped */
const LATE_MS = 10_000;

/**
 * The longest that a job may have to wait, or a lease may last: what is further away was written by a wrong clock. Of a
 * lease twice its time, since a run whose clock was set back a little renews it soon.
 */
const longest = ({ state, every_ms, tries }: Pick<DueRow, 'state' | 'every_ms' | 'tries'>): number =>
  state === 'running' ? 2 * LEASE_MS : every_ms === null ? (tries ? DAY_MS : 0) : Number(every_ms);

/** Whether somebody may begin it now; `graceMs`: of one that waits, only when it is late by so much. */
export const isDue = (row: DueRow, graceMs = 0): boolean => {
  const { state, next_at, owner } = row;
  if (next_at > now(longest(row) + MAX_CLOCK_OFFSET_MS)) return state === 'running' || state === 'waiting';
  return state === 'running'
    ? next_at <= now() || (owner !== null && isGone(owner))
    : state === 'waiting' && next_at <= now(-graceMs);
};

/** Since when a scheduled job should have been begun, when nobody did for three of its intervals; null: it goes on. */
export function stoppedSince({
  kind,
  state,
  next_at,
  every_ms,
}: Pick<JobRow, 'kind' | 'state' | 'next_at' | 'every_ms'>) {
  if (kind !== 'scheduled' || (state !== 'waiting' && state !== 'running')) return null;
  return next_at < now(-lateAfter(Number(every_ms))) ? next_at : null;
}

/** ms after which what is done every so many ms counts as stopped: three intervals. */
export const lateAfter = (everyMs: number): number => Math.max(LATE_MS, 3 * everyMs);

/** What a job is done to, where there is at most one for it. */
export const subjectOf = ({ kind, unique_key }: Pick<JobRow, 'kind' | 'unique_key'>): string | null =>
  kind === 'once' && !unique_key.startsWith('#') ? unique_key : null;

/** As stored; what is too long for a text of MariaDB is left out. */
export function stored(value: unknown): string | null {
  const json = JSON.stringify(value ?? null);
  return json === 'null' || Buffer.byteLength(json) > MAX_JSON ? null : json;
}

/** The row as it was seen, for a compare-and-set: whoever moves it first has it. */
function seen({ id, state, next_at, owner }: Pick<DueRow, 'id' | 'state' | 'next_at' | 'owner'>): [string, SqlValue[]] {
  const where = `id = ? AND state = ? AND next_at = ? AND ${owner === null ? 'owner IS NULL' : 'owner = ?'}`;
  return [where, [id, state, next_at, ...(owner === null ? [] : [owner])]];
}

/**
 * The table of jobs. Whoever moves `next_at` by compare-and-set has a job; the new `next_at` is the lease, `owner`
 * names the run.
 */
@Injectable()
export class JobsRepository {
  constructor(private readonly db: Db) {}

  /** Makes the rows of scheduled jobs that have none, and follows a changed interval. */
  async register(scheduled: ReadonlyMap<string, number>): Promise<void> {
    for (const [name, everyMs] of scheduled) {
      const known = await this.byKey(`scheduled|${name}`);
      if (!known) await this.insert({ name, kind: 'scheduled', key: `scheduled|${name}`, payload: null, everyMs });
      if (!known || Number(known.every_ms) === everyMs) continue;
      await this.db.run('UPDATE jobs SET every_ms = ? WHERE id = ?', [everyMs, known.id]);
      // sooner than what the longer interval had planned
      await this.db.run(`UPDATE jobs SET next_at = ? WHERE id = ? AND state = 'waiting' AND next_at > ?`, [
        now(everyMs),
        known.id,
        now(everyMs),
      ]);
    }
  }

  /** When the first job of this installation was made: no two installations did it in one moment. */
  async birth(): Promise<string> {
    const row = await this.db.row<{ at: string }>(`SELECT MIN(created_at) AS at FROM jobs WHERE kind = 'scheduled'`);
    return String(row?.at ?? '').replace(/\D/g, '');
  }

  /**
   * A job to be done once, soon. One with the same key that has ended begins anew; one that waits is left as it is; one
   * that runs is run once more afterwards, with the last payload that it was asked for with.
   * @returns its id
   */
  async enqueue(name: string, payload: unknown, key: string | null): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      const known = key === null ? undefined : await this.byKey(key);
      if (!known) {
        const id = await this.insert({ name, kind: 'once', key, payload, everyMs: null });
        if (id !== null) return id;
      } else {
        if (known.state === 'waiting') return known.id;
        const json = JSON.stringify(payload ?? null);
        const [where, values] = seen(known);
        const asked =
          known.state === 'running'
            ? // its lease may be renewed meanwhile, its end not be noted
              await this.db.run('UPDATE jobs SET asked = ? WHERE id = ? AND owner = ?', [json, known.id, known.owner])
            : await this.db.run(
                `UPDATE jobs SET payload = ?, state = 'waiting', next_at = ?, tries = 0, progress = NULL WHERE ${where}`,
                [json, now(), ...values],
              );
        if (asked === 1) return known.id;
      }
      if (attempt === TRIES) throw new Error(`the job ${name} could not be made`);
    }
  }

  /**
   * The same for somebody who waits, so that one that waits is theirs from now on.
   * @param owner the run that this process begins with it; null: whoever has a place for it does
   * @returns its row, or, when one with this key runs already, its id alone
   */
  async put(
    name: string,
    payload: unknown,
    key: string | null,
    owner: string | null,
  ): Promise<DueRow | { runs: number }> {
    const state = owner === null ? 'waiting' : 'running';
    const tries = owner === null ? 0 : 1;
    for (let attempt = 1; ; attempt++) {
      const known = key === null ? undefined : await this.byKey(key);
      if (known?.state === 'running' && !isDue(known)) return { runs: known.id };
      if (known) {
        const [where, values] = seen(known);
        const json = JSON.stringify(payload ?? null);
        const ours = await this.db.run(
          `UPDATE jobs SET payload = ?, state = ?, owner = ?, next_at = ?, started_at = COALESCE(?, started_at),
           runs = runs + ?, tries = ?, progress = NULL, result = NULL WHERE ${where}`,
          [json, state, owner, now(owner === null ? 0 : LEASE_MS), owner && now(), tries, tries, ...values],
        );
        if (ours === 1) return { ...known, payload: json, state, owner, tries, progress: null };
      } else {
        const id = await this.insert({ name, kind: 'once', key, payload, everyMs: null }, owner);
        const row = id === null ? undefined : await this.one(id);
        if (row) return row;
      }
      if (attempt === TRIES) throw new Error(`the job ${name} could not be begun`);
    }
  }

  /** @returns its id; null when there is one with the same key */
  private async insert(
    job: { name: string; kind: string; key: string | null; payload: unknown; everyMs: number | null },
    owner: string | null = null,
  ): Promise<number | null> {
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

  /**
   * Jobs of these names that are under way or to be done, the next ones first; no others hide the scheduled ones.
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

  /** A job by its id. */
  one(id: number): Promise<DueRow | undefined> {
    return this.db.row<DueRow>(`SELECT ${COLUMNS} FROM jobs WHERE id = ?`, [id]);
  }

  private byKey(key: string): Promise<DueRow | undefined> {
    return this.db.row<DueRow>(`SELECT ${COLUMNS} FROM jobs WHERE unique_key = ?`, [key]);
  }

  /** Begins a run of what was seen as due. @returns false when somebody else was faster */
  async claim(row: DueRow, owner: string): Promise<boolean> {
    const [where, values] = seen(row);
    const changed = await this.db.run(
      `UPDATE jobs SET state = 'running', owner = ?, next_at = ?, started_at = ?, runs = runs + 1, tries = tries + 1
       WHERE ${where}${BRIEF}`,
      [owner, now(LEASE_MS), now(), ...values],
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

  /**
   * Notes how a run ended; one that was asked for meanwhile is due at once, as if it was new.
   * @returns false when somebody else has the job by now
   */
  async end(id: number, owner: string, ending: Ending): Promise<boolean> {
    const { state, nextAt, tries, error, progress, result } = ending;
    const more: Record<string, SqlValue | undefined> = {
      // PostgreSQL takes no NUL
      last_error: error?.replaceAll('\0', '\uFFFD').slice(0, MAX_ERROR) ?? error,
      result,
    };
    const given = Object.entries(more).filter((entry): entry is [string, SqlValue] => entry[1] !== undefined);
    // one that was cut off has not done yet what it was asked for before
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

  /** All that come again and again. */
  scheduled(): Promise<(DueRow & Pick<JobRow, 'stopped_at'>)[]> {
    return this.db.rows(`SELECT ${COLUMNS}, stopped_at FROM jobs WHERE kind = 'scheduled'`);
  }

  /** Notes that one has stopped, or (null) that it goes on. @returns whether nobody had noted it before */
  async noteStop(id: number, since: string | null): Promise<boolean> {
    const where = since === null ? 'stopped_at IS NOT NULL' : 'stopped_at IS NULL';
    return (await this.db.run(`UPDATE jobs SET stopped_at = ? WHERE id = ? AND ${where}`, [since, id])) === 1;
  }

  /** Whether anybody has begun a job within so many ms. */
  async someBegan(withinMs: number): Promise<boolean> {
    return Boolean(await this.db.row('SELECT id FROM jobs WHERE started_at > ? LIMIT 1', [now(-withinMs)]));
  }

  /** One that failed, or waits, is due now. @returns whether it was either */
  async again(id: number): Promise<boolean> {
    const changed = await this.db.run(
      `UPDATE jobs SET state = 'waiting', next_at = ?, tries = 0 WHERE id = ? AND state IN ('failed', 'waiting')`,
      [now(), id],
    );
    return changed === 1;
  }

  /**
   * Forgets what ended long ago, and scheduled ones that no process has any more.
   * @param names scheduled here: one that is as late, after a machine slept for long, is about to run
   */
  async tidy(names: readonly string[]): Promise<void> {
    const gone = `DELETE FROM jobs WHERE state = ? AND kind = ? AND next_at < ? AND COALESCE(ended_at, created_at) < ?`;
    await this.db.run(gone, ['done', 'once', now(), now(-KEEP_DONE_MS)]);
    await this.db.run(gone, ['failed', 'once', now(), now(-KEEP_FAILED_MS)]);
    await this.db.run(`${gone} AND name NOT IN (${marks(names.length)})`, [
      ...['waiting', 'scheduled', now(-KEEP_FAILED_MS), now(-KEEP_FAILED_MS)],
      ...names,
    ]);
  }
}
