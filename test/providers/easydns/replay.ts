import { easydns } from '../../../src/providers/easydns/declaration.js';
import { type Asked, type Course, type ReplaySetup, shownValue } from '../../support/recordings.js';
import type { Answer, Scenario } from '../../support/vendor.js';
import { withBody } from '../differences.js';

type Recorded = Record<'id' | 'host' | 'type' | 'rdata' | 'ttl', string>;
type Reply = { data?: Recorded[] | Recorded | { domain?: string; onsystem?: string } } | null;
const ADD = /\/zones\/records\/add\//;
const domainIn = (body: unknown) => ((body ?? {}) as { data?: { domain?: string; onsystem?: string } }).data;

/** The sandbox, recorded 2016. */
export const setup: ReplaySetup = {
  definition: easydns,
  recording: 'easydns',
  base: '',
  finds: true,
  credentials: (endpoint) => ({ token: 'a-token-for-the-tests', api_key: 'a-key-for-the-tests', endpoint }),
  listed({ path }, body, zone) {
    const { data } = (body ?? {}) as { data?: Recorded[] };
    if (!path.startsWith('/zones/records/all/')) return null;
    return (data ?? [])
      .filter(({ type }) => type !== 'SOA')
      .map(({ id: remoteId, host, type, rdata, ttl }) => {
        const readOnly = rdata === 'LOCAL.' || rdata === 'PARK';
        const value = readOnly || type === 'TXT' ? rdata : shownValue(type, rdata, zone);
        return { remoteId, host, type, value, ttl: Number(ttl), readOnly };
      });
  },
  written: (_asked, body) => (body as { data?: Recorded } | undefined)?.data?.id,
};

/** A creation that was refused since an earlier run had made the record is answered as one that was not. */
export function made(scenario: Scenario): Scenario {
  const lists = scenario.interactions.flatMap(({ response }) => {
    const { data } = (response.body ?? {}) as Exclude<Reply, null>;
    return Array.isArray(data) ? data : [];
  });
  const interactions = scenario.interactions.map((one) => {
    const { host, type, rdata } = (one.request.body ?? {}) as Recorded;
    if (!ADD.test(one.request.url) || one.response.status < 400) return one;
    const id = lists.find((r) => r.host === host && r.type === type && r.rdata === rdata)?.id ?? '28453400';
    const body = { msg: 'OK', data: { id, host, rdata }, status: 201 };
    return { ...one, response: { ...one.response, status: 201, body } };
  });
  return { ...scenario, interactions };
}

/** A write without its TTL, which the steps do not name, and its priority; a read without its page. */
export function plain({ query: { start: _start, max: _max, ...query }, ...asked }: Asked): Asked {
  return withBody({ ...asked, query }, ({ ttl: _ttl, domain: _domain, prio: _prio, rdata, type, ...rest }) => ({
    ...{ ...rest, type },
    rdata: type === 'CNAME' ? `${rdata}`.replace(/\.?$/, '.') : rdata,
  }));
}

/** The domains of the user, of those that were asked for by name. */
export function domains({ path }: Asked, { scenario }: Course): Answer | undefined {
  if (path === '/user') return { body: { data: { user: 'somebody' }, status: 200 } };
  if (path !== '/domains/list/somebody') return undefined;
  const names = scenario.interactions.flatMap(({ response }) => {
    const { domain, onsystem } = domainIn(response.body) ?? {};
    return domain && onsystem === 'Y' ? [domain] : [];
  });
  const index = [...new Set(names)].map((name) => ({ name }));
  return { body: { data: { user: 'somebody', index }, total: index.length, status: 200 } };
}
