import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { spaceship } from '../../../src/providers/spaceship/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredSpaceship, startSpaceship } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...spaceship, limits: { ...spaceship.limits, requests: 10000 } };
const connect = (standIn: StandIn, secret = 'a-secret'): DnsProvider =>
  connectTo(fast, { api_key: 'a-key', api_secret: secret, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };
const stored = (type: string, name: string, fields: object, group = 'custom'): StoredSpaceship => ({
  ...{ type, name, ttl: 1800, group: { type: group } },
  ...fields,
});

providerContract('Spaceship (stand-in)', async () => {
  const standIn = await startSpaceship();
  standIn.records.push(stored('NS', '@', { nameserver: 'launch1.spaceship.net' }));
  standIn.domains.unshift('a.example', 'b.example', 'c.example');
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    ...{ definition: spaceship, zone, standIn, stop: standIn.stop },
    refuses: ({ type, host, value }) =>
      (type === 'TXT' && /^\s*$|\s$/.test(value)) ||
      (type === 'NS' && host === '@') ||
      (type === 'SRV' && !/^_[^.]+\._[^.]+/.test(host)),
    cannot: {
      'MX with the root': "not a name as the vendor's Terraform provider wants one",
      'SRV with the root': "not a name as the vendor's Terraform provider wants one",
    },
  };
});

