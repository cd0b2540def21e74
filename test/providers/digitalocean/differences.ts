import { type Asked, type Difference, readBody } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';
import { type Body, withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'paging and filters of lists',
    reason: 'whole zones are listed, in pages of 200; the recorded client took the usual page',
    normal: withoutQuery,
  },
  {
    what: 'zones are listed, not asked for by name',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
    answer: ({ path }, { scenario }) => {
      if (path !== '/domains') return undefined;
      const bodies = scenario.interactions.map(
        ({ response }) => response.body as { domain?: object; domains?: object[] },
      );
      const domains = bodies.flatMap((body) => body?.domains ?? (body?.domain ? [body.domain] : []));
      return { body: { domains, meta: { total: domains.length } } };
    },
  },
  {
    what: 'the TTL is sent',
    reason: 'who changes a record in the service says its TTL; the recorded client left it out',
    more: ['ttl'],
  },
  {
    what: 'PATCH of what changes in place of PUT of the whole record',
    reason: 'PUT sets what is left out back to its default',
    normal: (asked) => (asked.method === 'PUT' ? { ...asked, method: 'PATCH' } : asked),
    less: (asked) => asked.method === 'PATCH',
  },
  {
    what: 'a record that exists is asked for again',
    reason:
      'the recorded client looks before it writes; the adapter writes, and looks when it is refused: the recording has no refusal',
    answer: (asked, { scenario }) =>
      twinAnswer(
        asked,
        scenario.interactions.map((i) => i.request.body as Body),
      ),
  },
];

/** A refusal of what was written before in the same words. */
function twinAnswer(asked: Asked, sent: readonly (Body | undefined)[]): Answer | undefined {
  if (asked.method !== 'POST') return undefined;
  const body = readBody(asked.body) as Body;
  const same = sent.some((one) => one && one.type === body.type && one.name === body.name && one.data === body.data);
  return same ? { status: 422, body: { id: 'unprocessable_entity', message: 'Record already exists.' } } : undefined;
}
