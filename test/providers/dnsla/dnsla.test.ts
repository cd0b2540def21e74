import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { dnsla } from '../../../src/providers/dnsla/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredDnsla, startDnsla, ZONE_ID } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...dnsla, limits: { ...dnsla.limits, requests: 1000 } };
const connect = (standIn: StandIn, secret = 'a-secret'): DnsProvider =>
  connectTo(fast, { api_id: 'an-id', api_secret: secret, endpoint: standIn.url });
const zone = { id: ZONE_ID, name: 'contract.example' };
const stored = (more: Partial<StoredDnsla>): StoredDnsla => ({
  ...{ id: '85371689655342001', host: '@', type: 2, data: 'ns1.dns.la.', ttl: 3600, lineId: '' },
  ...{ preference: 0, weight: 0, disable: false },
  ...more,
});

providerContract('DNS.LA (stand-in)', async () => {
  const standIn = await startDnsla();
  standIn.records.push(stored({}));
  standIn.domains.unshift({ id: '85369994254488570', domain: 'a.example.' }, { id: '1', domain: 'b.example.' });
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    ...{ definition: dnsla, zone, standIn, stop: standIn.stop },
  };
});

describe('DNS.LA', () => {
  const vendor = standInFor(startDnsla, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.page = 512;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 600, ...more }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /认证失败/ });
    const other = { id: '85369994254488577', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), { kind: 'not_found', message: /域名错误/ });
    const clash = [record('x', 'A', '192.0.2.1'), record('x', 'CNAME', 'a.example.net')];
    const [, refused] = await vendor.provider.apply(
      zone,
      clash.map((after): Change => ({ op: 'create', after })),
    );
    assert.ok(
      refused && !refused.ok && refused.error.kind === 'rejected' && /冲突 \(code 400\)/.test(refused.error.message),
    );
  });

  it('sends a record as it was recorded', async () => {
    await one({ op: 'create', after: record('_acme-challenge', 'TXT', 'ADw2sEd82DUg', { ttl: 120 }) });
    const sent = { domainId: ZONE_ID, type: 16, host: '_acme-challenge', data: 'ADw2sEd82DUg', ttl: 120 };
    assert.deepEqual(vendor.standIn.requests.at(-1)?.body, sent);
  });

  it('keeps every digit of an id, and takes one that is a number for a cut answer', async () => {
    vendor.standIn.records.push(stored({ id: '85371689655342081' }));
    assert.equal((await vendor.provider.listRecords(zone))[0]?.remoteId, '85371689655342081');
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({
      body: '{"code":200,"data":{"total":1,"results":[{"id":85371689655342081,"host":"@","type":1,"data":"192.0.2.1","ttl":600}]}}',
    });
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });

  it('has lines and weights, and takes them away again', async () => {
    const line = '84613316902921216';
    const info = await vendor.provider.zoneInfo?.(zone);
    assert.deepEqual(info?.lines[0], { id: 'default', name: '默认' });
    assert.deepEqual(info?.lines[2], { id: '84613316902921217', name: '联通北京', parent: line });
    assert.equal(info?.minTtl, 600);
    const there = { ...record('www', 'A', '192.0.2.1'), line, weight: 5 };
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    await one({ op: 'create', after: there });
    const list = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      list.map((r) => [r.line, r.weight]),
      [
        ['default', null],
        [line, 5],
      ],
    );
    const before = list[1] as RemoteRecord;
    await one({ op: 'update', before, after: { ...before, value: '192.0.2.9', line: 'default', weight: null } });
    const after = vendor.standIn.records[1];
    assert.deepEqual([after?.data, after?.lineId, after?.weight], ['192.0.2.9', '', 0]);
  });

  it('toggles alone, and tells when only a part of a change was carried out', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    vendor.standIn.requests.length = 0;
    await one({ op: 'update', before, after: { ...before, enabled: false } });
    assert.deepEqual(
      vendor.standIn.requests.map(({ path }) => path),
      ['/api/recordDisable'],
    );
    const off = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.path.endsWith('Disable') ? { body: { code: 500, msg: 'no' } } : handler(request);
    const outcome = await one({ op: 'update', before: off, after: { ...off, value: '192.0.2.2', enabled: true } });
    const made = await one({ op: 'create', after: record('new', 'A', '192.0.2.1', { enabled: false }) });
    vendor.standIn.handler = handler;
    for (const part of [outcome, made])
      assert.ok(part && !part.ok && part.error.kind === 'rejected' && part.error.mayHaveApplied);
  });

  it('shows what it cannot write, read-only', async () => {
    vendor.standIn.records.push(
      stored({ id: '1', type: 256, host: 'u', data: 'https://example.net/' }),
      stored({ id: '2', type: 33, host: '_sip._tcp', data: '1 5 5060 sip.example.net' }),
      stored({ id: '3', type: 999, host: 'o', data: 'x' }),
      stored({ id: '4', type: 5, host: 'c', data: 'a.example.net.', lineId: '0' }),
    );
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.type, r.value, r.line, r.readOnly]),
      [
        ['URL', 'https://example.net/', 'default', true],
        ['SRV', '5 5060 sip.example.net', 'default', true],
        ['TYPE999', 'x', 'default', true],
        ['CNAME', 'a.example.net', 'default', false],
      ],
    );
  });

  it('takes a list that is cut, or lacks a page, for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [
      {},
      '',
      { code: 200 },
      { code: 200, data: {} },
      { code: 200, data: { total: 3, results: null } },
    ]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = handler;
    vendor.standIn.records.push(stored({ id: '1' }), stored({ id: '2' }), stored({ id: '3' }));
    vendor.standIn.most.page = 2;
    assert.equal((await vendor.provider.listRecords(zone)).length, 3);
    vendor.standIn.handler = (request) =>
      request.query.pageIndex === '2' ? { body: { code: 200, data: { total: 3, results: [] } } } : handler(request);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    vendor.standIn.records.length = 0;
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
  });
});
