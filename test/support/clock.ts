import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, useClock } from '../../src/platform/common/clock.js';

/** A call that the service has scheduled. */
interface Call {
  /** For which it was scheduled. */
  ms: number;
  /** Time of the steered clock. */
  due: number;
  idle: boolean;
  run: () => void;
  timer: NodeJS.Timeout | undefined;
}

/** Waits up to this many ms are pauses between two looks, which a stopped clock does not hold up. */
const PAUSE_MS = 1000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Iterations of the event loop in which what a call has begun may schedule the next call. */
const TURNS = 3;

/** The clock of the service in this process, which a test advances. */
export class SteeredClock implements Clock {
  private skipped = 0;
  private readonly calls = new Set<Call>();
  private readonly began = { wall: Date.now(), mono: performance.now() };

  /**
   * @param stands The time passes only by `advance`: no limit of the service ends while a slow machine is at work.
   * Waits of less than a second, which are pauses between two reads, still take real time.
   */
  constructor(private readonly stands: boolean) {}

  wallMs(): number {
    return (this.stands ? this.began.wall : Date.now()) + this.skipped;
  }

  monotonicMs(): number {
    return (this.stands ? this.began.mono : performance.now()) + this.skipped;
  }

  after(ms: number, work: () => void, idle: boolean): () => void {
    const call: Call = {
      ms,
      due: this.monotonicMs() + Math.max(0, ms),
      idle,
      run: AsyncResource.bind(work),
      timer: undefined,
    };
    this.calls.add(call);
    this.arm(call, ms);
    return () => this.forget(call);
  }

  /** ms until each scheduled call, the soonest first. */
  get waits(): number[] {
    return [...this.calls].map(({ due }) => due - this.monotonicMs()).toSorted((a, b) => a - b);
  }

  /** How many waits of the service end in so many ms. */
  countWaits(ms: number): number {
    return this.waits.filter((left) => Math.round(left) === ms).length;
  }

  /** Whether the service waits for so many ms. */
  isWaiting(ms: number): boolean {
    return this.countWaits(ms) > 0;
  }

  /** How many waits of so many ms the service has begun that have not ended, however many ms are left. */
  countBegun(ms: number): number {
    return [...this.calls].filter((call) => Math.round(call.ms) === ms).length;
  }

  /** Lets so many ms pass at once: each call that is due by then is made, at its own time. */
  async advance(ms: number): Promise<void> {
    const end = this.monotonicMs() + ms;
    for (;;) {
      const [next] = [...this.calls].filter(({ due }) => due <= end).toSorted((a, b) => a.due - b.due);
      if (!next) break;
      this.skipped += Math.max(0, next.due - this.monotonicMs());
      this.fire(next);
      for (let turn = 0; turn < TURNS; turn++) await nextTurn();
    }
    this.skipped += Math.max(0, end - this.monotonicMs());
    for (const call of this.calls) this.arm(call, call.due - this.monotonicMs());
  }

  /** Gives the service the clock of the machine again. Calls that wait are made when their time has come. */
  release(): void {
    useClock(null);
    for (const call of this.calls) this.start(call, call.due - this.monotonicMs());
  }

  private arm(call: Call, ms: number): void {
    if (!this.stands || ms < PAUSE_MS) this.start(call, ms);
  }

  private start(call: Call, ms: number): void {
    clearTimeout(call.timer);
    // a time that never comes is not waited for
    if (ms > LONGEST_TIMER_MS) return;
    call.timer = setTimeout(() => this.fire(call), Math.max(0, ms));
    if (call.idle) call.timer.unref();
  }

  private fire(call: Call): void {
    if (this.forget(call)) call.run();
  }

  private forget(call: Call): boolean {
    clearTimeout(call.timer);
    return this.calls.delete(call);
  }
}

/** Lets a test advance the clock of the service in this process; the clock also runs with that of the machine. */
export const steerClock = (): SteeredClock => install(new SteeredClock(false));

/** The same with a clock that stands still, but for what the test advances. */
export const stopClock = (): SteeredClock => install(new SteeredClock(true));

function install(clock: SteeredClock): SteeredClock {
  useClock(clock);
  return clock;
}
