import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { luadns } from '../../../src/providers/luadns/declaration.js';
import { noFixtures, sample } from '../../support/fixtures.js';
import { itUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Stored, startLuadns } from './stand-in.js';

const connect = (standIn: StandIn, api_key = 'a-key', definition = luadns) =>
  connectTo(definition, { email: 'joe@example.com', api_key, endpoint: standIn.url });
const zone = { id: '39105', name: 'contract.example' };

providerContract('LuaDNS (stand-in)', async () => {
  const standIn = await startLuadns();
  standIn.most.page = 3;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-key', definition),
    missing: { id: '7', name: 'none.example' },
    cannot: { 'TXT empty': 'it refuses them (dnscontrol, verified 2023)' },
    ...{ definition: luadns, zone, standIn, pageSize: 3, stop: standIn.stop },
  };
});

describe('LuaDNS', () => {
  const vendor = standInFor(startLuadns);

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), {
      kind: 'auth',
      message: /Invalid email or API key/,
    });
    const missing = { id: '7', name: 'none.example' };
    await assert.rejects(connect(vendor.standIn).listRecords(missing), {
      kind: 'not_found',
      message: /Zone not found/,
    });
  });

  it('sends names and targets absolute, texts as they are, and of an update the whole record', async () => {
    const provider = connect(vendor.standIn);
    for (const [host, type, value, priority, content] of [
      ['@', 'MX', 'mx.example.net', 10, '10 mx.example.net.'],
      ['_sip._tcp', 'SRV', '5 5060 sip.example.net', 1, '1 5 5060 sip.example.net.'],
      ['@', 'CAA', '0 issue "ca.example.net"', null, '0 issue "ca.example.net"'],
      ['www', 'TXT', 'a "b" \\c', null, 'a "b" \\c'],
      ['alias', 'CNAME', 'contract.example', null, 'contract.example.'],
    ] as const) {
      const record = dnsRecord({ host, type, value, priority, ttl: 600 }, zone.name);
      const [made] = await provider.apply(zone, [{ op: 'create', after: record }]);
      const name = host === '@' ? 'contract.example.' : `${host}.contract.example.`;
      assert.deepEqual(vendor.standIn.requests.at(-1)?.body, { name, type, content, ttl: 600 });
      const before = (await provider.listRecords(zone)).find((r) => made?.ok && r.remoteId === made.remoteId);
      assert.ok(before && before.value === value && before.priority === priority);
      await provider.apply(zone, [{ op: 'update', before, after: { ...before, ttl: 300 } }]);
      const { method, body } = vendor.standIn.requests.at(-1) ?? {};
      assert.deepEqual([method, body], ['PUT', { name, type, content, ttl: 300 }]);
    }
  });

  it('shows read-only what is generated, and redirects', async () => {
    const name = 'go.contract.example.';
    vendor.standIn.records.push(
      { id: 7, name, type: 'A', content: '192.0.2.1', ttl: 300, generated: true },
      { id: 8, name, type: 'REDIRECT', content: 'https://example.net/', ttl: 300, generated: false },
    );
    const all = (await connect(vendor.standIn).listRecords(zone)).filter(({ host }) => host === 'go');
    assert.deepEqual(
      all.map(({ type, readOnly }) => [type, readOnly]),
      [
        ['A', true],
        ['REDIRECT', true],
      ],
    );
  });

  it('takes a list without its length as it came, and asks for another page after a full one', async () => {
    const fresh = await startLuadns();
    fresh.most.told = false;
    assert.equal((await connect(fresh).listRecords(zone)).length, 1);
    const of = (id: number): Stored => ({ ...(fresh.records[1] as Stored), id, name: `n${id}.contract.example.` });
    fresh.records.push(...Array.from({ length: 498 }, (_, i) => of(i + 100)));
    assert.equal((await connect(fresh).listRecords(zone)).length, 499);
    fresh.records.push(of(1000));
    assert.equal((await connect(fresh).listRecords(zone)).length, 500);
    assert.ok(fresh.requests.some(({ query }) => query.page === '2'));
    await fresh.stop();
  });

  it('takes an answer to a write without its record for one that may have been carried out', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: {} });
    const after = dnsRecord({ host: 'cut', type: 'A', value: '192.0.2.1' }, zone.name);
    const [outcome] = await connect(vendor.standIn).apply(zone, [{ op: 'create', after }]);
    assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });

  itUnless(noFixtures)('sends and reads what other clients do', async () => {
    const { handler } = vendor.standIn;
    const zones = sample('luadns', 'TestClient_ListZones');
    vendor.standIn.handler = () => ({ body: zones.response.body });
    const [first] = await connect(vendor.standIn).listZones();
    assert.deepEqual(first, { id: '1', name: 'example.com' });
    const { request, response } = sample('luadns', 'TestClient_CreateRecord');
    vendor.standIn.handler = () => ({ body: response.body });
    const after = dnsRecord(
      { host: '@', type: 'MX', value: 'mail.example.com', priority: 10, ttl: 300 },
      'example.com',
    );
    const made = await connect(vendor.standIn).apply(first ?? zone, [{ op: 'create', after }]);
    assert.deepEqual(made, [{ ok: true, remoteId: '100' }]);
    const { method, path, body } = vendor.standIn.requests.at(-1) ?? {};
    assert.deepEqual({ method, path: `/v1${path}`, body }, request);
    vendor.standIn.handler = handler;
  });
});
