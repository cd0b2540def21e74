import type { Difference } from '../../support/recordings.js';
import { recordIn } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'the domain of the account is asked for, also where another one was looked for',
    reason: 'the API lists no domains: those that the account names are looked at, and nothing else',
    answer: ({ path }, { zone }) =>
      path === `/dns/${zone}/rr` ? { body: { success: true, response: [], code: 0 } } : undefined,
  },
  {
    what: 'a record is read before it is replaced',
    reason: 'what is not changed stays as the vendor has it; the answer is the record as it was listed',
    answer: ({ method, path }, course) => {
      const found = method === 'GET' ? recordIn(course, /\/rr\/(\d+)$/.exec(path)?.[1]) : undefined;
      return found && { body: { success: true, response: found, code: 0 } };
    },
  },
];
