import { inwx } from '../../../src/providers/inwx/declaration.js';
import { type Asked, type Course, elements, hostIn, type ReplaySetup, readBody } from '../../support/recordings.js';
import type { Answer, Scenario } from '../../support/vendor.js';

type Node = Record<string, unknown>;
type Recorded = Record<'id' | 'ttl', number> & Record<'name' | 'type' | 'content', string>;
type Call = { method?: string; id?: number; name?: string; type?: string; content?: string; ttl?: number };
type Reply = { code?: number; resData?: { id?: number; domain?: string; record?: Recorded[] } };

const EXISTS = 2302;
const callIn = (body: unknown) => (body ?? {}) as Call;
const replyIn = (body: unknown) => (body ?? {}) as Reply;

/** Recorded 2018, in the test environment. */
export const setup: ReplaySetup = {
  definition: inwx,
  recording: 'inwx',
  base: '/xmlrpc',
  credentials: (endpoint) => ({ username: 'ada', password: 'a-password-for-the-tests', endpoint: `${endpoint}/` }),
  reads: ({ body }) => !/^nameserver\.(create|update|delete)/.test(`${callIn(body).method}`),
  listed({ body: asked }, body, zone) {
    if (callIn(asked).method !== 'nameserver.info') return null;
    return (replyIn(body).resData?.record ?? [])
      .filter(({ type }) => type !== 'SOA')
      .map((r) => ({
        ...{ remoteId: `${r.id}`, type: r.type, host: hostIn(r.name, zone), value: r.content, ttl: r.ttl },
      }));
  },
  written({ body: asked }, body) {
    const id = replyIn(body).resData?.id ?? callIn(asked).id;
    return replyIn(body).code === 1000 && id !== undefined ? `${id}` : undefined;
  },
  refused: (body) => replyIn(body).code !== 1000,
};

/** A value of XML-RPC as JSON has it. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [kind = '', held] = Object.entries(value)[0] ?? [];
  if (kind === 'struct')
    return Object.fromEntries(elements((held as Node).member).map(({ name, value: one }) => [name, plain(one)]));
  if (kind === 'array') return elements(((held as Node).data as Node).value).map(plain);
  return kind === 'int' || kind === 'double' ? Number(held) : held;
}

/** Calls and answers of XML-RPC as JSON-RPC has them; the path is the same below that of the endpoint. */
export function asJson(scenario: Scenario): Scenario {
  const first = (part: unknown) => plain(((part as Node).params as { param: Node }).param.value) as Node;
  const interactions = scenario.interactions.map(({ request, response }) => {
    const call = (readBody(request.body) as { methodCall?: Node }).methodCall;
    if (!call) return { request, response };
    const answer = first((readBody(response.body) as Node).methodResponse);
    return {
      request: { ...request, body: { method: call.methodName, params: first(call) } },
      response: { status: response.status, body: answer },
    };
  });
  return { ...scenario, interactions };
}

/** A call without those who make it, its parameters beside its name. */
export function flat(asked: Asked): Asked {
  const { method, params } = asked.body as { method?: string; params?: Node };
  const { user: _user, pass: _pass, ...given } = params ?? {};
  return { ...asked, body: { method, ...given } };
}

/** A session, and the list of domains, of those that were asked for by name. */
export function account({ body }: Asked, { scenario }: Course): Answer | undefined {
  const { method } = callIn(body);
  if (method === 'account.login') return { headers: { 'set-cookie': 'domrobot=a-session' }, body: { code: 1000 } };
  if (method !== 'nameserver.list') return undefined;
  const asked = scenario.interactions.filter(({ request }) => callIn(request.body).method === 'domain.info');
  const names = new Set(asked.flatMap(({ response }) => replyIn(response.body).resData?.domain ?? []));
  const domains = [...names].map((domain) => ({ domain }));
  return { body: { code: 1000, resData: { count: domains.length, domains } } };
}

/** A look at a name where INWX had refused to make what is there: it is there as it was sent, under some id. */
export function existing({ body }: Asked, { known, zone }: Course): Answer | undefined {
  const { method, name, type } = callIn(body);
  if (method !== 'nameserver.info' || !name) return undefined;
  const record = known.flatMap(({ request, response }, i) => {
    const { params } = request.body as { params: Call };
    const refused = callIn(request.body).method?.endsWith('createRecord') && replyIn(response.body).code === EXISTS;
    return refused && params.name === name && params.type === type ? [{ ...params, id: i + 1 }] : [];
  });
  return { body: { code: 1000, resData: { domain: zone, count: record.length, record } } };
}

/** An update of a record to what it is. */
export function changesNothing({ body }: Asked, { known }: Course): boolean {
  const { method, id, name, content } = callIn(body);
  const all = known.flatMap(({ response }) => replyIn(response.body).resData?.record ?? []);
  const old = all.findLast((one) => one.id === id);
  return !!method?.endsWith('updateRecord') && old?.name === name && old?.content === content;
}
