import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider } from '../../../src/providers/provider.js';
import { rainyun } from '../../../src/providers/rainyun/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startRainyun } from './stand-in.js';

/** The stand-in takes more than an account may ask for. */
const quick = { ...rainyun, limits: { ...rainyun.limits, requests: 1000 } };
const connect = (standIn: StandIn, api_key = 'a-key'): DnsProvider =>
  connectTo(quick, { api_key, endpoint: standIn.url });
const zone = { id: '123', name: 'contract.example' };

providerContract('Rainyun (stand-in)', async () => {
  const standIn = await startRainyun();
  standIn.most.page = 2;
  const two = { provider: connect(standIn), stranger: connect(standIn, 'another') };
  return { ...two, definition: rainyun, zone, standIn, stop: standIn.stop };
});

describe('Rainyun: edges', () => {
  const vendor = standInFor(startRainyun, connect);
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.records.length = 0;
  });
  const a = (more: Partial<LooseRecord> = {}): DnsRecord =>
    dnsRecord({ host: 'www', type: 'A', value: '192.0.2.1', ttl: 600, ...more }, zone.name);
  const apply = async (...changes: Change[]) =>
    (await vendor.provider.apply(zone, changes)).map((o) =>
      o.ok ? o.remoteId : `${o.error.kind}: ${o.error.message}`,
    );

  it('asks as the sample exchanges do, and says what is refused', async () => {
    assert.equal((await vendor.provider.listZones()).at(-1)?.name, 'xn--fsqu00a.example');
    const options = '{"columnFilters":{"domains.Domain":""},"sort":[],"page":1,"perPage":100}';
    assert.deepEqual(vendor.standIn.requests[0]?.query, { options });
    await vendor.provider.listRecords(zone);
    assert.deepEqual(vendor.standIn.requests[1]?.query, { limit: '100', page_no: '1' });
    await assert.rejects(connect(vendor.standIn, 'another').check(), { kind: 'auth', message: /密钥认证错误或已失效/ });
    await assert.rejects(vendor.provider.listRecords({ id: '9', name: 'x.example' }), { kind: 'not_found' });
  });

  it('reads full and relative names, and the TTL in both ways', async () => {
    const one = { record_id: 1, type: 'TXT', value: 'foo', line: 'DEFAULT', level: 0 };
    const Records = [
      { ...one, host: '_acme-challenge.foo.contract.example', TTL: 120 },
      { ...one, record_id: 2, host: 'bar', ttl: 300 },
      { ...one, record_id: 3, host: '@', TTL: 600 },
      { ...one, record_id: 4, host: 'contract.example', TTL: 600 },
    ];
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: { code: 0, data: { TotalRecords: 4, Records } } });
    const found = (await vendor.provider.listRecords(zone)).map((r) => [r.host, r.ttl, r.line]);
    vendor.standIn.handler = handler;
    const apex = ['@', 600, 'default'];
    assert.deepEqual(found, [['_acme-challenge.foo', 120, 'default'], ['bar', 300, 'default'], apex, apex]);
  });

  it('keeps lines apart, and makes a record anew where its line changes', async () => {
    await apply({ op: 'create', after: a() }, { op: 'create', after: a({ line: 'LTEL' }) });
    assert.deepEqual(
      vendor.standIn.records.map((r) => r.line),
      ['DEFAULT', 'LTEL'],
    );
    const before = (await vendor.provider.listRecords(zone)).find((r) => r.line === 'LTEL');
    assert.ok(before);
    const [id] = await apply({ op: 'update', before, after: a({ line: 'LMOB' }) });
    const now = (await vendor.provider.listRecords(zone)).map((r) => [r.remoteId, r.line]);
    assert.deepEqual(now, [
      ['1', 'default'],
      [id, 'LMOB'],
    ]);
  });

  it('looks the ids of a list up in one reading of the zone', async () => {
    const hosts = ['a', 'b', 'c', 'd'];
    const ids = await apply(...hosts.map((host): Change => ({ op: 'create', after: a({ host }) })));
    assert.deepEqual(
      ids,
      vendor.standIn.records.map((r) => String(r.record_id)),
    );
    assert.deepEqual(
      vendor.standIn.requests.map((r) => r.method),
      [...hosts.map(() => 'POST'), 'GET'],
    );
  });

  it('says that something may be there when what was made is not found', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (request.method === 'GET' ? { status: 400 } : handler(request));
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after: a() }]);
    vendor.standIn.handler = handler;
    assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
  });

  it('takes an error in an answer of success, and a list that is cut, for errors', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: { code: 30039, message: 'no' } });
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'auth' });
    await apply({ op: 'create', after: a() });
    for (const data of [undefined, {}, { Records: [] }, { TotalRecords: 2 }, { TotalRecords: 2, Records: [] }]) {
      vendor.standIn.handler = () => ({ body: { code: 0, data } });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });
});
