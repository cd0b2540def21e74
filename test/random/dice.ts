/** Random numbers that a seed repeats (mulberry32). */
export class Dice {
  constructor(private state: number) {}

  /** from 0 up to 1 */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** whole, both ends included */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(p: number): boolean {
    return this.next() < p;
  }

  of<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T;
  }

  /** Dice of their own, which what others throw does not move. */
  fork(): Dice {
    return new Dice(this.int(0, 0x7fffffff));
  }
}
