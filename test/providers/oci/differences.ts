import { type Asked, type Course, type Difference, hostIn, isWished, unquoted } from '../../support/recordings.js';

type Item = { operation?: string; domain?: string; rtype: string; rdata: string; ttl: number; recordHash?: string };
/** A write in one form: what it adds at a name, or that it removes there. */
type Write = { added: Item[] } | { removed: string | undefined };

const DOMAIN = /\/records\/([^/]+)(?:\/[A-Z]+)?$/;
const itemsOf = (body: unknown): Item[] => ((body ?? {}) as { items?: Item[] }).items ?? [];
const shown = ({ known }: Course): Item[] => known.flatMap(({ response }) => itemsOf(response.body));

function write(asked: Asked, _whose: unknown, course: Course): Asked {
  if (asked.method === 'GET') return asked;
  const [, domain] = DOMAIN.exec(asked.path) ?? [];
  const items = itemsOf(asked.body);
  const added = items.flatMap(({ operation, rtype, rdata, ttl }) =>
    operation === 'ADD' ? { domain: `${domain}`, rtype, rdata: unquoted(rdata).replace(/\.$/, ''), ttl } : [],
  );
  const of = (hash?: string) => shown(course).find(({ recordHash }) => recordHash === hash)?.domain;
  const removed = domain ?? of(items[0]?.recordHash);
  return { method: 'PATCH', path: '/records', query: {}, body: added.length ? { added } : { removed } };
}

const isUpdate = ({ scenario }: Course) => scenario.steps?.some(({ op }) => op === 'update') ?? false;

/** What the adapter sends otherwise than was recorded, each with its reason. */
export const differences: readonly Difference[] = [
  {
    what: 'all writes are PATCH of a name, with absolute targets and texts in quotes',
    reason: 'one form does for all; Oracle adds dots and quotes itself (recorded)',
    normal: write,
  },
  {
    what: 'the zones are listed, not asked for by name alone',
    reason: 'the service shows all zones of a compartment; the list is made of the recorded answers for single zones',
    answer: ({ path }, { scenario }) => {
      if (path !== '/zones') return undefined;
      const zones = scenario.interactions.map(({ response }) => response.body as { id?: string; zoneType?: string });
      return { body: zones.filter((zone) => zone?.zoneType).slice(0, 1) };
    },
  },
  {
    what: 'a set is read before it is written, and the whole zone is listed',
    reason: 'only what differs is sent; what was not recorded is made of the answers until then',
    answer: ({ method, path, query }, course) => {
      const domain = DOMAIN.exec(path)?.[1];
      if (method !== 'GET' || !/\/records(\/|$)/.test(path)) return undefined;
      const all = new Map(shown(course).map((item) => [item.recordHash, item]));
      const fits = (item: Item) =>
        [undefined, item.domain].includes(domain) && [undefined, item.rtype].includes(query.rtype);
      return { body: { items: [...all.values()].filter(fits) } };
    },
  },
  {
    what: 'a record is replaced by what it shall be',
    reason: 'the recorded client put a record in the place of itself, under its old name',
    unsent: ({ body }, course) => isUpdate(course) && 'added' in (body as Write) && course.known.length > 2,
    answer: ({ method, body }, course) => {
      if (method !== 'PATCH' || !isUpdate(course)) return undefined;
      const { added = [] } = body as { added?: Item[] };
      const wished = added.every(({ domain = '', rtype, rdata, ttl }) =>
        isWished(course, { type: rtype, host: hostIn(domain, course.zone), value: rdata, ttl }),
      );
      return wished ? { body: { items: [] } } : undefined;
    },
  },
  {
    what: 'a value that is there is not written again',
    reason: 'creating what exists is a success, and the zone held some values before they were recorded',
    unsent: ({ body }, course) =>
      ((body as { added?: Item[] }).added ?? []).length > 0 &&
      itemsOf({ items: shown(course) }).some(({ domain, rdata }) =>
        (body as { added: Item[] }).added.some((one) => one.domain === domain && one.rdata === unquoted(rdata)),
      ),
  },
];
