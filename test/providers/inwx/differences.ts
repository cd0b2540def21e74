import type { Difference } from '../../support/recordings.js';
import type { Body } from '../differences.js';
import * as inwx from './replay.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'JSON-RPC in place of XML-RPC',
    reason: 'INWX speaks both, with the same calls: what was recorded is read as JSON',
    restored: inwx.asJson,
  },
  {
    what: 'a session in place of a user and password in each call, and a list of all domains',
    reason: 'a password is sent once; the service shows all zones: their list is made of the recorded single answers',
    normal: inwx.flat,
    answer: inwx.account,
  },
  {
    what: 'whole zones are read, and of an update what changes is sent',
    reason: 'the recorded client read one name and repeated what it knew; INWX keeps what is left out (recorded)',
    less: ({ body }) => /info$|updateRecord$/.test(String((body as Body).method)),
  },
  {
    what: 'what exists is looked for',
    reason:
      'the recorded client took the refusal (2302) for done; the adapter needs the id: the record is as it was sent',
    answer: inwx.existing,
  },
  {
    what: 'a record that is as it shall become is not updated',
    reason: 'the recorded client updated all records of the name, one of which had the value already',
    unsent: inwx.changesNothing,
  },
];
