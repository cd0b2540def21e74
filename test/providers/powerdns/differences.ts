import type { Difference } from '../../support/recordings.js';
import { withoutQuery } from '../differences.js';

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'the list of zones is asked for, not a zone by name',
    reason: 'the service shows all zones of a server; the list is made of the recorded answers for single zones',
    answer: (asked, { scenario }) => {
      if (!/\/servers\/[^/]+\/zones$/.test(asked.path)) return undefined;
      const zones = scenario.interactions.flatMap(({ request, response }) => {
        const { id, name } = (response.status < 300 ? (response.body ?? {}) : {}) as { id?: string; name?: string };
        return request.method === 'GET' && name ? [{ id: id ?? name, name: name.replace(/\.?$/, '.') }] : [];
      });
      return { body: [...new Map(zones.map((zone) => [zone.id, zone])).values()] };
    },
  },
  {
    what: 'the version of the server is asked for, and names are searched',
    reason: 'large zones are not read whole for one name; a server that cannot tell is read whole, as recorded',
    answer: (asked) =>
      /\/servers\/[^/]+$/.test(asked.path) || asked.path.endsWith('/search-data')
        ? { status: 404, body: { error: 'Not Found' } }
        : undefined,
  },
  { what: 'filters of a zone', reason: 'they only make the answer shorter', normal: withoutQuery },
  {
    what: 'secondaries are not told by hand',
    reason: 'the server does so by itself when its zone is a primary one',
    unsent: (asked) => asked.method === 'PUT' && asked.path.endsWith('/notify'),
  },
];
