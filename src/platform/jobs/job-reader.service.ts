import { Injectable, type OnModuleInit } from '@nestjs/common';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import type { PageQuery } from '../common/paging.dto.js';
import { Installation } from '../database/installation.js';
import { Metrics } from '../metrics/metrics.js';
import { stoppedSince, subjectOf } from './job-state.js';
import { Jobs } from './jobs.js';
import { type JobFilter, JobsRepository, type ShownRow } from './jobs.repository.js';

/** ms within which a running service has begun a job */
const AT_WORK_MS = 5000;

/** A job as the API shows it. */
interface JobShown {
  id: number;
  name: string;
  kind: 'scheduled' | 'once';
  state: 'waiting' | 'running' | 'done' | 'failed';
  subject: string | null;
  every_seconds: number | null;
  next_run_at: string | null;
  last_run_at: string | null;
  ended_at: string | null;
  last_error: string | null;
  progress: object | null;
  result: object | null;
  runs: number;
  tries: number;
  replica: string | null;
  pid: number | null;
  created_at: string;
}

/** Jobs, for administrators. */
@Injectable()
export class JobReader implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly repository: JobsRepository,
    private readonly installation: Installation,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.provide('zoneward_jobs', () => this.count());
  }

  /** Newest first, unless a sort is given. */
  async list(query: PageQuery & JobFilter): Promise<{ total: number; list: JobShown[] }> {
    const stopped = await this.stopped();
    const { total, list } = await this.repository.list(query, [...stopped.keys()]);
    return { total, list: list.map((row) => shown(row, stopped)) };
  }

  /** Whether a service works on this database, or did a moment ago: it begins jobs all the time. */
  someBegan(): Promise<boolean> {
    return this.repository.someBegan(AT_WORK_MS);
  }

  /** Scheduled jobs that no process runs, or that do not do their work, and the reason to think so. */
  async stopped(): Promise<Map<number, { name: string; reason: string; since: string }>> {
    const found = new Map<number, { name: string; reason: string; since: string }>();
    // jobs of a restored copy do not run until an administrator releases it
    if (this.installation.paused) return found;
    for (const row of await this.repository.scheduled()) {
      const known = this.jobs.scheduled.get(row.name);
      if (!known) continue;
      const since = stoppedSince(row);
      const reason = since ? `it has not run since it was due at ${since}` : await known.stopped();
      if (reason) found.set(row.id, { name: row.name, reason, since: since ?? now() });
    }
    return found;
  }

  /**
   * Jobs by state; `failing` are scheduled jobs whose last run failed or that have stopped, `stopped` only the latter,
   * if there are any.
   */
  async count(): Promise<Record<string, number>> {
    const stopped = await this.stopped();
    const counts = await this.repository.countByState([...stopped.keys()]);
    return stopped.size ? { ...counts, stopped: stopped.size } : counts;
  }

  /** @throws AppError 404001 */
  async get(id: number): Promise<JobShown> {
    const row = await this.repository.shown(id);
    if (!row) throw errors.notFound('job');
    return shown(row, await this.stopped());
  }
}

const parsed = (json: string | null): object | null => (json === null ? null : JSON.parse(json));

function shown(row: ShownRow, stopped: ReadonlyMap<number, { reason: string }>): JobShown {
  const [replica, , , pid] = row.state === 'running' ? (row.owner?.split('/') ?? []) : [];
  return {
    id: row.id,
    name: row.name,
    kind: row.kind as JobShown['kind'],
    state: row.state as JobShown['state'],
    subject: subjectOf(row),
    every_seconds: row.every_ms === null ? null : Number(row.every_ms) / 1000,
    next_run_at: row.state === 'waiting' ? row.next_at : null,
    last_run_at: row.started_at,
    ended_at: row.ended_at,
    last_error: stopped.get(row.id)?.reason ?? row.last_error,
    progress: parsed(row.progress),
    result: parsed(row.result),
    runs: Number(row.runs),
    tries: Number(row.tries),
    replica: replica ?? null,
    pid: pid === undefined ? null : Number(pid),
    created_at: row.created_at,
  };
}
