import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface StoredSet {
  subname: string;
  type: string;
  ttl: number;
  records: string[];
}

const ZONE = 'contract.example';
const MINIMUM = 3600;
/** what a token may write, by what the documentation calls a record in presentation form */
const FORMS: Record<string, RegExp> = {
  A: /^\d+\.\d+\.\d+\.\d+$/,
  CNAME: /^\S+\.$/,
  NS: /^\S+\.$/,
  PTR: /^\S+\.$/,
  // the root, too (deSEC's own tests)
  MX: /^\d+ \S*\.$/,
  SRV: /^\d+ \d+ \d+ \S*\.$/,
  CAA: /^\d+ \w+ "[^"]*"$/,
  TXT: /^"(?:[^"\\]|\\\d{3}|\\[^\d])*"(?: "(?:[^"\\]|\\\d{3}|\\[^\d])*")*$/,
};

/** What the API does (documentation, traffic of 2025): record sets, lists by cursor, bulk writes all or none. */
export async function startDesec(): Promise<StandIn & { sets: StoredSet[]; most: { page: number } }> {
  // newest first
  const sets: StoredSet[] = [{ subname: '', type: 'NS', ttl: 3600, records: ['ns1.desec.io.', 'ns2.desec.org.'] }];
  const most = { page: 500 };
  // a cursor is a place in time (Django's cursors): what is made meanwhile is newer, and shifts no page
  const made = new WeakMap<StoredSet, number>();
  let last = 0;
  const madeAt = (set: StoredSet): number => {
    for (const one of sets.toReversed()) if (!made.has(one)) made.set(one, ++last);
    return made.get(set) ?? 0;
  };
  const asOld = (set: StoredSet, old: StoredSet) => {
    made.set(set, madeAt(old));
    return set;
  };
  const no = (status: number, body: unknown): Answer => ({ status, body });
  const shown = (set: StoredSet) => ({
    ...set,
    created: '2025-10-15T23:24:17.452467Z',
    domain: ZONE,
    name: `${set.subname && `${set.subname}.`}${ZONE}.`,
    touched: '2025-10-15T23:24:17.459643Z',
  });
  const at = (list: StoredSet[], { subname, type }: StoredSet) =>
    list.findIndex((set) => set.subname === subname && set.type === type);

  function wrong({ subname, type, ttl, records }: StoredSet): object {
    if (!Array.isArray(records)) return { records: ['This field is required.'] };
    if (records.length === 0) return {};
    if (ttl === undefined) return { ttl: ['This field is required.'] };
    if (ttl < MINIMUM) return { ttl: [`Ensure this value is greater than or equal to ${MINIMUM}.`] };
    if (!/^(\*|[a-z0-9_-]+)?(\.[a-z0-9_-]+)*$/.test(subname))
      return { subname: ['Subname can only use (lowercase) a-z'] };
    if (new Set(records).size < records.length) return { records: ['Duplicate records.'] };
    const odd = records.find((rdata) => FORMS[type] && !FORMS[type].test(rdata));
    const long = records.find((rdata) => type === 'TXT' && rdata.split('" "').some((s) => bytes(s) > 255));
    return odd || long ? { records: [`Record content of ${type} malformed: ${odd ?? long}`] } : {};
  }
  const bytes = (text: string) => text.replace(/^"|"$/g, '').replace(/\\(\d{3}|.)/g, 'x').length;

  function bulk(list: StoredSet[]): Answer {
    const errors: object[] = list.map(wrong);
    const next = [...sets];
    for (const set of list) {
      const known = at(next, set);
      if (known >= 0 && !set.records?.length) next.splice(known, 1);
      else if (known >= 0) next[known] = asOld({ ...set }, next[known] as StoredSet);
      else if (set.records?.length) next.unshift({ ...set });
    }
    for (const [i, set] of list.entries()) {
      const beside = next.filter((other) => other.subname === set.subname && other.type !== set.type);
      const clash = set.records?.length && beside.some((o) => o.type === 'CNAME' || set.type === 'CNAME');
      if (clash) errors[i] = { non_field_errors: ['RRset with conflicting type present: data payload (CNAME).'] };
    }
    if (errors.some((error) => Object.keys(error).length)) return no(400, errors);
    sets.splice(0, sets.length, ...next);
    return { body: list.filter((set) => set.records.length).map(shown) };
  }

  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Token a-token') return no(401, { detail: 'Invalid token.' });
    const page = <T>(all: T[], at: (entry: T) => number, show: (entry: T) => object): Answer => {
      if (query.cursor === undefined)
        return all.length > most.page
          ? no(400, { detail: 'Pagination required. Use the cursor.' })
          : { body: all.map(show) };
      const before = query.cursor && Number(Buffer.from(query.cursor, 'base64url').toString());
      const rest = all.filter((entry) => before === '' || at(entry) < before);
      const shown = rest.slice(0, most.page);
      const link = (rel: string, cursor: string) => `<https://desec.io/api/v1${path}?cursor=${cursor}>; rel="${rel}"`;
      const links = [link('first', '')];
      const end = shown.at(-1);
      if (end && rest.length > shown.length) links.push(link('next', Buffer.from(`${at(end)}`).toString('base64url')));
      return { body: shown.map(show), headers: { link: links.join(', ') } };
    };
    const domain = { created: '2022-11-12T18:01:35.454616Z', name: ZONE, minimum_ttl: MINIMUM };
    const mine = [{ ...domain, name: 'other.example' }, domain];
    if (path === '/domains/' && query.owns_qname)
      return { body: mine.filter(({ name }) => `.${query.owns_qname}`.endsWith(`.${name}`)) };
    if (path === '/domains/')
      return page(
        mine,
        (one) => -mine.indexOf(one),
        (one) => one,
      );
    if (!path.startsWith(`/domains/${ZONE}/`)) return no(404, { detail: 'No Domain matches the given query.' });
    if (path === `/domains/${ZONE}/`) return { body: domain };
    if (path !== `/domains/${ZONE}/rrsets/`) return no(404, { detail: 'Not found.' });
    if (method === 'PUT')
      return Array.isArray(body) ? bulk(body as StoredSet[]) : no(400, { non_field_errors: ['list'] });
    const hit = (set: StoredSet) =>
      (query.subname ?? set.subname) === set.subname && (query.type ?? set.type) === set.type;
    return page(sets.filter(hit), madeAt, shown);
  });
  return Object.assign(standIn, { sets, most });
}
