import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { jdcloud } from '../../../src/providers/jdcloud/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startJdcloud } from './stand-in.js';

/** The stand-in takes more than an account may ask for. */
const quick = { ...jdcloud, limits: { ...jdcloud.limits, requests: 1000 } };
const connect = (standIn: StandIn, access_key_id = 'AKEXAMPLE'): DnsProvider =>
  connectTo(quick, { access_key_id, access_key_secret: 'secretexample', endpoint: standIn.url });
const zone = { id: '11', name: 'contract.example' };

providerContract('JD Cloud (stand-in)', async () => {
  const standIn = await startJdcloud();
  standIn.most.page = 2;
  const two = { provider: connect(standIn), stranger: connect(standIn, 'AKOTHER') };
  return { ...two, definition: jdcloud, zone, standIn, stop: standIn.stop };
});

describe('JD Cloud: edges', () => {
  const vendor = standInFor(startJdcloud, connect);
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.records.length = 0;
  });
  const a = (more: Partial<LooseRecord> = {}): DnsRecord =>
    dnsRecord({ host: 'www', type: 'A', value: '192.0.2.1', ttl: 600, ...more }, zone.name);
  const apply = async (...changes: Change[]) =>
    (await vendor.provider.apply(zone, changes)).map((o) =>
      o.ok ? o.remoteId : `${o.error.kind}: ${o.error.message}`,
    );
  const only = async () => (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
  const bare = ({ remoteId: _id, readOnly: _ro, ...rest }: RemoteRecord): DnsRecord => rest;
  const sent = () => vendor.standIn.requests.filter((r) => r.method !== 'GET').map((r) => [r.method, r.body]);

  it('finds zones by their exact names, and says what is refused', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('act.example'), null);
    assert.equal((await vendor.provider.listZones()).at(-1)?.name, 'xn--fsqu00a.example');
    const gone = { kind: 'not_found', message: /domain not found \(code 404\)/ };
    await assert.rejects(vendor.provider.listRecords({ id: '99', name: 'x.example' }), gone);
    await assert.rejects(connect(vendor.standIn, 'AKOTHER').check(), {
      kind: 'auth',
      message: /access key is not valid/,
    });
  });

  it('sends the record of the sample exchange', async () => {
    await apply({ op: 'create', after: a({ host: '_acme-challenge', type: 'TXT', value: 'ADw2sEd8', ttl: 120 }) });
    const req = { hostRecord: '_acme-challenge', hostValue: 'ADw2sEd8', ttl: 120, type: 'TXT', viewValue: -1 };
    assert.deepEqual(sent(), [['POST', { req }]]);
  });

  it('splits SRV, and keeps line and weight', async () => {
    const srv = a({ type: 'SRV', host: '_sip._tcp', value: '5 5060 sip.example.net', priority: 1 });
    const weighted = a({ line: '7', weight: 20 });
    await apply({ op: 'create', after: srv }, { op: 'create', after: weighted }, { op: 'create', after: a() });
    const { mxPriority, weight, port, hostValue } = vendor.standIn.records[0] ?? {};
    assert.deepEqual([mxPriority, weight, port, hostValue], [1, 5, 5060, 'sip.example.net']);
    assert.deepEqual((await vendor.provider.listRecords(zone)).map(bare), [srv, weighted, a()]);
  });

  it('turns records on and off with their own call, and says when only that failed', async () => {
    await apply({ op: 'create', after: a({ weight: 20 }) });
    const before = await only();
    vendor.standIn.requests.length = 0;
    await apply({ op: 'update', before, after: { ...bare(before), enabled: false } });
    assert.deepEqual(sent(), [['PUT', { action: 'disable' }]]);
    assert.deepEqual(await only(), { ...before, enabled: false });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (request.path.endsWith('/status') ? { status: 400 } : handler(request));
    const [outcome] = await vendor.provider.apply(zone, [
      { op: 'create', after: a({ host: 'other', enabled: false }) },
    ]);
    vendor.standIn.handler = handler;
    assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
  });

  it('tells the lines of the plan, without those that it does not have', async () => {
    assert.deepEqual(await vendor.provider.zoneInfo?.(zone), {
      lines: [
        { id: 'default', name: 'Default' },
        { id: '1', name: 'Telecom' },
        { id: '7', name: 'Beijing', parent: '1' },
      ],
      ...{ minTtl: null, expiresAt: null, plan: 'pack 1' },
    });
  });

  it('takes an error in an answer of success for one', async () => {
    const { handler } = vendor.standIn;
    for (const [code, kind] of [
      [429, 'rate_limit'],
      [404, 'not_found'],
      [400, 'rejected'],
    ] as const) {
      const error = { code, status: 'X', message: 'words' };
      vendor.standIn.handler = () => ({ body: { error }, headers: { 'retry-after': '60' } });
      await assert.rejects(connect(vendor.standIn).listRecords(zone), { kind, message: /words/ });
    }
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut, or a page that is missing, for an error', async () => {
    const { handler } = vendor.standIn;
    await apply({ op: 'create', after: a() });
    const dataList = [...vendor.standIn.records];
    for (const result of [undefined, {}, { dataList }, { dataList: null, totalCount: 1 }, { totalCount: 2 }]) {
      vendor.standIn.handler = () => ({ body: { result } });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = ({ query }) => ({
      body: { result: { dataList: query.pageNumber === '1' ? dataList : [], totalCount: 2 } },
    });
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = () => ({ body: { result: { totalCount: 0 } } });
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
    vendor.standIn.handler = handler;
  });
});
