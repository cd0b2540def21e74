import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { netlify } from '../../../src/providers/netlify/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { noFixtures, sample } from '../../support/fixtures.js';
import { describeUnless } from '../../support/suites.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startNetlify } from './stand-in.js';

const connect = (standIn: StandIn, token = 'a-token'): DnsProvider =>
  connectTo(netlify, { token, endpoint: standIn.url });
const zone = { id: 'u6b4336178f002e0a06bb0b6', name: 'contract.example' };
const stored = (more: Partial<StoredRecord>): StoredRecord => ({
  ...{ id: 'u1', hostname: zone.name, type: 'NS', value: 'dns1.p01.nsone.net', ttl: 3600, managed: true },
  ...{ priority: null, weight: null, port: null, flag: null, tag: null, site_id: null, dns_zone_id: zone.id },
  ...more,
});

providerContract('Netlify (stand-in)', async () => {
  const standIn = await startNetlify();
  standIn.records.push(stored({ managed: false }));
  standIn.zones.unshift({ id: 'u2', name: 'a.example' }, { id: 'u3', name: 'b.example' });
  standIn.most.page = 7;
  return {
    provider: connect(standIn),
    ...{ definition: netlify, zone, standIn },
    stranger: connect(standIn, 'wrong'),
    cannot: {
      'TXT empty': 'Netlify wants a value',
      'MX with the root': 'refused by Netlify (dnscontrol 2022)',
      'SRV with the root': 'not known of Netlify, whose MX cannot hold it',
    },
    stop: standIn.stop,
  };
});

describe('Netlify', () => {
  const vendor = standInFor(startNetlify, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const listed = async () => (await vendor.provider.listRecords(zone)) as [RemoteRecord, ...RemoteRecord[]];
  const writes = () => vendor.standIn.requests.filter((r) => r.method !== 'GET');

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Access Denied/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'u9', name: 'x.example' }), { kind: 'not_found' });
    vendor.standIn.records.push(stored({ type: 'NETLIFY', value: 'site.netlify.app' }));
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1', { host: '@' }) });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /link exists/.test(outcome.error.message));
  });

  it('sends names absolute, and the parts of rdata in fields', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, '@', { hostname: zone.name, value: 'mx.example.net', priority: 10 }],
      [
        ...(['SRV', '5 5060 sip.example.net', 1, '_sip._tcp'] as const),
        { hostname: `_sip._tcp.${zone.name}`, value: 'sip.example.net', priority: 1, weight: 5, port: 5060 },
      ],
      [
        ...(['CAA', '128 issue "ca.example.net"', null, '@'] as const),
        { hostname: zone.name, value: 'ca.example.net', flag: 128, tag: 'issue' },
      ],
      ['TXT', 'a "b" \\c', null, 'www', { hostname: `www.${zone.name}`, value: 'a "b" \\c' }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(type, value, { priority, host }) });
      assert.ok(outcome.ok);
      assert.deepEqual(writes().at(-1)?.body, { type, ttl: 300, ...expected });
      const held = (await listed()).find((r) => r.remoteId === outcome.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority], [host, value, priority]);
    }
  });

  it('puts a new record in the place of the old one; of one that differs in its TTL alone the old one goes first', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const [first] = await listed();
    assert.ok((await one({ op: 'update', before: first, after: record('A', '192.0.2.2') })).ok);
    const [second] = await listed();
    assert.ok((await one({ op: 'update', before: second, after: { ...second, ttl: 600 } })).ok);
    assert.deepEqual(
      writes().map(({ method }) => method),
      ['POST', 'POST', 'DELETE', 'DELETE', 'POST'],
    );
    assert.deepEqual(
      (await listed()).map((r) => [r.value, r.ttl]),
      [['192.0.2.2', 600]],
    );
  });

  it('turns a record into one that is there already without losing that', async () => {
    for (const value of ['192.0.2.1', '192.0.2.2']) await one({ op: 'create', after: record('A', value) });
    const [before, there] = (await listed()) as [RemoteRecord, RemoteRecord];
    const outcome = await one({ op: 'update', before, after: record('A', '192.0.2.2') });
    assert.ok(outcome.ok && outcome.remoteId === there.remoteId);
    assert.deepEqual(await listed(), [there]);
  });

  it('shows read-only what Netlify manages, its own types, and what it cannot read', async () => {
    vendor.standIn.records.push(
      stored({ id: 'u1' }),
      stored({ id: 'u2', type: 'NETLIFY', value: 'site.netlify.app', managed: false }),
      stored({ id: 'u3', type: 'SRV', value: '5 5060 sip.example.net', priority: 1, managed: false }),
      stored({ id: 'u4', type: 'SRV', value: 'sip.example.net', priority: 1, port: 5060, managed: false }),
      stored({ id: 'u5', type: 'A', value: null as unknown as string, managed: false }),
    );
    assert.deepEqual(
      (await listed()).map((r) => [r.remoteId, r.readOnly, r.value.replace(/^\{.*"value":null.*\}$/, 'its raw text')]),
      [
        ['u1', true, 'dns1.p01.nsone.net'],
        ['u2', true, 'site.netlify.app'],
        ['u3', false, '5 5060 sip.example.net'],
        ['u4', false, '0 5060 sip.example.net'],
        ['u5', true, 'its raw text'],
      ],
    );
  });

  it('takes a list or a record that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [undefined, {}, null]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = (request) => (request.method === 'POST' ? { status: 201, body: {} } : handler(request));
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.ok(!outcome.ok && outcome.error.kind === 'unavailable' && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });
});

describeUnless(noFixtures)("samples of lego's Netlify", () => {
  const vendor = standInFor(startNetlify, connect);
  it('are read as they are meant, and a deletion is sent as theirs', async () => {
    const { response } = sample('netlify', 'TestClient_GetRecords');
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => response;
    const found = await vendor.provider.listRecords({ id: 'zoneID', name: 'example.org' });
    assert.deepEqual(
      found.map((r) => [r.host, r.type, r.value, r.ttl, r.readOnly]),
      [
        ['@', 'A', '10.10.10.10', 3600, false],
        ['test', 'TXT', 'txtxtxtxtxtxt', 300, false],
      ],
    );
    const { request } = sample('netlify', 'TestClient_RemoveRecord');
    const before = { ...found[0], remoteId: 'recordID' } as RemoteRecord;
    vendor.standIn.handler = () => ({ status: 204 });
    const [outcome] = await vendor.provider.apply({ id: 'zoneID', name: 'example.org' }, [{ op: 'delete', before }]);
    assert.ok(outcome?.ok);
    const sent = vendor.standIn.requests.at(-1);
    assert.deepEqual([sent?.method, sent?.path], [request.method, request.path]);
    vendor.standIn.handler = handler;
  });
});
