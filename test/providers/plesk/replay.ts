import { plesk } from '../../../src/providers/plesk/declaration.js';
import { type Asked, type Course, elements, hostIn, type ReplaySetup, readBody } from '../../support/recordings.js';
import type { Answer, Interaction, Scenario } from '../../support/vendor.js';

type Data = Record<'type' | 'host' | 'value' | 'opt', string>;
type Result = { id?: string; 'filter-id'?: string; status?: string; data?: Data };
type Packet = Record<string, Record<string, { result?: Result | Result[] } & Record<string, unknown>>>;
const packetIn = (body: unknown) => ((body ?? {}) as { packet?: Packet }).packet ?? {};
const TTL = 3600;
const NAMES = ['CNAME', 'MX', 'NS', 'PTR'];
const rowsIn = (body: unknown) => elements(packetIn(body).dns?.get_rec?.result) as Result[];
const answerOf = (content: string): Answer => ({
  headers: { 'content-type': 'text/xml' },
  body: `<?xml version="1.0"?><packet version="1.6.9.1">${content}</packet>`,
});

/** Recorded 2018. */
export const setup: ReplaySetup = {
  definition: plesk,
  recording: 'plesk',
  base: '',
  credentials: (endpoint) => ({ url: endpoint, secret_key: 'a-key-for-the-tests' }),
  reads: ({ body }) => !/^(add|del)_rec$/.test(Object.keys(packetIn(body).dns ?? {})[0] ?? ''),
  listed(_asked, body, zone) {
    const rows = rowsIn(body);
    if (!packetIn(body).dns?.get_rec) return null;
    return rows
      .filter(({ data }) => data?.host.endsWith(`${zone}.`))
      .map(({ id: remoteId = '', data }) => {
        const { type, host, value } = data as Data;
        return {
          ...{ remoteId, type, host: hostIn(host, zone), ttl: TTL },
          value: NAMES.includes(type) ? value.replace(/\.$/, '') : value,
        };
      });
  },
  written: (_asked, body) => (elements(packetIn(body).dns?.add_rec?.result)[0] as Result | undefined)?.id,
  refused: (body) => JSON.stringify(body ?? '').includes('errcode'),
};

/** Deletions of several records in one packet, one by one. */
export function oneByOne(scenario: Scenario): Scenario {
  const deletion = /<dns><del_rec>.*?<\/del_rec><\/dns>/g;
  const interactions = scenario.interactions.flatMap((one): Interaction[] => {
    const asked = String(one.request.body ?? '').match(deletion) ?? [];
    const answered = String(one.response.body ?? '').match(deletion) ?? [];
    const packet = (text: string | undefined) => `<?xml version="1.0"?><packet>${text}</packet>`;
    return asked.length < 2
      ? [one]
      : asked.map((text, i) => ({
          request: { ...one.request, body: packet(text) },
          response: { ...one.response, body: packet(answered[i]) },
        }));
  });
  return { ...scenario, interactions };
}

/** A packet without what says its version, and the final dot of targets. */
export function plain({ body, ...asked }: Asked): Asked {
  const text = JSON.stringify({ packet: packetIn(body) }).replaceAll(/("value":"[^"]*?[a-z])\."/g, '$1"');
  return { ...asked, body: JSON.parse(text) };
}

/** Sites that were asked for by name, the TTL of the zone, and a record that is there already. */
export function known({ body }: Asked, { scenario, zone }: Course): Answer | undefined {
  const { site, dns } = packetIn(body);
  const bodies = scenario.interactions.map(({ response }) => readBody(response.body));
  if (site) {
    const found = bodies
      .flatMap((one) => elements(packetIn(one).site?.get?.result) as Result[])
      .find(({ status }) => status === 'ok');
    const name = found && `<id>${found.id}</id><data><gen_info><name>${found['filter-id']}</name></gen_info></data>`;
    return answerOf(`<site><get>${name ? `<result><status>ok</status>${name}</result>` : ''}</get></site>`);
  }
  if (dns?.get)
    return answerOf(`<dns><get><result><status>ok</status><soa><ttl>${TTL}</ttl></soa></result></get></dns>`);
  const { host, value } = (dns?.add_rec ?? {}) as unknown as Data;
  const isThere = ({ data }: Result) => data?.host === `${host}.${zone}.` && data.value.replace(/\.$/, '') === value;
  if (!host || !bodies.flatMap(rowsIn).some(isThere)) return undefined;
  const words = '<status>error</status><errcode>1007</errcode><errtext>The DNS record already exists.</errtext>';
  return answerOf(`<dns><add_rec><result>${words}</result></add_rec></dns>`);
}

/** A deletion of a scenario with an update. */
export const isOld = ({ body }: Asked, { scenario }: Course): boolean =>
  !!packetIn(body).dns?.del_rec && !!scenario.steps?.some(({ op }) => op === 'update');
