import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { type DnsRecord, dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { volcengine } from '../../../src/providers/volcengine/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type HeldRecord, startVolcengine } from './stand-in.js';

/** The stand-in takes more than an account may ask for. */
const quick = { ...volcengine, limits: { ...volcengine.limits, requests: 1000 } };
const connect = (standIn: StandIn, access_key_id = 'AKEXAMPLE'): DnsProvider =>
  connectTo(quick, { access_key_id, secret_access_key: 'secretexample', endpoint: standIn.url });
const zone = { id: '304092', name: 'contract.example' };

providerContract('Volcengine (stand-in)', async () => {
  const standIn = await startVolcengine();
  standIn.most.page = 2;
  const two = { provider: connect(standIn), stranger: connect(standIn, 'AKOTHER') };
  const cannot = { 'a remark': 'of more than 16 characters (documented); shorter ones are tried below' };
  return { ...two, definition: volcengine, zone, standIn, cannot, stop: standIn.stop };
});

describe('Volcengine: edges', () => {
  const vendor = standInFor(startVolcengine, connect);
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
  const sent = () => vendor.standIn.requests.filter((r) => r.method === 'POST').map((r) => [r.query.Action, r.body]);

  it('finds zones by their exact names', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('act.example'), null);
    assert.equal((await vendor.provider.listZones()).at(-1)?.name, 'xn--fsqu00a.example');
    const message = /zone not found \(code ErrZoneNotFound\)/;
    await assert.rejects(vendor.provider.listRecords({ id: '1', name: 'x.example' }), { kind: 'not_found', message });
    await assert.rejects(connect(vendor.standIn, 'AKOTHER').check(), { kind: 'auth', message: /InvalidAccessKey/ });
  });

  it('keeps ids that are no numbers, line, weight and remark', async () => {
    const after = { ...a({ line: 'telecom', weight: 5 }), remark: 'ours' };
    const [id] = await apply({ op: 'create', after });
    assert.match(`${id}`, /^\d{19}$/);
    const { remoteId, readOnly: _ro, ...held } = await only();
    assert.deepEqual(held, after);
    assert.equal(remoteId, vendor.standIn.records[0]?.RecordID);
    assert.deepEqual(sent()[0]?.[1], {
      ...{ ZID: 304092, Host: 'www', Type: 'A', Value: '192.0.2.1', TTL: 600 },
      ...{ Line: 'telecom', Weight: 5, Remark: 'ours' },
    });
  });

  it('sends of an update what changes, with host and line, and turns records on and off', async () => {
    await apply({ op: 'create', after: a() });
    Object.assign(vendor.standIn.records[0] as HeldRecord, { Remark: 'theirs', Weight: 9 });
    const before = await only();
    const { remoteId, readOnly: _ro, ...same } = before;
    vendor.standIn.requests.length = 0;
    await apply({ op: 'update', before, after: { ...same, ttl: 900, enabled: false } });
    assert.deepEqual(sent(), [
      ['UpdateRecordStatus', { RecordID: remoteId, Enable: false }],
      ['UpdateRecord', { RecordID: remoteId, Host: 'www', Line: 'default', TTL: 900 }],
    ]);
    assert.deepEqual(await only(), { ...before, ttl: 900, enabled: false });
  });

  it('keeps a remark of 16 characters through other changes, changes it, and takes it away', async () => {
    const x = { ...a(), remark: '"web" & é; 邮件 16' };
    assert.equal([...x.remark].length, 16);
    await apply({ op: 'create', after: x });
    for (const after of [
      { ...x, value: '192.0.2.2' },
      { ...x, value: '192.0.2.2', remark: 'another' },
      { ...a({ value: '192.0.2.2' }), remark: '' },
    ]) {
      const before = await only();
      assert.deepEqual(await apply({ op: 'update', before, after }), [before.remoteId]);
      const { remark = '', value } = await only();
      assert.deepEqual([remark, value], [after.remark, after.value]);
    }
  });

  it('says in its words what is refused, and what was done all the same', async () => {
    assert.match(`${await apply({ op: 'create', after: a({ ttl: 60 }) })}`, /^rejected: record TTL .*ErrSpecNotValid/);
    const long = { ...a(), remark: 'of more than sixteen' };
    assert.deepEqual(await apply({ op: 'create', after: long }), [
      'rejected: Volcengine keeps 16 characters of a remark',
    ]);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.query.Action === 'UpdateRecordStatus' ? { status: 400 } : handler(request);
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after: a({ enabled: false }) }]);
    vendor.standIn.handler = handler;
    assert.ok(outcome && !outcome.ok && outcome.error.mayHaveApplied);
  });

  it('tells the plan, its least TTL and its lines', async () => {
    assert.deepEqual(await vendor.provider.zoneInfo?.(zone), {
      lines: [
        { id: 'default', name: '默认' },
        { id: 'telecom', name: '电信' },
        { id: 'telecom.bj', name: '北京', parent: 'telecom' },
      ],
      ...{ minTtl: 300, expiresAt: null, plan: 'professional_inner' },
    });
  });

  it('takes an error in an answer of success for one', async () => {
    const { handler } = vendor.standIn;
    const failure = { Error: { Code: 'FlowLimitExceeded', Message: 'too many' } };
    vendor.standIn.handler = () => ({ body: { ResponseMetadata: failure }, headers: { 'retry-after': '60' } });
    await assert.rejects(connect(vendor.standIn).listRecords(zone), { kind: 'rate_limit' });
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut, or a page that is missing, for an error', async () => {
    const { handler } = vendor.standIn;
    await apply({ op: 'create', after: a() });
    const Records = [...vendor.standIn.records];
    for (const Result of [undefined, {}, { Records }, { Records: null, TotalCount: 1 }]) {
      vendor.standIn.handler = () => ({ body: { ResponseMetadata: {}, Result } });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = ({ query }) =>
      query.PageNumber === '1'
        ? { body: { Result: { Records, TotalCount: 2 } } }
        : { body: { Result: { TotalCount: 2 } } };
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    vendor.standIn.records.length = 0;
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
  });
});
