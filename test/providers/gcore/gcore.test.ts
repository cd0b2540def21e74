import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { gcore } from '../../../src/providers/gcore/declaration.js';
import type { Change, DnsProvider } from '../../../src/providers/provider.js';
import { noFixtures, sample, sampleAnswer } from '../../support/fixtures.js';
import { itUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type GcoreSet, startGcore } from './stand-in.js';

const connect = (standIn: StandIn, api_token = 'a-token', definition = gcore): DnsProvider =>
  connectTo(definition, { api_token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Gcore DNS (stand-in)', async () => {
  const standIn = await startGcore();
  standIn.state.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-token', definition),
    cannot: {
      'SRV with the root': 'it is refused (dnscontrol 2025)',
      'MX with the root': 'an SRV with it is refused; of MX nothing is known',
    },
    ...{ definition: gcore, zone, standIn, stop: standIn.stop },
  };
});

describe('Gcore DNS', () => {
  const vendor = standInFor(startGcore, connect);
  beforeEach(() => {
    vendor.standIn.state.sets = [];
    vendor.standIn.requests.length = 0;
  });
  const record = (host: string, type: string, value: string, priority: number | null = null) =>
    dnsRecord({ host, type, value, priority, ttl: 300 }, zone.name);
  const apply = async (...changes: Change[]) => vendor.provider.apply(zone, changes);
  const set = (type: string, more: Partial<GcoreSet>): GcoreSet => ({
    ...{ name: 'www.contract.example', type, ttl: 300, resource_records: [{ content: ['192.0.2.1'], enabled: true }] },
    ...more,
  });
  const sent = () => {
    const { method, path, body } = vendor.standIn.requests.at(-1) ?? {};
    return { method, path, body };
  };

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /invalid API token/ });
    const missing = { id: 'none.example', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /get zone by name/ });
  });

  it('sends the parts of values in a list, numbers as such', async () => {
    for (const [host, type, value, priority, content] of [
      ['@', 'MX', 'mx.example.net', 10, [10, 'mx.example.net.']],
      ['_sip._tcp', 'SRV', '5 5060 sip.example.net', 1, [1, 5, 5060, 'sip.example.net.']],
      ['@', 'CAA', '0 issue "ca.example.net; a=1"', null, [0, 'issue', 'ca.example.net; a=1']],
      ['www', 'TXT', 'a "b" c', null, ['a "b" c']],
      ['long', 'TXT', `${'x'.repeat(254)}é`, null, ['x'.repeat(254), 'é']],
    ] as const) {
      const [made] = await apply({ op: 'create', after: record(host, type, value, priority) });
      assert.ok(made?.ok);
      const name = host === '@' ? zone.name : `${host}.${zone.name}`;
      const body = { ttl: 300, resource_records: [{ content, enabled: true }] };
      assert.deepEqual(sent(), { method: 'POST', path: `/zones/${zone.name}/${name}/${type}`, body });
      const held = (await vendor.provider.listRecords(zone)).find(({ remoteId }) => remoteId === made.remoteId);
      assert.deepEqual([held?.value, held?.priority, held?.readOnly], [value, priority, false]);
    }
  });

  it('keeps what it does not know of a set and of its values', async () => {
    const meta = { notes: ['of the office'] };
    vendor.standIn.state.sets = [
      set('A', {
        meta: { failover: {} },
        resource_records: [{ content: ['192.0.2.1'], enabled: false, meta }, { content: ['192.0.2.2'] }],
      }),
    ];
    const [off, on] = await vendor.provider.listRecords(zone);
    assert.deepEqual([off?.enabled, on?.enabled], [false, true]);
    assert.ok(on);
    assert.ok((await apply({ op: 'update', before: on, after: { ...on, value: '192.0.2.3' } }))[0]?.ok);
    const resource_records = [
      { content: ['192.0.2.1'], enabled: false, meta },
      { content: ['192.0.2.3'], enabled: true },
    ];
    const body = { ttl: 300, resource_records, meta: { failover: {} } };
    assert.deepEqual(sent(), { method: 'PUT', path: `/zones/${zone.name}/www.contract.example/A`, body });
  });

  it('leaves sets alone among which filters choose', async () => {
    vendor.standIn.state.sets = [set('A', { filters: [{ type: 'geodns' }] })];
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ value, readOnly }) => [value, readOnly]),
      [['192.0.2.1', true]],
    );
    const [outcome] = await apply({ op: 'create', after: record('www', 'A', '192.0.2.9') });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && /Filters/.test(outcome.error.message));
    assert.ok(vendor.standIn.requests.every(({ method }) => method === 'GET'));
  });

  it('takes a list that is cut for an error, and one without its length as it came', async () => {
    const { handler } = vendor.standIn;
    for (const body of [undefined, {}, { total_amount: 0 }, { rrsets: [], total_amount: 1 }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ body: { rrsets: [{ name: 'x', type: 'A' }] } });
    const [unread] = await vendor.provider.listRecords(zone);
    assert.deepEqual([unread?.host, unread?.type, unread?.readOnly], ['x', 'A', true]);
    vendor.standIn.handler = handler;
    vendor.standIn.state.told = false;
    assert.deepEqual((await vendor.provider.listZones()).length, 3);
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
    vendor.standIn.state.told = true;
  });

  it('deletes a set that is gone already, but not of a zone that is', async () => {
    vendor.standIn.state.sets = [set('A', {})];
    const [before] = await vendor.provider.listRecords(zone);
    assert.ok(before);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'DELETE') vendor.standIn.state.sets = [];
      return handler(request);
    };
    assert.deepEqual(await apply({ op: 'delete', before }), [{ ok: true, remoteId: null }]);
    vendor.standIn.handler = () => ({ status: 404, body: { error: 'get zone by name: record not found' } });
    const [gone] = await apply({ op: 'delete', before });
    assert.equal(gone?.ok === false && gone.error.kind, 'not_found');
    vendor.standIn.handler = handler;
  });

  itUnless(noFixtures)('sends and reads what other clients do', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: sampleAnswer('gcore', 'gcore-no-changes') });
    const unit = { id: 'unit.tests', name: 'unit.tests' };
    const shown = (await vendor.provider.listRecords(unit)).map(
      (r) => `${r.host} ${r.type} ${r.priority ?? '-'} ${r.value}`,
    );
    for (const line of [
      '@ A - 1.2.3.5',
      '@ CAA - 0 issue "ca.unit.tests"',
      '@ NS - ns1.gcorelabs.net',
      '_imap._tcp SRV 0 0 0 .',
      '_srv._tcp SRV 12 20 30 foo-2.unit.tests',
      'cname CNAME - unit.tests',
      'mx MX 40 smtp-1.unit.tests',
      'txt TXT - v=DKIM1;k=rsa;s=email;h=sha256;p=A/kinda+of/long/string+with+numb3rs',
    ])
      assert.ok(shown.includes(line), line);
    for (const [test, method] of [
      ['TestDNSProvider_Present', 'POST'],
      ['TestClient_AddRRSet_update', 'PUT'],
    ] as const) {
      const { request } = sample('gcore', test, method);
      const { ttl, resource_records: all } = request.body as GcoreSet;
      const values = all.map(({ content }) => `${content[0]}`).toReversed();
      const held = values.slice(0, -1).map((value) => ({ content: [value], enabled: true }));
      const rrsets = held.length
        ? [set('TXT', { name: '_acme-challenge.example.com', ttl, resource_records: held })]
        : [];
      vendor.standIn.handler = (asked) => ({ body: asked.method === 'GET' ? { rrsets } : {} });
      const after = dnsRecord({ host: '_acme-challenge', type: 'TXT', value: `${values.at(-1)}`, ttl }, 'example.com');
      const made = await vendor.provider.apply({ id: 'example.com', name: 'example.com' }, [{ op: 'create', after }]);
      assert.ok(made[0]?.ok);
      const { path, body } = sent();
      assert.deepEqual({ method: sent().method, path: `/v2${path}` }, { method: request.method, path: request.path });
      const bare = (one: unknown) =>
        (one as GcoreSet).resource_records.map(({ content }) => JSON.stringify(content)).sort();
      assert.deepEqual([(body as GcoreSet).ttl, bare(body)], [ttl, bare(request.body)]);
    }
    vendor.standIn.handler = handler;
  });
});
