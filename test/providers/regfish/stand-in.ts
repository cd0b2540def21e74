import { type Answer, type StandIn, startStandIn } from '../../support/vendor.js';

export interface Stored {
  id: number;
  name: string;
  type: string;
  data: string;
  ttl: number;
  auto: boolean;
  active: boolean;
  priority?: number;
  tag?: string;
  flags?: number;
}

const ZONE = 'contract.example.';
const TYPES = ['A', 'AAAA', 'ALIAS', 'CAA', 'CNAME', 'MX', 'NS', 'TXT'];

/** What the API does (traffic of 2024, regfish's own client): errors with a code, some of them with a status of 200. */
export async function startRegfish(): Promise<StandIn & { records: Stored[] }> {
  const records: Stored[] = [];
  let ids = 3236253;
  const no = (status: number, code: number, error: string): Answer => ({
    status,
    body: { success: false, error, code },
  });
  const gone = () => no(200, 15001, 'Record not found');
  const yes = (response: unknown): Answer => ({ body: { success: true, response, code: 0 } });

  const refused = (record: Stored): Answer | null => {
    const { name, type, data } = record;
    if (name !== ZONE && !name.endsWith(`.${ZONE}`)) return gone();
    if (!TYPES.includes(type)) return no(417, 15002, `Unknown type ${type}`);
    if (/^(ALIAS|CNAME|MX|NS)$/.test(type) && !data.endsWith('.'))
      return no(417, 15002, 'The target needs a final dot');
    if (type === 'MX' && record.priority === undefined) return no(417, 15002, 'MX needs a priority');
    if (type === 'CAA' && !(record.tag && record.flags !== undefined))
      return no(417, 15002, 'CAA needs flags and a tag');
    const beside = records.filter((other) => other.name === name && other.id !== record.id);
    const same = (['type', 'data', 'priority', 'tag', 'flags'] as const).map((key) => record[key]).join(' ');
    const twin = (o: Stored) => [o.type, o.data, o.priority, o.tag, o.flags].join(' ') === same;
    if (beside.some(twin))
      return no(417, 15003, 'Record already exists (please use the UI to manage RR load balancers)');
    const cname = type === 'CNAME' || beside.some((other) => other.type === 'CNAME');
    return beside.length && cname ? no(417, 15004, 'A CNAME cannot sit next to anything') : null;
  };

  const standIn = await startStandIn(({ method, path, headers, body }) => {
    if (headers['x-api-key'] !== 'a-key') return no(401, 401, 'Invalid API key');
    const [, domain] = /^\/dns\/([^/]+)\/rr$/.exec(path) ?? [];
    if (domain) return `${domain}.` === ZONE && method === 'GET' ? yes(records) : gone();
    const [, rr, id] = /^\/dns\/(rr)(?:\/(\d+))?$/.exec(path) ?? [];
    if (!rr) return { status: 404, body: 'Not Found' };
    const found = records.find((record) => record.id === Number(id));
    if (id && !found) return gone();
    if (method === 'GET' && found) return yes(found);
    if (method === 'DELETE' && found) {
      records.splice(records.indexOf(found), 1);
      return { body: { success: true, error: 'Record successfully deleted', code: 0 } };
    }
    if (method !== (found ? 'PATCH' : 'POST')) return { status: 405, body: 'Method Not Allowed' };
    const made = { auto: false, active: true, ...found, ...(body as Partial<Stored>) } as Stored;
    made.id = found?.id ?? ids++;
    const why = refused(made);
    if (why) return why;
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return yes(made);
  });
  return Object.assign(standIn, { records });
}
