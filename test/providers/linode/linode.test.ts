import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { linode } from '../../../src/providers/linode/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startLinode, ZONE_ID } from './stand-in.js';

/** The same without the limit of requests a minute, which only makes a test wait. */
const fast = { ...linode, limits: { ...linode.limits, requests: 100_000 } };
const connect = (standIn: StandIn, token = 'a-token'): DnsProvider => connectTo(fast, { token, endpoint: standIn.url });
const zone = { id: String(ZONE_ID), name: 'contract.example' };

providerContract('Linode (stand-in)', async () => {
  const standIn = await startLinode();
  standIn.zones.unshift({ id: 1, domain: 'a.example', type: 'master', ttl_sec: 300 });
  standIn.zones.unshift({ id: 2, domain: 'b.example', type: 'master', ttl_sec: 300 });
  standIn.most.page = 2;
  standIn.forgets.ttl = true;
  return {
    provider: connect(standIn),
    definition: fast,
    zone,
    standIn,
    stranger: connect(standIn, 'wrong'),
    values: { CAA: [{ value: '0 issue "ca.example.net"' }, { value: '0 iodef "mailto:security@example.net"' }] },
    ttls: [300, 3600],
    cannot: {
      'CAA with flag 128': 'there are no flags (OpenAPI 2024)',
      'CAA with flag 128 and parameters': 'there are no flags (OpenAPI 2024)',
      'CAA that forbids': 'the value has to name somebody (OpenAPI 2024)',
    },
    // a null MX is of the zone itself only (OpenAPI 2024)
    refuses: ({ type, value, host }) =>
      (type === 'MX' && value === '.' && host !== '@') ||
      (type === 'TXT' && value === '') ||
      (type === 'SRV' && !/^_[^.]+\._[^.]+$/.test(host)),
    stop: standIn.stop,
  };
});

