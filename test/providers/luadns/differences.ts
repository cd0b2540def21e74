import type { Difference } from '../../support/recordings.js';
import { recordIn, withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'lists are asked for in pages',
    reason: 'pages are documented since, with the length of the list; the recorded client took what it was given',
    normal: withoutQuery,
  },
  {
    what: 'a record is read before it is replaced',
    reason: 'what is not changed stays as the vendor has it; the answer is the record as it was listed',
    answer: ({ method, path }, course) => {
      const found = method === 'GET' ? recordIn(course, /\/records\/(\d+)$/.exec(path)?.[1]) : undefined;
      return found && { body: found };
    },
  },
];
