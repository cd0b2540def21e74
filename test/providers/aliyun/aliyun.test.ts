import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { aliyun } from '../../../src/providers/aliyun/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type AliyunRecord, KEY, startAliyun } from './stand-in.js';

const open = ({ url: endpoint }: StandIn, access_key_secret = KEY.secret, access_key_id = KEY.id): DnsProvider =>
  connectTo(aliyun, { access_key_id, access_key_secret, endpoint });
const zone = { id: 'contract.example', name: 'contract.example' };
const held = (RecordId: string, more: Partial<AliyunRecord>): AliyunRecord => ({
  ...{ RecordId, RR: 'www', Type: 'A', Value: '192.0.2.1', TTL: 600, Line: 'default', Status: 'ENABLE' },
  ...{ Locked: false, Weight: 1, ...more },
});

providerContract('Alibaba Cloud DNS (stand-in)', async () => {
  const standIn = await startAliyun();
  standIn.records.push(held('16606200807154688', { RR: '@', Type: 'NS', Value: 'dns9.hichina.com', TTL: 86400 }));
  standIn.most.page = 4;
  return {
    ...{ provider: open(standIn), stranger: open(standIn, 'wrong'), definition: aliyun, zone, standIn },
    ...{
      stop: standIn.stop,
      refuses: ({ type, value }) => type === 'TXT' && (value === '' || value.length > 512 || /["\\]|^ | $/.test(value)),
      values: { TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: "changed; 'others' + 100% & more" }] },
      cannot: {
        'MX with the root': 'the vendor refuses it (seen by dnscontrol, 2025)',
        'SRV with the root': 'the vendor refuses it (seen by dnscontrol, 2025)',
        'a preference of 0': 'priorities are 1 to 50 (official model)',
      },
    },
  };
});

