import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { west } from '../../../src/providers/west/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { gbk, type StoredWest, startWest } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...west, limits: { ...west.limits, requests: 1000 } };
const connect = (standIn: StandIn, password = 'a-password'): DnsProvider =>
  connectTo(fast, { username: 'ada', api_password: password, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };
const stored = (more: Partial<StoredWest>): StoredWest => ({
  ...{ id: 1, item: '@', type: 'NS', value: 'ns1.myhostadmin.net', line: '', ttl: 3600, level: 10, pause: 0 },
  ...more,
});

providerContract('West.cn (stand-in)', async () => {
  const standIn = await startWest();
  standIn.records.push(stored({}));
  standIn.domains.unshift('a.example', 'b.example', 'c.example');
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    ...{ definition: west, zone, standIn, stop: standIn.stop },
    refuses: ({ type, value }) =>
      type === 'TXT' && (value.trim() !== value || value === '' || [...value].some((c) => c > '~')),
  };
});

describe('West.cn', () => {
  const vendor = standInFor(startWest, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.page = 100;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 600, ...more }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const acts = () => vendor.standIn.requests.map(({ query }) => query.act);

  it('says in its words what is refused, in Chinese, all with a status of 200', async () => {
    const wrong = connect(vendor.standIn, 'wrong');
    await assert.rejects(wrong.check(), { kind: 'auth', message: /token验证失败 \(code 10001\)/ });
    const other = { id: 'other.example', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), { kind: 'not_found', message: /域名不存在/ });
    await one({ op: 'create', after: record('x', 'A', '192.0.2.1') });
    const clash = await one({ op: 'create', after: record('x', 'CNAME', 'a.example.net') });
    assert.ok(clash && !clash.ok && clash.error.kind === 'rejected' && /与其他记录冲突/.test(clash.error.message));
  });

  it('sends a record, and never the password', async () => {
    await one({ op: 'create', after: record('@', 'MX', 'mx.example.net', { priority: 5 }) });
    const { time, token, ...form } = Object.fromEntries(
      new URLSearchParams(String(vendor.standIn.requests.at(-1)?.body)),
    );
    assert.deepEqual(form, {
      ...{ domain: zone.id, host: '@', type: 'MX', value: 'mx.example.net', ttl: '600', level: '5', line: '' },
      username: 'ada',
    });
    assert.ok(time && token && !JSON.stringify(vendor.standIn.requests).includes('a-password'));
  });

  it('moves a record to another line, and to another host by making it anew', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    const lined = await one({ op: 'update', before, after: { ...before, line: 'LTEL' } });
    assert.ok(lined?.ok && lined.remoteId === before.remoteId);
    const there = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    assert.equal(there.line, 'LTEL');
    vendor.standIn.requests.length = 0;
    const moved = await one({ op: 'update', before: there, after: { ...there, host: 'web', line: 'default' } });
    assert.ok(moved?.ok && moved.remoteId !== before.remoteId);
    assert.deepEqual(acts(), ['getdnsrecord', 'adddnsrecord', 'deldnsrecord']);
  });

  it('leaves a record where it is when what shall take its place cannot be sent', async () => {
    await one({ op: 'create', after: record('www', 'CNAME', 'a.example.net') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    vendor.standIn.requests.length = 0;
    const outcome = await one({ op: 'update', before, after: record('www', 'TXT', '中文') });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
    assert.deepEqual(acts(), ['getdnsrecord']);
  });

  it('toggles alone, and tells when only a part of a change was carried out', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    vendor.standIn.requests.length = 0;
    await one({ op: 'update', before, after: { ...before, enabled: false } });
    assert.deepEqual(acts(), ['pause']);
    const off = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    assert.equal(off.enabled, false);
    const { handler } = vendor.standIn;
    const refused = { body: gbk({ result: 500, msg: '操作失败', errcode: 1 }) };
    vendor.standIn.handler = (request) => (request.query.act === 'pause' ? refused : handler(request));
    const outcome = await one({ op: 'update', before: off, after: { ...off, value: '192.0.2.2', enabled: true } });
    const made = await one({ op: 'create', after: record('new', 'A', '192.0.2.1', { enabled: false }) });
    vendor.standIn.handler = handler;
    for (const part of [outcome, made])
      assert.ok(part && !part.ok && part.error.kind === 'rejected' && part.error.mayHaveApplied);
  });

  it('reads texts in Chinese, types that it cannot write, and the end of the registration', async () => {
    vendor.standIn.records.push(
      stored({ type: 'TXT', item: 'zh', value: '验证 "中文"' }),
      stored({ id: 2, type: 'SRV', item: '_sip._tcp', value: '5 5060 sip.example.net' }),
      stored({ id: 3, type: 'URL', item: 'go', value: 'https://example.net/' }),
    );
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.value, r.readOnly]),
      [
        ['验证 "中文"', false],
        ['5 5060 sip.example.net', true],
        ['https://example.net/', true],
      ],
    );
    vendor.standIn.domains.push('my-contract.example');
    const info = await vendor.provider.zoneInfo?.(zone);
    vendor.standIn.domains.pop();
    assert.equal(info?.expiresAt, '2027-04-30T16:00:00.000Z');
    assert.deepEqual(info?.lines[1], { id: 'LTEL', name: '电信' });
  });

  it('takes a list that is cut, or lacks a page, for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [
      {},
      '',
      { result: 200 },
      { result: 200, data: {} },
      { result: 200, data: { items: [], total: 2 } },
    ]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = handler;
    vendor.standIn.records.push(stored({ id: 1 }), stored({ id: 2 }), stored({ id: 3 }));
    vendor.standIn.most.page = 2;
    assert.equal((await vendor.provider.listRecords(zone)).length, 3);
    vendor.standIn.handler = (request) =>
      String(request.body).includes('pageno=2')
        ? { body: { result: 200, data: { items: [], total: 3 } } }
        : handler(request);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    vendor.standIn.records.length = 0;
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
  });
});
