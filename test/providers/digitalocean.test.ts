import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { dnsRecord } from '../../src/dns/record.js';
import { digitalocean } from '../../src/providers/digitalocean/declaration.js';
import type { DnsProvider, RemoteRecord } from '../../src/providers/provider.js';
import { type Answer, connectTo, type StandIn, startStandIn } from '../support/vendor.js';
import { providerContract } from './contract.js';

type Stored = { id: number; type: string; name: string; data: string; ttl: number } & Record<string, unknown>;

/** What the API does (OpenAPI 2026, traffic of 2020, octoDNS): pages of 20, and as many as 200 where that is asked. */
async function startDigitalOcean(): Promise<StandIn & { records: Stored[]; most: { page: number } }> {
  const zone = 'contract.example';
  const records: Stored[] = [];
  const most = { page: 200 };
  let ids = 100;
  const no = (status: number, message: string): Answer => ({ status, body: { id: 'error', message } });
  const clash = (r: Partial<Stored>, id?: number) => {
    const beside = records.filter((other) => other.name === r.name && other.id !== id);
    if (beside.some((o) => o.type === r.type && o.data === r.data && o.priority === r.priority))
      return 'exists already';
    return beside.length && (r.type === 'CNAME' || beside.some((o) => o.type === 'CNAME')) ? 'CNAME records' : null;
  };
  /** The dot at the end of a name is demanded, and not shown. */
  const taken = (body: Record<string, unknown>): string | Record<string, unknown> => {
    const { type, data } = body as Stored;
    if (!['CNAME', 'MX', 'NS', 'SRV'].includes(type) || data === undefined) return body;
    if (!data.endsWith('.')) return 'Data needs to end with a dot (.)';
    return { ...body, data: data === `${zone}.` ? '@' : data === '.' ? '.' : data.slice(0, -1) };
  };
  const standIn = await startStandIn(({ method, path, query, headers, body }) => {
    if (headers.authorization !== 'Bearer a-token') return no(401, 'Unable to authenticate you');
    const page = <T>(key: string, all: T[]): Answer => {
      const size = Math.min(most.page, Number(query.per_page ?? 20));
      const at = (Number(query.page ?? 1) - 1) * size;
      return { body: { [key]: all.slice(at, at + size), links: {}, meta: { total: all.length } } };
    };
    if (path === '/domains') return page('domains', [{ name: zone, ttl: 1800, zone_file: '' }]);
    const [, , name, , id] = path.split('/');
    if (name !== zone) return no(404, 'The resource you were accessing could not be found.');
    const found = records.find((r) => r.id === Number(id));
    if (id && !found) return no(404, 'The resource you were accessing could not be found.');
    if (method === 'GET' && !id) {
      const full = (r: Stored) => (r.name === '@' ? zone : `${r.name}.${zone}`);
      const hit = (r: Stored) => (!query.name || full(r) === query.name) && (!query.type || r.type === query.type);
      const soa = { id: 1, type: 'SOA', name: '@', data: '1800', ttl: 1800 };
      return page('domain_records', [soa, ...records].filter(hit));
    }
    if (method === 'GET') return { body: { domain_record: found } };
    if (method === 'DELETE') {
      records.splice(records.indexOf(found as Stored), 1);
      return { status: 204 };
    }
    if (!(body as Stored).type) return no(422, 'Type is required');
    const read = taken(body as Stored);
    if (typeof read === 'string') return no(422, read);
    const made = { ...(method === 'PATCH' ? found : {}), ...read, id: found?.id ?? ids++ } as Stored;
    const why = clash(made, found?.id);
    if (why) return no(422, why);
    if (found) records[records.indexOf(found)] = made;
    else records.push(made);
    return { status: method === 'POST' ? 201 : 200, body: { domain_record: made } };
  });
  return Object.assign(standIn, { records, most });
}

const connect = (standIn: StandIn, token = 'a-token'): DnsProvider =>
  connectTo(digitalocean, { token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('DigitalOcean (stand-in)', async () => {
  const standIn = await startDigitalOcean();
  standIn.records.push({ id: 2, type: 'NS', name: '@', data: 'ns1.digitalocean.com', ttl: 1800 });
  standIn.most.page = 3;
  return { provider: connect(standIn), definition: digitalocean, zone, stop: standIn.stop };
});

describe('DigitalOcean', () => {
  let standIn: Awaited<ReturnType<typeof startDigitalOcean>>;
  let provider: DnsProvider;
  beforeAll(async () => {
    standIn = await startDigitalOcean();
    provider = connect(standIn);
  });
  afterAll(() => standIn.stop());
  const sent = () => standIn.requests.at(-1)?.body;

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(standIn, 'wrong').check(), { kind: 'auth', message: /Unable to authenticate/ });
    await assert.rejects(provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
  });

  it('sends names absolute, and of an update what changes, with the type', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { priority: 10, data: 'mx.example.net.' }],
      ['SRV', '5 5060 sip.example.net', 1, { priority: 1, weight: 5, port: 5060, data: 'sip.example.net.' }],
      ['CAA', '0 issue "ca.example.net"', null, { flags: 0, tag: 'issue', data: 'ca.example.net.' }],
      ['CAA', '0 iodef "mailto:a@example.net"', null, { flags: 0, tag: 'iodef', data: 'mailto:a@example.net' }],
      ['TXT', 'a "b" c', null, { data: 'a "b" c' }],
      ['CNAME', 'contract.example', null, { data: 'contract.example.' }],
    ] as const) {
      const host = type === 'CNAME' ? 'alias' : 'www';
      const record = dnsRecord({ host, type, value, priority, ttl: 300 }, zone.name);
      const [outcome] = await provider.apply(zone, [{ op: 'create', after: record }]);
      assert.ok(outcome?.ok);
      assert.deepEqual(sent(), { type, name: host, ttl: 300, ...expected });
      const before = (await provider.listRecords(zone)).find((r) => r.remoteId === outcome.remoteId) as RemoteRecord;
      assert.deepEqual([before.value, before.priority], [value, priority]);
      await provider.apply(zone, [{ op: 'update', before, after: { ...record, ttl: 60 } }]);
      assert.deepEqual(sent(), { type, ttl: 60 });
    }
  });

  it('tells of an update what else was changed there', async () => {
    const record = dnsRecord({ host: 'told', type: 'A', value: '192.0.2.1', ttl: 300 }, zone.name);
    await provider.apply(zone, [{ op: 'create', after: record }]);
    const before = (await provider.listRecords(zone)).find((r) => r.host === 'told') as RemoteRecord;
    const stored = standIn.records.find((r) => r.name === 'told') as Stored;
    stored.data = '192.0.2.9';
    const after = { ...record, ttl: 60 };
    assert.deepEqual(await provider.apply(zone, [{ op: 'update', before, after }]), [
      { ok: true, remoteId: before.remoteId, held: { ...after, value: '192.0.2.9' } },
    ]);
    assert.deepEqual(await provider.apply(zone, [{ op: 'update', before, after: { ...after, value: '192.0.2.8' } }]), [
      { ok: true, remoteId: before.remoteId },
    ]);
  });

  it('takes a page that is missing for an error', async () => {
    const { handler } = standIn;
    standIn.handler = (request) =>
      request.query.page === '2' ? { body: { domain_records: [], meta: { total: 9 } } } : handler(request);
    standIn.most.page = 2;
    await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' });
    standIn.handler = handler;
    assert.equal((await provider.listRecords(zone)).length, standIn.records.length);
  });
});