describe('Linode', () => {
  const vendor = standInFor(startLinode, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.forgets.ttl = false;
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
  const base = { priority: 0, weight: 0, port: 0, service: null, protocol: null, tag: null };

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), { kind: 'auth', message: /Invalid Token/ });
    await assert.rejects(vendor.provider.listRecords({ id: '7', name: 'x.example' }), { kind: 'not_found' });
    const outcome = await one({ op: 'create', after: record('MX', 'mx.example.net', { priority: 256 }) });
    assert.ok(
      !outcome.ok && outcome.error.kind === 'rejected' && /priority: Must be 0-255/.test(outcome.error.message),
    );
  });

  it('finds a zone by its exact name, and leaves out those that are kept elsewhere', async () => {
    vendor.standIn.zones.push({ id: 3, domain: 'second.example', type: 'slave', ttl_sec: 0 });
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
    assert.deepEqual(await vendor.provider.findZone?.(zone.name), zone);
    assert.equal(await vendor.provider.findZone?.('second.example'), null);
    assert.equal(vendor.standIn.requests.at(-1)?.headers['x-filter'], '{"domain":"second.example"}');
    vendor.standIn.zones.pop();
  });

  it('sends the parts of a record by their names', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, 'www', { name: 'www', target: 'mx.example.net', priority: 10 }],
      ['MX', '.', 0, '@', { name: '', target: '', priority: 0 }],
      [
        'SRV',
        '5 5060 sip.example.net',
        1,
        '_sip._tcp',
        { service: 'sip', protocol: 'tcp', target: 'sip.example.net', priority: 1, weight: 5, port: 5060 },
      ],
      ['CAA', '0 issue "ca.example.net; a=b"', null, '@', { name: '', tag: 'issue', target: 'ca.example.net; a=b' }],
      ['TXT', 'a "b" \\c', null, 'www', { name: 'www', target: 'a "b" \\c' }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(type, value, { priority, host }) });
      assert.ok(outcome.ok);
      assert.deepEqual(writes().at(-1)?.body, { type, ttl_sec: 300, ...expected });
      const held = (await listed()).find((r) => r.remoteId === outcome.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority], [host, value, priority]);
      vendor.standIn.records.length = 0; // no other MX beside the one of no mail
    }
  });

  it('reads services of SRV with and without their underscore', async () => {
    const srv = { ...base, type: 'SRV', target: 'sip.example.net', ttl_sec: 300, priority: 1, weight: 2, port: 3 };
    vendor.standIn.records.push(
      { ...srv, id: 1, name: '_sip._tcp', service: '_sip', protocol: '_tcp' },
      { ...srv, id: 2, name: '', service: 'sips', protocol: 'tcp' },
    );
    assert.deepEqual(
      (await listed()).map((r) => [r.host, r.value, r.priority]),
      [
        ['_sip._tcp', '2 3 sip.example.net', 1],
        ['_sips._tcp', '2 3 sip.example.net', 1],
      ],
    );
  });

  it('refuses what cannot be held, before it is sent', async () => {
    for (const after of [
      record('CAA', '128 issue "ca.example.net"'),
      record('CAA', '0 issue ";"'),
      record('MX', '.', { host: 'nomail', priority: 0 }),
      record('MX', '.', { host: '@', priority: 10 }),
      record('SRV', '1 2 sip.example.net', { host: '_sip._tcp.deeper', priority: 1 }),
      { ...record('TXT', 'x'), value: '' },
    ]) {
      const outcome = await one({ op: 'create', after });
      assert.ok(!outcome.ok && !outcome.tried && outcome.error.kind === 'rejected');
    }
    assert.equal(vendor.standIn.requests.length, 0);
  });

  it('tells to what a TTL is rounded', async () => {
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1', { ttl: 600 }) });
    assert.ok(outcome.ok);
    assert.equal(outcome.held?.ttl, 3600);
    const [before] = await listed();
    const next = await one({ op: 'update', before, after: record('A', '192.0.2.2', { ttl: 7000 }) });
    assert.ok(next.ok);
    assert.equal(next.held?.ttl, 7200);
  });

  it('gives a new record the TTL that was lost, and says that it is there when that fails', async () => {
    vendor.standIn.forgets.ttl = true;
    const made = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.deepEqual(made, { ok: true, remoteId: String(vendor.standIn.records[0]?.id) });
    assert.equal(vendor.standIn.records[0]?.ttl_sec, 300);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.method === 'PUT' ? { status: 400, body: { errors: [{ reason: 'no' }] } } : handler(request);
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.2') });
    assert.ok(!outcome.ok && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });

  it('shows a record without a TTL with that of its zone, or a day', async () => {
    vendor.standIn.records.push({ ...base, id: 1, type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 0 });
    assert.equal((await listed())[0].ttl, 86400);
    const [own] = vendor.standIn.zones;
    if (own) own.ttl_sec = 7200;
    assert.equal((await listed())[0].ttl, 7200);
    if (own) own.ttl_sec = 0;
  });

  it('puts a record of another type in the place of the old one', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const [before] = await listed();
    const outcome = await one({ op: 'update', before, after: record('CNAME', 'a.example.net') });
    assert.ok(outcome.ok && outcome.remoteId !== before.remoteId);
    assert.deepEqual(
      (await listed()).map((r) => [r.remoteId, r.type]),
      [[outcome.remoteId, 'CNAME']],
    );
  });

  it('takes a list or a record that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const kept: StoredRecord = { ...base, id: 1, type: 'A', name: 'www', target: '192.0.2.1', ttl_sec: 300 };
    const zones = { id: 1, domain: 'x.example', type: 'master' };
    for (const body of [
      undefined,
      {},
      { data: [{ ...kept, ...zones }] },
      { data: [{ ...kept, ...zones }], results: 2 },
    ]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ body: {} });
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.ok(!outcome.ok && outcome.error.kind === 'unavailable' && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });
});
