import { type Difference, hostIn, isWished, targetOf } from '../../support/recordings.js';
import { withBody, withoutQuery } from '../differences.js';

type Body = { ownerName: string; rrtype: string; ttl: number; rdata: string[] };

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'lists are asked for in pages',
    reason: 'the pages of the recorded client were those that are usual; larger ones are fewer calls',
    normal: withoutQuery,
  },
  {
    what: 'targets are absolute, and values of a set in any order',
    reason: 'the recorded client sent a target as it was given, which UltraDNS took for a name below the zone',
    normal: (asked, _whose, course) =>
      withBody(asked, (body) => {
        const { rdata, rrtype } = body as { rdata?: string[]; rrtype?: string };
        return rdata ? { ...body, rdata: rdata.map((text) => targetOf(rrtype, text, course)).toSorted() } : body;
      }),
    fitted: (answer, _asked, course) => {
      const { rrSets, ...rest } = (answer.body ?? {}) as { rrSets?: Body[] };
      const meant = (set: Body) => {
        const type = set.rrtype.replace(/ .*/, '');
        return { ...set, rdata: set.rdata.map((text) => (type === 'CNAME' ? targetOf(type, text, course) : text)) };
      };
      return rrSets ? { ...answer, body: { ...rest, rrSets: rrSets.map(meant) } } : answer;
    },
  },
  {
    what: 'an update takes the old value away',
    reason: 'the recorded client added the new one beside it',
    unsent: ({ method }, { scenario }) => method === 'PUT' && scenario.steps?.at(-1)?.op === 'update',
    answer: ({ method, body }, course) => {
      if (method !== 'PUT' || course.scenario.steps?.at(-1)?.op !== 'update') return undefined;
      const { ownerName, rrtype: type, rdata, ttl } = body as Body;
      const [value] = rdata;
      const wished = isWished(course, { type, host: hostIn(ownerName, course.zone), value, ttl });
      return wished && rdata.length === 1 ? { body: { message: 'Successful' } } : undefined;
    },
  },
  {
    what: 'a token is asked for, and zones are listed',
    reason: 'neither was recorded; the list is made of the zones whose records were answered',
    answer: ({ path }, { scenario }) => {
      if (path.endsWith('/token')) return { body: { access_token: 'a-token', expires_in: '3600' } };
      if (path !== '/v3/zones') return undefined;
      const names = scenario.interactions.flatMap(({ response }) => {
        const { zoneName } = (response.body ?? {}) as { zoneName?: string };
        return zoneName ?? [];
      });
      return { body: { zones: [...new Set(names)].map((name) => ({ properties: { name } })), cursorInfo: {} } };
    },
  },
];
