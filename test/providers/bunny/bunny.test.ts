import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord } from '../../../src/dns/record.js';
import { bunny } from '../../../src/providers/bunny/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type BunnyRecord, startBunny } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...bunny, limits: { ...bunny.limits, requests: 10_000 } };
const connect = (standIn: StandIn, access_key = 'a-key'): DnsProvider =>
  connectTo(fast, { access_key, endpoint: standIn.url });
const zone = { id: '7', name: 'contract.example' };
const others = ['a.example', 'b.example', 'contract.example.net', 'd.example', 'e.example', 'f.example'];

providerContract('bunny.net (stand-in)', async () => {
  const standIn = await startBunny();
  standIn.world.domains = [...others, zone.name];
  return {
    ...{ provider: connect(standIn), definition: bunny, zone, standIn, stranger: connect(standIn, 'wrong') },
    refuses: ({ type, value }) => type === 'TXT' && value === '',
    stop: standIn.stop,
  };
});

describe('bunny.net', () => {
  const vendor = standInFor(startBunny, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    Object.assign(vendor.standIn.world, { domains: [...others, zone.name], forgets: false });
  });

  const record = (type: string, value: string, more: Partial<DnsRecord> = {}) => ({
    ...dnsRecord({ host: 'www', type, value, ttl: 300, priority: more.priority }, zone.name),
    ...more,
  });
  async function one(change: Change) {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome?.ok, outcome && !outcome.ok ? outcome.error.message : '');
    return outcome;
  }
  const listed = async () => vendor.provider.listRecords(zone);
  const sent = () => vendor.standIn.requests.at(-1)?.body;
  const stored = (more: object): BunnyRecord => ({
    Id: 1,
    Type: 0,
    Name: 'www',
    Value: '192.0.2.1',
    Ttl: 300,
    ...more,
  });

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /authorization failed/ });
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), { kind: 'auth' });
    await assert.rejects(vendor.provider.listRecords({ id: '99', name: 'x.example' }), {
      kind: 'not_found',
      message: /zone/,
    });
  });

  it('finds a zone by its whole name, and all of them page by page', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('contract'), null);
    const names = (await vendor.provider.listZones()).map(({ name }) => name);
    assert.deepEqual(names, vendor.standIn.world.domains);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.query.page === '2' ? { body: { Items: [], TotalItems: 7, HasMoreItems: false } } : handler(request);
    await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    vendor.standIn.handler = () => ({ body: { Id: 7, Domain: zone.name } });
    await assert.rejects(listed(), { kind: 'unavailable', message: /no records/ });
    vendor.standIn.handler = handler;
  });

  it('sends each part in its field, names without dot, the apex without name', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { Type: 4, Priority: 10, Value: 'mx.example.net' }],
      ['SRV', '5 5060 sip.example.net', 1, { Type: 8, Priority: 1, Weight: 5, Port: 5060, Value: 'sip.example.net' }],
      ['CAA', '0 issue "ca.example.net"', null, { Type: 9, Flags: 0, Tag: 'issue', Value: 'ca.example.net' }],
      ['TXT', 'a "b" c', null, { Type: 3, Value: 'a "b" c' }],
      ['A', '192.0.2.1', null, { Type: 0, Value: '192.0.2.1', Weight: 100 }],
    ] as const) {
      await one({ op: 'create', after: record(type, value, { host: '@', priority }) });
      assert.deepEqual(sent(), { Name: '', Ttl: 300, Disabled: false, ...expected });
    }
  });

  it('keeps weight and remark, and what else stands in a record', async () => {
    for (const forgets of [false, true]) {
      Object.assign(vendor.standIn.world, { forgets });
      vendor.standIn.records.splice(
        0,
        9,
        stored({ Weight: 20, Comment: 'mine', MonitorType: 2, AutoSslIssuance: false }),
      );
      const before = (await listed())[0] as RemoteRecord;
      assert.deepEqual([before.weight, before.remark], [20, 'mine']);
      await one({ op: 'update', before, after: { ...before, ttl: 60 } });
      const more = { Weight: 20, Comment: 'mine', MonitorType: 2, AutoSslIssuance: false };
      for (const [field, value] of Object.entries({ ...more, Ttl: 60 })) {
        assert.deepEqual(vendor.standIn.records[0]?.[field], value, field);
      }
      await one({ op: 'update', before, after: { ...before, weight: null, remark: '' } });
      assert.deepEqual([vendor.standIn.records[0]?.Weight, vendor.standIn.records[0]?.Comment], [100, '']);
      assert.deepEqual([(await listed())[0]?.weight, (await listed())[0]?.remark], [null, undefined]);
    }
  });

  it('shows what is its own read-only, types by number or by name', async () => {
    vendor.standIn.records.push(
      stored({ Type: 5, Value: 'https://example.net/' }),
      stored({ Id: 2, Type: 7, Value: null, LinkName: 'a-pull-zone' }),
      stored({ Id: 3, SmartRoutingType: 1, LatencyZone: 'DE' }),
      stored({ Id: 4, Accelerated: true }),
      stored({ Id: 5, Type: 'AAAA', Value: '2001:db8::1', SmartRoutingType: 'None' }),
      stored({ Id: 6, Type: 77 }),
    );
    assert.deepEqual(
      (await listed()).map(({ remoteId, type, value, readOnly }) => [remoteId, type, value, readOnly]),
      [
        ['1', 'REDIRECT', 'https://example.net/', true],
        ['2', 'PULLZONE', 'a-pull-zone', true],
        ['3', 'A', '192.0.2.1', true],
        ['4', 'A', '192.0.2.1', true],
        ['5', 'AAAA', '2001:db8::1', false],
        ['6', 'BUNNY77', '192.0.2.1', true],
      ],
    );
    // what is routed is not taken for the plain record of the same value
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.equal(vendor.standIn.records.length, 7);
  });

  it('makes no second record of one that is there, whose TTL it changes', async () => {
    const first = await one({ op: 'create', after: record('A', '192.0.2.1') });
    const again = await one({ op: 'create', after: record('A', '192.0.2.1', { ttl: 60 }) });
    assert.equal(again.remoteId, first.remoteId);
    assert.deepEqual(
      vendor.standIn.records.map(({ Ttl }) => Ttl),
      [60],
    );
  });
});
