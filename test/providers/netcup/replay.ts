import { netcup } from '../../../src/providers/netcup/declaration.js';
import type { Asked, Course, ReplaySetup } from '../../support/recordings.js';
import type { Answer, Interaction, Scenario } from '../../support/vendor.js';

type Recorded = Record<'id' | 'hostname' | 'type' | 'priority' | 'destination', string>;
interface Call {
  action?: string;
  param?: Record<string, unknown>;
}
interface Reply {
  status?: string;
  responsedata?: { name?: string; ttl?: string; dnsrecords?: Recorded[] } | '';
}
const callIn = (body: unknown) => (body ?? {}) as Call;
const replyIn = (body: unknown) => (body ?? {}) as Reply;
const dataIn = (body: unknown) => replyIn(body).responsedata || {};

const UPDATE = 'updateDnsRecords';
const PATH = '/run/webservice/servers/endpoint.php';

/** Recorded 2019. */
export const setup: ReplaySetup = {
  definition: netcup,
  recording: 'netcup',
  base: '',
  finds: true,
  credentials: (endpoint) => ({
    ...{ customer_number: '12345', api_key: 'a-key-for-the-tests', api_password: 'a-password-for-the-tests' },
    endpoint: `${endpoint}${PATH}?JSON`,
  }),
  reads: ({ body }) => callIn(body).action !== UPDATE,
  listed({ body: asked }, body, zone, { interactions }) {
    const { dnsrecords } = dataIn(body);
    if (!/^(info|update)DnsRecords$/.test(`${callIn(asked).action}`)) return null;
    const ttl = Number(interactions.map(({ response }) => dataIn(response.body).ttl).find(Boolean));
    return (dnsrecords ?? []).map(({ id: remoteId, hostname: host, type, destination }) => {
      const value = /^(CNAME|MX|NS)$/.test(type) && destination === '@' ? zone : destination;
      return { remoteId, host, type, value, ttl };
    });
  },
};

/** What an update sent: the difference between the list before and its answer. */
function sent(was: readonly Recorded[], now: readonly Recorded[]): object[] {
  const plain = ({ hostname, type, priority, destination }: Recorded) => ({ hostname, type, priority, destination });
  const same = (one: Recorded, list: readonly Recorded[]) => list.find(({ id }) => id === one.id);
  const isNew = (one: Recorded) => JSON.stringify(plain(one)) !== JSON.stringify(plain(same(one, was) ?? one));
  return [
    ...was.filter((one) => !same(one, now)).map((one) => ({ ...plain(one), id: one.id, deleterecord: true })),
    ...now.filter((one) => !same(one, was)).map((one) => ({ ...plain(one), deleterecord: false })),
    ...now.filter(isNew).map((one) => ({ ...plain(one), id: one.id, deleterecord: false })),
  ];
}

/**
 * The recording has no parameters: they are made of the answers. Where an update changed nothing, since the recorded
 * client left the new value out, it changes what the step says, sent and answered.
 */
export function withParameters(scenario: Scenario, zone: string): Scenario {
  const wanted = scenario.steps?.find(({ op }) => op === 'update');
  const unknown = scenario.steps?.find(({ expect }) => expect === 'error')?.zone;
  let now: Recorded[] = [];
  const interactions = scenario.interactions.map(({ request, response }): Interaction => {
    const { action, param } = callIn(request.body);
    const data = dataIn(response.body);
    const was = now;
    now = data.dnsrecords ?? now;
    if (param || action === 'login') return { request, response };
    const named = { domainname: data.name ?? (replyIn(response.body).status === 'error' ? unknown : zone) };
    if (action !== UPDATE) return { request: { ...request, body: { action, param: named } }, response };
    if (wanted && !sent(was, now).length) {
      const isOld = ({ hostname, type, destination }: Recorded) =>
        hostname === (wanted.from ?? wanted.host) &&
        type === wanted.type &&
        (hostname !== wanted.host || destination !== wanted.value);
      now = was.map((one) =>
        isOld(one) ? { ...one, hostname: `${wanted.host}`, destination: `${wanted.value}` } : one,
      );
    }
    const body = { action, param: { ...named, dnsrecordset: { dnsrecords: sent(was, now) } } };
    const reply = { ...replyIn(response.body), responsedata: { ...data, dnsrecords: now } };
    return { request: { ...request, body }, response: { ...response, body: reply } };
  });
  return { ...scenario, interactions };
}

/** A call without those who make it. */
export function withoutCaller(asked: Asked): Asked {
  const { action, param } = callIn(asked.body);
  const own = ['customernumber', 'apikey', 'apipassword', 'apisessionid'];
  const rest = Object.entries(param ?? {}).filter(([key]) => !own.includes(key));
  return { ...asked, body: { action, ...(rest.length && { param: Object.fromEntries(rest) }) } };
}

/** The list of domains, of those that were asked for by name. */
export function domains({ body }: Asked, { scenario }: Course): Answer | undefined {
  if (callIn(body).action !== 'listallDomains') return undefined;
  const names = new Set(scenario.interactions.flatMap(({ response }) => dataIn(response.body).name ?? []));
  const responsedata = [...names].map((domainname) => ({ domainname }));
  return { body: { action: 'listallDomains', status: 'success', statuscode: 2000, responsedata } };
}
