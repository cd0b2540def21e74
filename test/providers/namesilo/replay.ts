import { namesilo } from '../../../src/providers/namesilo/declaration.js';
import { type Asked, type Course, elements, hostIn, type ReplaySetup, readBody } from '../../support/recordings.js';
import type { Answer } from '../../support/vendor.js';

type Row = Record<'record_id' | 'type' | 'host' | 'value' | 'ttl', string>;
interface Reply {
  code: string;
  record_id?: string;
  resource_record?: unknown;
}
const replyIn = (body: unknown) => (readBody(body) as { namesilo?: { reply?: Reply } } | undefined)?.namesilo?.reply;

/** Recorded 2016 to 2018, in the sandbox. */
export const setup: ReplaySetup = {
  definition: namesilo,
  recording: 'namesilo',
  base: '/api',
  finds: true,
  credentials: (endpoint) => ({ api_key: 'a-key-for-the-tests', endpoint }),
  // all are GET
  reads: ({ path }) => !/dns(Add|Update|Delete)Record$/.test(path),
  listed({ path }, body, zone) {
    if (path !== '/dnsListRecords') return null;
    return (elements(replyIn(body)?.resource_record) as Row[]).map((r) => ({
      ...{ remoteId: r.record_id, type: r.type, host: hostIn(r.host, zone), value: r.value, ttl: Number(r.ttl) },
    }));
  },
  written: (_asked, body) => replyIn(body)?.record_id,
  refused: (body) => replyIn(body)?.code !== '300',
};

/** The list of domains, of those that were asked for by name. */
export function domains({ path }: Asked, { scenario }: Course): Answer | undefined {
  if (path !== '/listDomains') return undefined;
  const names = scenario.interactions.flatMap(({ request, response }) => {
    const url = new URL(request.url);
    const known = url.pathname.endsWith('/getDomainInfo') && replyIn(response.body)?.code === '300';
    return known ? [`<domain>${url.searchParams.get('domain')}</domain>`] : [];
  });
  const list = `<domains>${[...new Set(names)].join('')}</domains>`;
  return { body: `<namesilo><reply><code>300</code><detail>success</detail>${list}</reply></namesilo>` };
}
