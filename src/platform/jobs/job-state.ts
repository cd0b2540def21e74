import { MAX_CLOCK_OFFSET_MS, now } from '../common/clock.js';
import { isGone } from '../database/process-name.js';
import type { JobRow } from './job.entity.js';

/** ms after which the job of a process that stopped renewing its lease is taken over */
export const LEASE_MS = 30_000;
const DAY_MS = 86_400_000;
/** ms that a scheduled job may be late by at least before it counts as stopped */
const LATE_MS = 10_000;
/** bytes: MariaDB's texts end there */
const MAX_JSON = 60_000;

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

/**
 * The longest that a job may have to wait, or a lease may last: what is further away was written by a wrong clock. Of a
 * lease twice its time, since a run whose clock was set back a little renews it soon.
 */
const longest = ({ state, every_ms, tries }: Pick<DueRow, 'state' | 'every_ms' | 'tries'>): number =>
  state === 'running' ? 2 * LEASE_MS : every_ms === null ? (tries ? DAY_MS : 0) : Number(every_ms);

/** Whether a process may begin the job now. @param graceMs a waiting job counts only when it is late by so much */
export const isDue = (row: DueRow, graceMs = 0): boolean => {
  const { state, next_at, owner } = row;
  if (next_at > now(longest(row) + MAX_CLOCK_OFFSET_MS)) return state === 'running' || state === 'waiting';
  return state === 'running'
    ? next_at <= now() || (owner !== null && isGone(owner))
    : state === 'waiting' && next_at <= now(-graceMs);
};

/** Since when a scheduled job is overdue by more than three of its intervals; null: it is not. */
export function stoppedSince({
  kind,
  state,
  next_at,
  every_ms,
}: Pick<JobRow, 'kind' | 'state' | 'next_at' | 'every_ms'>) {
  if (kind !== 'scheduled' || (state !== 'waiting' && state !== 'running')) return null;
  return next_at < now(-lateAfter(Number(every_ms))) ? next_at : null;
}

/** ms after which work that is repeated every so many ms counts as stopped: three intervals. */
export const lateAfter = (everyMs: number): number => Math.max(LATE_MS, 3 * everyMs);

/** What a job works on, where there is at most one job for it. */
export const subjectOf = ({ kind, unique_key }: Pick<JobRow, 'kind' | 'unique_key'>): string | null =>
  kind === 'once' && !unique_key.startsWith('#') ? unique_key : null;

/** A value as the table stores it; null for what is too long for a text of MariaDB. */
export function stored(value: unknown): string | null {
  const json = JSON.stringify(value ?? null);
  return json === 'null' || Buffer.byteLength(json) > MAX_JSON ? null : json;
}
