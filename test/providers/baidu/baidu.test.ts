import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { baidu } from '../../../src/providers/baidu/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startBaidu } from './stand-in.js';

/** The stand-in takes more than an account may ask for. */
const quick = { ...baidu, limits: { ...baidu.limits, requests: 1000 } };
const connect = (standIn: StandIn, access_key_id = 'AKEXAMPLE'): DnsProvider =>
  connectTo(quick, { access_key_id, secret_access_key: 'secretexample', endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Baidu Cloud (stand-in)', async () => {
  const standIn = await startBaidu();
  standIn.most.page = 2;
  const two = { provider: connect(standIn), stranger: connect(standIn, 'AKOTHER') };
  return { ...two, definition: baidu, zone, standIn, stop: standIn.stop };
});

describe('Baidu Cloud: edges', () => {
  const vendor = standInFor(startBaidu, connect);
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
  const writes = () => vendor.standIn.requests.filter((r) => r.method !== 'GET');

  it('lists zones by their exact names, and says what is refused', async () => {
    assert.deepEqual(
      (await vendor.provider.listZones()).map((z) => z.id),
      [...['not-contract.example', 'contract.example', 'xn--fsqu00a.example']],
    );
    const gone = { kind: 'not_found', message: /zone does not exist\. \(code NoSuchZone\)/ };
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), gone);
    await assert.rejects(connect(vendor.standIn, 'AKOTHER').check(), { kind: 'auth' });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ status: 400, body: { code: 'SignatureDoesNotMatch', message: 'no' } });
    await assert.rejects(vendor.provider.check(), { kind: 'auth' });
    vendor.standIn.handler = handler;
  });

  it('keeps line and remark, and finds the id of what it made', async () => {
    const after = { ...a({ line: 'ct' }), remark: 'ours' };
    const [id] = await apply({ op: 'create', after: a() }, { op: 'create', after });
    assert.notEqual(id, 'rc-2');
    const all = await vendor.provider.listRecords(zone);
    assert.deepEqual(bare(all[1] as RemoteRecord), after);
    assert.deepEqual(writes()[1]?.body, {
      ...{ rr: 'www', type: 'A', value: '192.0.2.1', ttl: 600, line: 'ct', description: 'ours' },
    });
  });

  it('keeps the remark in an update, which replaces all', async () => {
    await apply({ op: 'create', after: { ...a(), remark: 'ours' } });
    const before = await only();
    const { remark: _remark, ...after } = { ...bare(before), ttl: 900 };
    await apply({ op: 'update', before, after });
    assert.deepEqual(await only(), { ...before, ttl: 900 });
  });

  it('makes a record anew where its line changes', async () => {
    const [id] = await apply({ op: 'create', after: a() });
    const before = await only();
    const [now] = await apply({ op: 'update', before, after: a({ line: 'cnc' }) });
    assert.notEqual(now, id);
    assert.deepEqual([(await only()).remoteId, (await only()).line, vendor.standIn.records.length], [now, 'cnc', 1]);
  });

  it('pauses a record with its own call, and says when only that failed', async () => {
    await apply({ op: 'create', after: a() });
    const before = await only();
    vendor.standIn.requests.length = 0;
    await apply({ op: 'update', before, after: a({ enabled: false }) });
    assert.deepEqual(
      writes().map((r) => [r.method, Object.keys(r.query).sort()]),
      [['PUT', ['clientToken', 'disable']]],
    );
    assert.equal((await only()).enabled, false);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => ('disable' in request.query ? { status: 400 } : handler(request));
    const after = a({ host: 'other', enabled: false });
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after }]);
    vendor.standIn.handler = handler;
    assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
  });

  it('refuses an MX priority that Baidu does not know', async () => {
    const mx = a({ type: 'MX', value: 'mx.example.net', priority: 60 });
    assert.deepEqual(await apply({ op: 'create', after: mx }), ['rejected: Baidu takes MX priorities of 0 to 50']);
    assert.deepEqual(writes(), []);
  });

  it('takes a list that is cut, or a page that is missing, for an error', async () => {
    const { handler } = vendor.standIn;
    await apply({ op: 'create', after: a() });
    const { records } = vendor.standIn;
    const page = (isTruncated: boolean, nextMarker?: string) => ({ records, isTruncated, nextMarker });
    for (const body of [undefined, {}, { records }, page(true), page(true, 'again'), { isTruncated: false }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
    assert.equal((await vendor.provider.listRecords(zone)).length, 1);
  });
});
