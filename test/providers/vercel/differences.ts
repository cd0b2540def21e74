import type { Difference } from '../../support/recordings.js';
import { type Body, bodyOf, withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'pages of lists',
    reason:
      'the recorded client read the first page, of 20, alone; the page after it, which is asked for until nothing is older, was not recorded',
    normal: withoutQuery,
  },
  {
    what: 'the zones are listed, not asked for by name',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
    answer: ({ path }, { scenario }) => {
      if (path !== '/v5/domains') return undefined;
      const bodies = scenario.interactions.map(({ response }) => response.body as { domain?: object } | undefined);
      const domains = bodies.flatMap((body) => body?.domain ?? []);
      return { body: { domains, pagination: { count: domains.length, next: null, prev: null } } };
    },
  },
  {
    what: 'the TTL is sent',
    reason: 'who makes a record in the service says its TTL; the recorded client left it out',
    more: ['ttl'],
  },
  {
    what: 'PATCH of what changes in place of a new record and the deletion of the old one',
    reason: 'a record that is changed is never absent, and keeps its id and its comment',
    unsent: (asked, { scenario }) =>
      (scenario.steps ?? []).some(
        ({ op, host, value }) =>
          op === 'update' &&
          (asked.method === 'DELETE' || (bodyOf(asked).name === host && bodyOf(asked).value === value)),
      ),
    answer: ({ method, path }, { scenario }) => {
      const updates = (scenario.steps ?? []).some((step) => step.op === 'update');
      return updates && method === 'PATCH' ? { body: { id: path.split('/').at(-1), type: 'record' } } : undefined;
    },
  },
  {
    what: 'a record that is created once more gets the TTL that is wished with it',
    reason: 'the recorded client, which names no TTL, found it there and did nothing',
    answer: ({ method, path, body }, { asked }) =>
      method === 'PATCH' && Object.keys(body as Body).join() === 'ttl' && asked.some((one) => one.method === 'POST')
        ? { body: { id: path.split('/').at(-1), type: 'record' } }
        : undefined,
  },
  {
    what: 'a record that exists is asked for again',
    reason:
      'the recorded client looks before it writes; the adapter writes, and looks when it is refused: the recording has no refusal',
    answer: (asked, { asked: all }) => {
      if (asked.method !== 'POST') return undefined;
      const same = all.filter((one) => one.method === 'POST' && JSON.stringify(one) === JSON.stringify(asked));
      const error = { code: 'conflict', message: 'A record with that name already exists' };
      return same.length > 1 ? { status: 409, body: { error } } : undefined;
    },
  },
];