describe('Alibaba Cloud DNS', () => {
  const vendor = standInFor(startAliyun, open);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more = {}) =>
    ({ ...dnsRecord({ host: 'www', type, value, ttl: 600 }, zone.name), remark: '', ...more }) as const;
  const apply = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const sent = () => vendor.standIn.requests.map(({ query }) => query.Action);
  const only = async () => (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
  const failing = (action: string, Code: string, status = 400) => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.query.Action === action
        ? { status, body: { Code, Message: `${Code} of ${KEY.secret}` } }
        : handler(request);
    return () => {
      vendor.standIn.handler = handler;
    };
  };

  it('says in its words what is refused', async () => {
    await assert.rejects(open(vendor.standIn, 'wrong').listZones(), {
      kind: 'auth',
      message: /Specified signature is not/,
    });
    await assert.rejects(open(vendor.standIn, KEY.secret, 'other').check(), {
      kind: 'auth',
      message: /access key is not found/,
    });
    const missing = { id: 'none.example', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), {
      kind: 'not_found',
      message: /does not exist.*NoExist/,
    });
    const [outcome] = await vendor.provider.apply({ id: 'other.example', name: 'other.example' }, [
      { op: 'create', after: record('A', '192.0.2.1') },
    ]);
    assert.equal(outcome?.ok === false && outcome.error.kind, 'not_found');
    for (const [code, kind] of [
      ['Forbidden.RAM', 'auth'],
      ['DomainRecordLocked', 'rejected'],
      ['ServiceUnavailable', 'unavailable'],
    ] as const) {
      const undo = failing('DescribeDomainRecords', code);
      await assert.rejects(vendor.provider.listRecords(zone), (error: Error & { kind: string }) => {
        assert.equal(error.kind, kind);
        assert.match(error.message, new RegExp(`${code} of \\*\\*\\*`));
        return true;
      });
      undo();
    }
  });

  it('finds a zone by its exact name, a Chinese one by its A-labels', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('tract.example'), null);
    assert.deepEqual(await vendor.provider.findZone?.('xn--fsqu00a.example'), {
      id: '例子.example',
      name: 'xn--fsqu00a.example',
    });
  });

  it('tells lines, the least TTL and the plan of a zone', async () => {
    assert.deepEqual(await vendor.provider.zoneInfo?.(zone), {
      lines: [
        { id: 'default', name: 'Default' },
        { id: 'telecom', name: 'China Telecom' },
        { id: 'cn_telecom_beijing', name: 'Beijing', parent: 'telecom' },
      ],
      ...{ minTtl: 600, expiresAt: null, plan: 'Free' },
    });
  });

  it('keeps lines apart: the same name and value on two of them is two records', async () => {
    const [one, two] = [record('A', '192.0.2.1'), record('A', '192.0.2.1', { line: 'telecom' })];
    for (const after of [one, two]) assert.ok((await apply({ op: 'create', after }))?.ok);
    const list = await vendor.provider.listRecords(zone);
    assert.deepEqual(list.map((r) => r.line).sort(), ['default', 'telecom']);
    const before = list.find((r) => r.line === 'telecom') as RemoteRecord;
    assert.ok((await apply({ op: 'update', before, after: { ...two, value: '192.0.2.2' } }))?.ok);
    assert.deepEqual(
      vendor.standIn.records.map((r) => `${r.Line} ${r.Value}`),
      ['default 192.0.2.1', 'telecom 192.0.2.2'],
    );
  });

  it('keeps remarks and the state, each by a call of its own', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1', { remark: '官网', enabled: false }) });
    let before = await only();
    assert.deepEqual([before.remark, before.enabled, before.remoteId.length], ['官网', false, 17]);
    vendor.standIn.requests.length = 0;
    const { remoteId: _, readOnly: __, ...plain } = before;
    await apply({ op: 'update', before, after: { ...plain, remark: '' } });
    before = await only();
    await apply({ op: 'update', before, after: { ...plain, remark: '', enabled: true } });
    assert.deepEqual(sent(), ['UpdateDomainRecordRemark', 'DescribeDomainRecords', 'SetDomainRecordStatus']);
    assert.deepEqual(await only(), { ...before, enabled: true });
    const undo = failing('SetDomainRecordStatus', 'OperationDenied');
    const outcome = await apply({ op: 'create', after: record('AAAA', '2001:db8::1', { enabled: false }) });
    assert.equal(outcome?.ok === false && outcome.error.mayHaveApplied, true);
    undo();
  });

  it('sends values as the API wants them', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { Value: 'mx.example.net', Priority: '10' }],
      ['SRV', '5 5060 sip.example.net', 1, { Value: '1 5 5060 sip.example.net' }],
      ['CAA', '0 issue "ca.example.net"', null, { Value: '0 issue "ca.example.net"' }],
    ] as const) {
      const after = { ...dnsRecord({ host: '@', type, value, priority, ttl: 600 }, zone.name) };
      assert.ok((await apply({ op: 'create', after }))?.ok);
      const { Value, Priority, RR } = vendor.standIn.requests.at(-1)?.query ?? {};
      assert.deepEqual({ Value, ...(Priority && { Priority }), RR }, { ...expected, RR: '@' });
    }
  });

  it('refuses MX priorities other than 1 to 50 before anything is sent', async () => {
    for (const priority of [0, 51]) {
      const outcome = await apply({ op: 'create', after: record('MX', 'mx.example.net', { priority }) });
      assert.match(outcome?.ok === false ? outcome.error.message : '', /priorities of 1 to 50/);
    }
    assert.equal(vendor.standIn.requests.length, 0);
    for (const priority of [1, 50]) {
      assert.ok((await apply({ op: 'create', after: record('MX', 'mx.example.net', { priority }) }))?.ok);
    }
  });

  it('takes a change that was carried out, but whose answer was lost, for done; that of another record is not', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1') });
    const before = await only();
    const after = record('A', '192.0.2.2');
    (vendor.standIn.records[0] as AliyunRecord).Value = after.value;
    assert.deepEqual(await apply({ op: 'update', before, after }), { ok: true, remoteId: before.remoteId });
    vendor.standIn.records.push(held('9', { Value: '192.0.2.3' }));
    const outcome = await apply({ op: 'update', before, after: record('A', '192.0.2.3') });
    assert.equal(outcome?.ok === false && outcome.error.kind, 'rejected');
  });

  it('shows what is locked, and types of its own, read-only', async () => {
    vendor.standIn.records.push(
      held('1', { Locked: true }),
      held('2', { Type: 'REDIRECT_URL', Value: 'http://a.example/' }),
    );
    const list = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      list.map((r) => [r.type, r.value, r.readOnly]),
      [
        ['REDIRECT_URL', 'http://a.example/', true],
        ['A', '192.0.2.1', true],
      ],
    );
  });

  it('refuses a guarded change of what was changed there', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1') });
    const before = await only();
    (vendor.standIn.records[0] as AliyunRecord).TTL = 900;
    const outcome = await apply({ op: 'delete', before, guarded: true });
    assert.equal(outcome?.ok === false && outcome.error.kind, 'changed');
    assert.equal(vendor.standIn.records.length, 1);
  });

  it('takes a page that is missing for an error', async () => {
    vendor.standIn.records.push(...Array.from({ length: 5 }, (_, i) => held(`${i}`, { Value: `192.0.2.${i}` })));
    vendor.standIn.most.page = 2;
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.query.PageNumber === '3' ? { body: { DomainRecords: { Record: [] }, TotalCount: 5 } } : handler(request);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = () => ({ body: { RequestId: 'R' } });
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    assert.equal((await vendor.provider.listRecords(zone)).length, 5);
    vendor.standIn.most.page = 500;
  });
});
