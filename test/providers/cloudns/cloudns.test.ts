import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { cloudns } from '../../../src/providers/cloudns/declaration.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startCloudns } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...cloudns, limits: { ...cloudns.limits, requests: 1000 } };
const connect = (standIn: StandIn, password = 'a-password', base = '') =>
  connectTo(fast, { auth_id: '1234', auth_password: password, endpoint: `${standIn.url}${base}` });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('ClouDNS (stand-in)', async () => {
  const standIn = await startCloudns();
  standIn.zones.unshift(...Array.from({ length: 150 }, (_, i) => `other${i}.example`));
  standIn.records.push({ id: '1', type: 'NS', host: '', record: 'pns1.cloudns.net', ttl: '3600', status: 1 });
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    ...{ definition: cloudns, zone, standIn, stop: standIn.stop },
    ttls: [900, 1800],
    values: { TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: "changed; 'quoted' too" }] },
    refuses: ({ type, value }) => type === 'TXT' && /^$|["`\\]|\s$/.test(value),
  };
});

describe('ClouDNS', () => {
  const vendor = standInFor(startCloudns, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 3600, ...more }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const forms = () =>
    vendor.standIn.requests.map(({ path, body }) => {
      const {
        'auth-id': _id,
        'auth-password': _password,
        ...form
      } = Object.fromEntries(new URLSearchParams(String(body)));
      return [path, form];
    });

  it('says in its words what is refused, all with a status of 200', async () => {
    const wrong = connect(vendor.standIn, 'wrong');
    await assert.rejects(wrong.check(), { kind: 'auth', message: /incorrect auth-id/ });
    await assert.rejects(wrong.listZones(), { kind: 'auth' });
    const other = { id: 'other.example', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), { kind: 'not_found', message: /Missing domain-name/ });
    await connectTo(fast, { sub_auth_id: '77', auth_password: 'a-password', endpoint: vendor.standIn.url }).check();
    assert.ok(
      vendor.standIn.requests.every(({ query }) => !Object.keys(query).length),
      'no password in a URL',
    );
  });

  it('sends the parts of a record in their fields, the apex as nothing', async () => {
    for (const [type, value, priority, expected] of [
      ['A', '192.0.2.1', null, { record: '192.0.2.1' }],
      ['MX', 'mx.example.net', 10, { record: 'mx.example.net', priority: '10' }],
      ['SRV', '5 5060 sip.example.net', 1, { record: 'sip.example.net', priority: '1', weight: '5', port: '5060' }],
      ['CAA', '0 issue "ca.example.net"', null, { caa_flag: '0', caa_type: 'issue', caa_value: 'ca.example.net' }],
    ] as const) {
      vendor.standIn.requests.length = 0;
      await one({ op: 'create', after: record('@', type, value, { priority }) });
      const sent = { 'domain-name': zone.id, 'record-type': type, host: '', ttl: '3600', ...expected };
      assert.deepEqual(forms(), [['/add-record.json', sent]]);
    }
  });

  it('sends the root as a dot, which it does not answer', async () => {
    await one({ op: 'create', after: record('nmx', 'MX', '.', { priority: 0 }) });
    assert.deepEqual(
      [forms()[0]?.[1], vendor.standIn.records[0]?.record],
      [{ 'domain-name': zone.id, 'record-type': 'MX', host: 'nmx', ttl: '3600', record: '.', priority: '0' }, ''],
    );
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ value, priority }) => [value, priority]),
      [['.', 0]],
    );
  });

  it('takes the next longer TTL that there is, and says so', async () => {
    const outcome = await one({ op: 'create', after: record('www', 'A', '192.0.2.1', { ttl: 600 }) });
    assert.ok(outcome?.ok && outcome.held?.ttl === 900);
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    const later = await one({ op: 'update', before, after: { ...before, ttl: 99999999 } });
    assert.ok(later?.ok && later.held?.ttl === 2592000);
    // one that its plan has and this list has not
    (vendor.standIn.records[0] as { ttl: string }).ttl = '120';
    const odd = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    await one({ op: 'update', before: odd, after: { ...odd, value: '192.0.2.9' } });
    assert.ok(JSON.stringify(forms().at(-1)).includes('"ttl":"120"'));
  });

  it('toggles alone, and tells when only a part of a change was carried out', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1', { enabled: false }) });
    assert.equal(vendor.standIn.records[0]?.status, 0);
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    vendor.standIn.requests.length = 0;
    await one({ op: 'update', before, after: { ...before, enabled: true } });
    assert.deepEqual(
      forms().map(([path]) => path),
      ['/change-record-status.json'],
    );
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.path.startsWith('/change') ? { body: { status: 'Failed', statusDescription: 'No.' } } : handler(request);
    const live = { ...before, enabled: true };
    const outcome = await one({ op: 'update', before: live, after: { ...before, value: '192.0.2.2', enabled: false } });
    vendor.standIn.handler = handler;
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && outcome.error.mayHaveApplied);
  });

  it('shows what it cannot write, read-only', async () => {
    const row = { host: 'x', ttl: '3600', status: 1 };
    vendor.standIn.records.push(
      { ...row, id: '1', type: 'WR', record: 'https://example.net/' },
      { ...row, id: '2', type: 'NAPTR', order: '1', pref: '2', flag: 'u', params: 'E2U+sip', regexp: '', replace: '.' },
      { ...row, id: '3', type: 'A', record: '192.0.2.1', 'geodns-location': '12' },
      { ...row, id: '4', type: 'A', record: '192.0.2.1', 'geodns-location': '0' },
    );
    const list = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      list.map((r) => [r.remoteId, r.line, r.readOnly]),
      [
        ['1', 'default', true],
        ['2', 'default', true],
        ['3', '12', false],
        ['4', 'default', false],
      ],
    );
    assert.equal(list[0]?.value, 'https://example.net/');
    assert.match(list[1]?.value ?? '', /E2U\+sip/);
  });

  it('keeps the place of a record of a GeoDNS zone, told by its id or by its code alone', async () => {
    const row = { host: 'geo', ttl: '3600', status: 1, type: 'A' };
    vendor.standIn.records.length = 0;
    vendor.standIn.records.push(
      { ...row, id: '1', record: '192.0.2.1', 'geodns-location': '12', 'geodns-location-code': 'US' },
      { ...row, id: '2', record: '192.0.2.1', 'geodns-location-code': 'eu-west' },
      { ...row, id: '3', record: '192.0.2.1' },
    );
    for (const before of await vendor.provider.listRecords(zone)) {
      const outcome = await one({ op: 'update', before, after: { ...before, value: '192.0.2.2', ttl: 300 } });
      assert.ok(outcome?.ok, JSON.stringify(outcome));
    }
    assert.deepEqual(
      vendor.standIn.records.map((r) => [r.record, r['geodns-location-code']]),
      [
        ['192.0.2.2', 'US'],
        ['192.0.2.2', 'eu-west'],
        ['192.0.2.2', ''],
      ],
    );
    vendor.standIn.records.length = 0;
  });

  it('tells the places of a GeoDNS zone, and makes records there', async () => {
    assert.deepEqual((await vendor.provider.zoneInfo(zone))?.lines, [
      { id: 'default', name: 'Default' },
      { id: '12', name: 'Place US' },
      { id: '27', name: 'Place eu-west' },
    ]);
    assert.ok((await one({ op: 'create', after: record('n', 'A', '192.0.2.5', { line: '12' }) }))?.ok);
    const place = { 'geodns-location': 1, 'geodns-location-code': 'DEFAULT' };
    vendor.standIn.records.push({
      id: '1',
      type: 'A',
      host: 'n',
      ttl: '3600',
      status: 1,
      record: '192.0.2.5',
      ...place,
    });
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ line }) => line),
      ['default', '12'],
    );
    vendor.standIn.world.geo = false;
    assert.deepEqual((await vendor.provider.zoneInfo(zone))?.lines, []);
    vendor.standIn.world.geo = true;
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: {} });
    await assert.rejects(vendor.provider.zoneInfo(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of ['', '{}', '[{"id":"1"}]', '{"1":{"id":"1","type":"A","ho']) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, body);
    }
    vendor.standIn.handler = () => ({ body: '{"1":{"host":"x"}}' });
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ host, type, readOnly }) => [host, type, readOnly]),
      [['x', 'UNKNOWN', true]],
    );
    vendor.standIn.handler = () => ({ body: [] });
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
    vendor.standIn.handler = ({ path }) => ({ body: path.startsWith('/get') ? 2 : [{ name: 'a.example' }] });
    await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });
});
