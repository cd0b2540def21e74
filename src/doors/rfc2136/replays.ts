import type { Buffer } from 'node:buffer';
import { timeMs } from '../../platform/common/clock.js';

/** Updates whose answers are kept at once; the oldest are forgotten first. */
const MOST = 20_000;

/**
 * The answers to updates, for as long as their signatures count: one that comes again, since its answer was late or
 * somebody sends it once more, waits for the first one and gets the same answer.
 */
export class Replays {
  private readonly kept = new Map<string, { answer: Promise<Buffer>; until: number }>();

  /** @param until seconds since 1970 */
  once({ id, until }: { id: string; until: number }, answered: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.kept.get(id);
    if (known) return known.answer;
    this.tidy();
    const answer = answered();
    // what could not be answered at all may be tried anew
    answer.catch(() => this.kept.delete(id));
    this.kept.set(id, { answer, until });
    return answer;
  }

  private tidy(): void {
    for (const [id, { until }] of this.kept) {
      if (until * 1000 > timeMs() && this.kept.size < MOST) return;
      this.kept.delete(id);
    }
  }
}
