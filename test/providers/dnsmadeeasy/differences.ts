import { type Difference, targetOf } from '../../support/recordings.js';
import { unquoted, withBody, withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'targets are absolute, texts quoted',
    reason: 'the recorded client sent a target as it was given, which is a name below the zone; quotes are added there',
    normal: (asked, _whose, course) =>
      withBody(asked, (body) =>
        'value' in body ? { ...body, value: targetOf(body.type, `${unquoted(body.value)}`, course) } : body,
      ),
  },
  {
    what: 'of an update all that the record holds is sent',
    reason: 'an update replaces the whole record',
    more: ['failover', 'monitor', 'sourceId', 'dynamicDns', 'failed', 'gtdLocation', 'hardLink', 'source'],
  },
  {
    what: 'whole lists',
    reason: 'the recorded client asked for a name and a type where it could',
    normal: (asked) => (asked.path.endsWith('/records') ? withoutQuery(asked) : asked),
  },
  {
    what: 'the zones are listed, not asked for by name alone',
    reason: 'the service shows all zones of an account; the list is made of the recorded answers for single zones',
    answer: ({ path }, { scenario }) => {
      if (path !== '/dns/managed') return undefined;
      const [first] = scenario.interactions.map(({ response }) => response.body as { id?: number; name?: string });
      const data = first?.name ? [first] : [];
      return { body: { totalPages: 1, totalRecords: data.length, data, page: 0 } };
    },
  },
];
