import { Injectable } from '@nestjs/common';
import { now } from '../common/clock.js';
import { type DueRow, isDue } from './job-state.js';
import { JobsRepository } from './jobs.repository.js';

const DAY_MS = 86_400_000;
const KEEP_DONE_MS = 7 * DAY_MS;
const KEEP_FAILED_MS = 30 * DAY_MS;
/** two processes that make the same job at once see each other's at the next try */
const TRIES = 5;

/** Makes jobs and removes old ones. */
@Injectable()
export class JobQueue {
  constructor(private readonly repository: JobsRepository) {}

  /** Makes the rows of scheduled jobs that have none, and follows a changed interval. */
  async register(scheduled: ReadonlyMap<string, number>): Promise<void> {
    for (const [name, everyMs] of scheduled) {
      const key = `scheduled|${name}`;
      const known = await this.repository.byKey(key);
      if (!known) await this.repository.insert({ name, kind: 'scheduled', key, payload: null, everyMs });
      if (!known || Number(known.every_ms) === everyMs) continue;
      await this.repository.setInterval(known.id, everyMs);
      // sooner than what the longer interval had planned
      await this.repository.bringForward(known.id, now(everyMs));
    }
  }

  /** Digits that no other installation has: when its first job was made. */
  async birth(): Promise<string> {
    return ((await this.repository.firstScheduledAt()) ?? '').replace(/\D/g, '');
  }

  /**
   * A job to be done once, soon. One with the same key that has ended begins anew; one that waits is left as it is; one
   * that runs is run once more afterwards, with the last payload that it was asked for with.
   * @returns its id
   */
  async enqueue(name: string, payload: unknown, key: string | null): Promise<number> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const known = key === null ? undefined : await this.repository.byKey(key);
      const id = known
        ? await this.again(known, JSON.stringify(payload ?? null))
        : await this.repository.insert({ name, kind: 'once', key, payload, everyMs: null });
      if (id !== null) return id;
    }
    throw new Error(`the job ${name} could not be made`);
  }

  /** @returns its id; null: another process has changed it meanwhile */
  private async again(known: DueRow, json: string): Promise<number | null> {
    if (known.state === 'waiting') return known.id;
    const running = known.state === 'running';
    const asked = await (running ? this.repository.askAgain(known, json) : this.repository.renewEnded(known, json));
    return asked ? known.id : null;
  }

  /**
   * The same for a caller that waits for it: a job with the same key that waits takes the new payload.
   * @param owner the run that this process begins with it; null: the first process with a free slot does
   * @returns its row, or, when one with this key runs already, its id alone
   */
  async put(
    name: string,
    payload: unknown,
    key: string | null,
    owner: string | null,
  ): Promise<DueRow | { runs: number }> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const known = key === null ? undefined : await this.repository.byKey(key);
      if (known?.state === 'running' && !isDue(known)) return { runs: known.id };
      const row = known
        ? await this.repository.takeAnew(known, JSON.stringify(payload ?? null), owner)
        : await this.made(name, payload, key, owner);
      if (row) return row;
    }
    throw new Error(`the job ${name} could not be begun`);
  }

  /** @returns its row; undefined: another process has made one with this key meanwhile */
  private async made(
    name: string,
    payload: unknown,
    key: string | null,
    owner: string | null,
  ): Promise<DueRow | undefined> {
    const id = await this.repository.insert({ name, kind: 'once', key, payload, everyMs: null }, owner);
    return id === null ? undefined : this.repository.one(id);
  }

  /**
   * Removes jobs that ended long ago, and scheduled ones that no process has any more.
   * @param names scheduled here: one that is as late, after a machine slept for long, is about to run
   */
  async tidy(names: readonly string[]): Promise<void> {
    const failedBefore = now(-KEEP_FAILED_MS);
    await this.repository.removeOld('done', 'once', { due: now(), ended: now(-KEEP_DONE_MS) });
    await this.repository.removeOld('failed', 'once', { due: now(), ended: failedBefore });
    await this.repository.removeOld('waiting', 'scheduled', { due: failedBefore, ended: failedBefore }, names);
  }
}
