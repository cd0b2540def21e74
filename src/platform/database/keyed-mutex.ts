import { after, monotonicMs } from '../common/clock.js';

/** Who waits inside this process: first come first served at each name, and everybody until a time of his own. */
export class KeyedMutex {
  /** of each name that somebody is at: those behind him */
  private readonly behind = new Map<string, (() => void)[]>();

  /** Waits until all before have left. @returns false when it is `until` (ms, as `monotonicMs()`) before that */
  enter(name: string, until: number): Promise<boolean> {
    const line = this.behind.get(name);
    if (!line) {
      this.behind.set(name, []);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const turn = () => {
        cancel();
        resolve(true);
      };
      const cancel = after(Math.max(0, until - monotonicMs()), () => {
        line.splice(line.indexOf(turn), 1);
        resolve(false);
      });
      line.push(turn);
    });
  }

  /** The next one's turn. Only for who has entered. */
  leave(name: string): void {
    const next = this.behind.get(name)?.shift();
    if (next) next();
    else this.behind.delete(name);
  }

  /** Whether somebody is at it. */
  has(name: string): boolean {
    return this.behind.has(name);
  }
}