describe('Spaceship', () => {
  const vendor = standInFor(startSpaceship, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.page = 500;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 600, ...more }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const methods = () => vendor.standIn.requests.map(({ method }) => method);

  it('says in its words what is refused, with the field', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /The API key or/ });
    const other = { id: 'other.example', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), { kind: 'not_found' });
    const outcome = await one({ op: 'create', after: record('www', 'A', '192.0.2.1', { ttl: 7200 }) });
    assert.ok(outcome && !outcome.ok && /Validation failed; ttl: 60 to 3600/.test(outcome.error.message));
  });

  it('sends each type in its fields, and names what goes without its TTL', async () => {
    const sip = { name: 'a.b', service: '_sip', protocol: '_tcp' };
    for (const [host, type, value, priority, expected] of [
      ['@', 'A', '192.0.2.1', null, { name: '@', address: '192.0.2.1' }],
      ['@', 'MX', 'mx.example.net', 10, { name: '@', exchange: 'mx.example.net', preference: 10 }],
      ['c', 'CAA', '0 issue "ca.example.net"', null, { name: 'c', flag: 0, tag: 'issue', value: 'ca.example.net' }],
      [
        '_sip._tcp.a.b',
        'SRV',
        '5 50 x.example.net',
        1,
        { ...sip, priority: 1, weight: 5, port: 50, target: 'x.example.net' },
      ],
      ['_acme-challenge', 'TXT', 'ADw2sEd8', null, { name: '_acme-challenge', value: 'ADw2sEd8' }],
    ] as const) {
      await one({ op: 'create', after: record(host, type, value, { priority }) });
      const body = { force: false, items: [{ type, ttl: 600, ...expected }] };
      assert.deepEqual(vendor.standIn.requests.at(-1)?.body, body);
      const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
      assert.deepEqual([before.host, before.value, before.priority], [host, value, priority]);
      await one({ op: 'delete', before });
      assert.deepEqual(vendor.standIn.requests.at(-1)?.body, [{ type, ...expected }]);
      assert.equal(vendor.standIn.records.length, 0);
    }
  });

  it('makes the new value before the old one goes, unless it takes the two for one', async () => {
    for (const [before, after, expected] of [
      [record('www', 'A', '192.0.2.1'), record('www', 'A', '192.0.2.2'), ['GET', 'PUT', 'DELETE']],
      [record('www', 'A', '192.0.2.1'), record('www', 'A', '192.0.2.1', { ttl: 60 }), ['GET', 'PUT']],
      [record('www', 'CNAME', 'a.example.net'), record('www', 'CNAME', 'b.example.net'), ['GET', 'DELETE', 'PUT']],
      [
        record('_s._tcp', 'SRV', '5 50 x.example.net', { priority: 1 }),
        record('_s._tcp', 'SRV', '5 51 y.example.net', { priority: 1 }),
        ['GET', 'DELETE', 'PUT'],
      ],
      [
        record('@', 'CAA', '0 iodef "mailto:A@example.net"'),
        record('@', 'CAA', '0 iodef "mailto:a@example.net"'),
        ['GET', 'DELETE', 'PUT'],
      ],
    ] as const) {
      vendor.standIn.records.length = 0;
      await one({ op: 'create', after: before });
      const [held] = await vendor.provider.listRecords(zone);
      vendor.standIn.requests.length = 0;
      const outcome = await one({ op: 'update', before: held as RemoteRecord, after });
      assert.deepEqual(methods(), expected, after.type);
      const now = await vendor.provider.listRecords(zone);
      assert.deepEqual(now, [{ ...after, remoteId: outcome?.ok && outcome.remoteId, readOnly: false }]);
    }
  });

  it('sends nothing that it refuses, and deletes what it could not write', async () => {
    for (const [host, type, value] of [
      ['_s._tcp', 'SRV', '0 0 sip.example.net'],
      ['_s._tcp', 'SRV', '0 0 .'],
      ['sip', 'SRV', '0 5060 sip.example.net'],
      ['@', 'NS', 'ns1.example.net'],
    ] as const) {
      const after = record(host, type, value, { priority: type === 'SRV' ? 0 : null });
      const outcome = await one({ op: 'create', after });
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied, value);
    }
    assert.deepEqual(vendor.standIn.requests, []);
    vendor.standIn.records.push(stored('MX', 'nomail', { exchange: '.', preference: 0 }));
    const [before] = await vendor.provider.listRecords(zone);
    assert.deepEqual([before?.value, before?.readOnly], ['.', false]);
    await one({ op: 'delete', before: before as RemoteRecord });
    assert.equal(vendor.standIn.records.length, 0);
  });

  it('makes a record again when what takes its place is refused', async () => {
    await one({ op: 'create', after: record('www', 'CNAME', 'a.example.net') });
    const [before] = await vendor.provider.listRecords(zone);
    const after = record('www', 'CNAME', 'b.example.net', { ttl: 7200 });
    const outcome = await one({ op: 'update', before: before as RemoteRecord, after });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    assert.deepEqual(await vendor.provider.listRecords(zone), [before]);
  });

  it('shows what its products keep, and what it cannot write, read-only', async () => {
    vendor.standIn.records.push(
      stored('A', '@', { address: '192.0.2.1' }, 'product'),
      stored('HTTPS', '@', { svcPriority: 1, targetName: '@', svcParams: 'alpn=h2' }),
      stored('A', 'www', { address: '192.0.2.1' }),
    );
    const list = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      list.map((r) => [r.type, r.host, r.readOnly]),
      [
        ['A', '@', true],
        ['HTTPS', '@', true],
        ['A', 'www', false],
      ],
    );
    assert.match(list[1]?.value ?? '', /alpn=h2/);
  });

  it('knows the end of a registration', async () => {
    assert.equal((await vendor.provider.zoneInfo?.(zone))?.expiresAt, '2027-02-13T00:36:30.000Z');
  });

  it('takes a list that is cut, or lacks a page, for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [{}, '', { items: [] }, { items: [], total: 1 }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = () => ({ body: { items: [{ ttl: 1 }], total: 1 } });
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ value, readOnly }) => [value, readOnly]),
      [['{"ttl":1}', true]],
    );
    vendor.standIn.handler = handler;
    for (const name of ['a', 'b', 'c']) vendor.standIn.records.push(stored('A', name, { address: '192.0.2.1' }));
    vendor.standIn.most.page = 2;
    assert.equal((await vendor.provider.listRecords(zone)).length, 3);
    vendor.standIn.handler = (request) =>
      request.query.skip === '2' ? { body: { items: [], total: 3 } } : handler(request);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });
});
