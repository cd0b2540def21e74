import { type Message, TooMuch } from '../../dns/wire.js';

/** Limits for all answers of one zone check. */
export interface Bound {
  /** Sent questions, including repeats over TCP or without EDNS. */
  messages: number;
  /** Octets of all answers. */
  octets: number;
  records: number;
  /** Octets of decompressed names. */
  names: number;
}

/** For a check of a zone's delegation and servers. */
export const SURVEY: Bound = { messages: 500, octets: 4_194_304, records: 20_000, names: 1_048_576 };
/** For one round of questions about record sets: up to 50 sets at up to 80 addresses. */
export const ROUND: Bound = { messages: 10_000, octets: 33_554_432, records: 200_000, names: 4_194_304 };

const WORDS: Record<keyof Bound, string> = {
  messages: 'questions',
  octets: 'octets of answers',
  records: 'records',
  names: 'octets of names',
};

/** What one zone check has used so far. */
export class Effort {
  private readonly left: Bound;
  /** Messages about what was skipped, without duplicates. */
  readonly cut = new Set<string>();

  constructor(private readonly bound: Bound) {
    this.left = { ...bound };
  }

  /** Counts a question before it is sent. @throws TooMuch when the limit is reached */
  asks(): void {
    // nor is one sent without budget for its answer
    for (const what of ['octets', 'records', 'names'] as const) this.take(what, 0);
    this.take('messages', 1);
  }

  /** Counts an answer. @throws TooMuch when it exceeds the remaining budget */
  receives(octets: number): void {
    this.take('octets', octets);
  }

  /** Counts a parsed message. @throws TooMuch when it exceeds the remaining budget */
  reads({ sections, spent }: Pick<Message, 'sections' | 'spent'>): void {
    this.take(
      'records',
      sections.reduce((sum, { length }) => sum + length, 0),
    );
    this.take('names', spent());
  }

  private take(what: keyof Bound, count: number): void {
    this.left[what] -= count;
    if (this.left[what] < 0)
      throw new TooMuch(`the zone takes more than ${this.bound[what]} ${WORDS[what]}: the rest was left out`);
  }
}
