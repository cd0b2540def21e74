import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { easydns } from '../../../src/providers/easydns/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { noFixtures, sampleAnswer } from '../../support/fixtures.js';
import { describeUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startEasydns } from './stand-in.js';

const fast = { ...easydns, limits: { ...easydns.limits, requests: 1000, concurrency: 4 } };
const connect = (standIn: StandIn, api_key = 'a-key'): DnsProvider =>
  connectTo(fast, { token: 'a-token', api_key, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('easyDNS (stand-in)', async () => {
  const standIn = await startEasydns();
  standIn.most.page = 3;
  Object.assign(standIn.records[0] as StoredRecord, { rdata: 'dns1.easydns.com.', ttl: '3600' });
  standIn.domains.push('b.example', 'c.example', 'd.example');
  return {
    ...{ provider: connect(standIn), definition: fast, zone, standIn, stranger: connect(standIn, 'wrong') },
    missing: { id: 'absent.example', name: 'absent.example' },
    limited: { body: { error: { code: 420, message: 'Enhance Your Calm. Rate limit exceeded' } } },
    stop: standIn.stop,
  };
});

describe('easyDNS', () => {
  const vendor = standInFor(startEasydns, connect);
  beforeEach(() => {
    vendor.standIn.records.splice(2);
    vendor.standIn.domains.splice(1);
    vendor.standIn.requests.length = 0;
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    return outcome?.ok ? 'ok' : `${outcome?.error.kind}: ${outcome?.error.message}`;
  };
  const at = async (host: string) =>
    (await vendor.provider.listRecords(zone)).filter((r) => r.host === host) as [RemoteRecord, ...RemoteRecord[]];
  const writes = () => vendor.standIn.requests.filter(({ method }) => method !== 'GET');
  const stored = (more: Partial<StoredRecord>): StoredRecord => ({
    ...{ id: '1', domain: zone.name, host: 'www', ttl: '300', prio: '0', type: 'A', rdata: '192.0.2.1' },
    ...{ geozone_id: '0', last_mod: '', ...more },
  });

  it('says in its words what is refused, be it with a status of success', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Invalid credentials/ });
    const missing = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /Access denied/ });
    vendor.standIn.records.push(stored({}));
    assert.match(await one({ op: 'create', after: record('CNAME', 'a.example') }), /^rejected: CNAME beside other/);
    assert.match(await one({ op: 'create', after: record('MX', 'mx.example', { priority: 101 }) }), /^rejected: .*100/);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: { msg: 'Access denied', status: 403 } });
    await assert.rejects(vendor.provider.check(), { kind: 'auth', message: /Access denied/ });
    vendor.standIn.handler = handler;
  });

  it('lists the domains of the user, by their numbers or in a list', async () => {
    vendor.standIn.domains.push('b.example');
    for (const indexed of [false, true]) {
      vendor.standIn.world.indexed = indexed;
      const names = (await vendor.provider.listZones()).map(({ name }) => name);
      assert.deepEqual(names, ['contract.example', 'b.example']);
    }
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('x.example'), null);
    const { handler } = vendor.standIn;
    const denied = { status: 403, body: { error: { code: 403, message: 'Access denied' } } };
    vendor.standIn.handler = (request) => (request.path.startsWith('/domain/') ? denied : handler(request));
    assert.equal(await vendor.provider.findZone?.('y.example'), null);
    vendor.standIn.handler = () => denied;
    await assert.rejects(async () => vendor.provider.findZone?.('y.example'), { kind: 'auth' });
    vendor.standIn.handler = handler;
  });

  it('sends targets with their final dot, texts raw, priorities beside the value', async () => {
    for (const [after, expected] of [
      [record('MX', 'mx.example.net', { host: '@', priority: 10 }), { host: '@', rdata: 'mx.example.net.', prio: 10 }],
      [record('SRV', '5 5060 sip.example.net', { priority: 1 }), { rdata: '5 5060 sip.example.net.', prio: 1 }],
      [record('TXT', 'say "hi"; \\ too'), { rdata: 'say "hi"; \\ too', prio: 0 }],
      [record('CAA', '0 issue "ca.example.net"'), { rdata: '0 issue ca.example.net', prio: 0 }],
    ] as const) {
      assert.equal(await one({ op: 'create', after }), 'ok');
      const { type, host, ttl } = after;
      assert.deepEqual(writes().at(-1)?.body, { domain: zone.id, host, type, ttl, ...expected });
    }
  });

  it('reads names as zone files have them, and shows what stands for something else read-only', async () => {
    vendor.standIn.records.push(
      stored({ id: '1', host: 'in', type: 'CNAME', rdata: 'host' }),
      stored({ id: '2', host: 'zone', type: 'CNAME', rdata: '@' }),
      stored({ id: '3', host: 'out', type: 'CNAME', rdata: 'host.example.net.' }),
      stored({ id: '4', host: '@', type: 'A', rdata: 'PARK' }),
      stored({ id: '5', host: 'geo', rdata: '192.0.2.2', geozone_id: '12' }),
    );
    const shown = (await vendor.provider.listRecords(zone)).map((r) => [r.host, r.value, r.readOnly]);
    assert.deepEqual(shown, [
      ['@', 'local.', true],
      ['in', 'host.contract.example', false],
      ['zone', 'contract.example', false],
      ['out', 'host.example.net', false],
      ['@', 'PARK', true],
      ['geo', '192.0.2.2', true],
    ]);
  });

  it('changes what is there now, and nothing beside what is named', async () => {
    vendor.standIn.records.push(stored({}));
    const [before] = await at('www');
    vendor.standIn.records.splice(2, 1, stored({ ttl: '900' }));
    assert.equal(await one({ op: 'update', before, after: { ...before, value: '192.0.2.9' } }), 'ok');
    assert.deepEqual(vendor.standIn.records[2], stored({ ttl: '900', rdata: '192.0.2.9' }));
    assert.equal(await one({ op: 'delete', before }), 'ok');
    assert.match(await one({ op: 'update', before, after: { ...before, ttl: 600 } }), /^not_found/);
  });
});

describeUnless(noFixtures)('samples of easyDNS', () => {
  const vendor = standInFor(startEasydns, connect);

  it('reads the answer of octoDNS', async () => {
    const body = sampleAnswer<{ data: StoredRecord[] }>('easydns', 'easydns-records');
    vendor.standIn.handler = () => ({ body });
    const shown = await vendor.provider.listRecords({ id: 'unit.tests', name: 'unit.tests' });
    assert.equal(shown.length, 26);
    const line = ({ host, type, value, priority }: RemoteRecord) => [host, type, priority, value].join(' ');
    for (const expected of [
      '_srv._tcp SRV 10 20 30 foo-1.unit.tests',
      'mx MX 40 smtp-1.unit.tests',
      '@ CAA  0 issue "ca.unit.tests"',
      'cname CNAME  unit.tests',
      'txt TXT  have you any wool.',
    ])
      assert.ok(shown.map(line).includes(expected), expected);
  });
});
