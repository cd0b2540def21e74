import { type Message, TooMuch } from '../../dns/wire.js';

/** How much one look at a zone may take of others' answers, in all its questions. */
export interface Bound {
  /** questions that are sent, also those that are sent again over TCP or without EDNS */
  messages: number;
  /** of all answers */
  octets: number;
  records: number;
  /** octets of names that are written out */
  names: number;
}

/** Of a look at a zone's delegation and servers. */
export const SURVEY: Bound = { messages: 500, octets: 4_194_304, records: 20_000, names: 1_048_576 };
/** Of one round of questions about record sets: of up to 50 sets, to up to 80 addresses. */
export const ROUND: Bound = { messages: 10_000, octets: 33_554_432, records: 200_000, names: 4_194_304 };

const WORDS: Record<keyof Bound, string> = {
  messages: 'questions',
  octets: 'octets of answers',
  records: 'records',
  names: 'octets of names',
};

/** What one look at a zone has taken so far. */
export class Effort {
  private readonly left: Bound;
  /** what was left out, in words; each once */
  readonly cut = new Set<string>();

  constructor(private readonly bound: Bound) {
    this.left = { ...bound };
  }

  /** Before a question is sent. @throws TooMuch when no more may be */
  asks(): void {
    // none is sent, either, when there is no room for its answer
    for (const what of ['octets', 'records', 'names'] as const) this.take(what, 0);
    this.take('messages', 1);
  }

  /** An answer came. @throws TooMuch when it is more than is left */
  receives(octets: number): void {
    this.take('octets', octets);
  }

  /** It was read. @throws TooMuch when it is more than is left */
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
