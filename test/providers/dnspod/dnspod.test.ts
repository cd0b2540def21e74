import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { dnspod } from '../../../src/providers/dnspod/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { LOGIN, startDnspod } from './stand-in.js';
import type { Kept } from './zone-stand-in.js';

const open = ({ url: endpoint }: StandIn, token = LOGIN.token, id = LOGIN.id): DnsProvider =>
  connectTo(dnspod, { id, token, endpoint });
const zone = { id: 'contract.example', name: 'contract.example' };
const kept = (id: number, more: Partial<Kept>): Kept => ({
  ...{ id, name: 'www', type: 'A', value: '192.0.2.1', lineId: '0', line: '默认', ttl: 600, mx: 0, weight: null },
  ...{ enabled: true, remark: '', system: false, ...more },
});
const formOf = (body: unknown) => Object.fromEntries(new URLSearchParams(String(body)));

const ROOT = {
  'MX with the root': 'the vendor refuses it, as dnscontrol has it',
  'SRV with the root': 'versions of dnscontrol differ on whether the vendor refuses it',
};

providerContract('DNSPod (stand-in)', async () => {
  const standIn = await startDnspod();
  standIn.records.push(kept(7, { name: 'kept', type: 'CNAME', value: 'a.example.' }));
  standIn.most.page = 4;
  return {
    ...{ provider: open(standIn), stranger: open(standIn, 'wrong'), definition: dnspod, zone, standIn },
    ...{ stop: standIn.stop, refuses: ({ type, value }) => type === 'TXT' && value === '' },
    cannot: ROOT,
  };
});

describe('DNSPod', () => {
  const vendor = standInFor(startDnspod, open);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more = {}) =>
    ({ ...dnsRecord({ host: 'www', type, value, ttl: 600 }, zone.name), remark: '', ...more }) as const;
  const apply = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const sent = () => vendor.standIn.requests.map(({ path }) => path);
  const only = async () => (await vendor.provider.listRecords(zone))[0] as RemoteRecord;

  it('reads and writes texts of several strings, and with quotes in them', async () => {
    const long = `${'ü'.repeat(200)} "${'x'.repeat(300)}"`;
    vendor.standIn.records.push(
      kept(1, { name: 'www', type: 'TXT', value: '"v=DKIM1; " "p=ab\\"c"' }),
      kept(2, { name: 'www', type: 'TXT', value: '"quoted"' }),
    );
    const values = async () => (await vendor.provider.listRecords(zone)).map(({ value }) => value);
    assert.deepEqual(await values(), ['v=DKIM1; p=ab"c', 'quoted']);
    for (const value of [long, '"', 'a\\b', 'y'.repeat(256)]) {
      vendor.standIn.records.length = 0;
      const outcome = await apply({ op: 'create', after: { ...record('TXT', 'x'), value } });
      assert.ok(outcome?.ok, JSON.stringify(outcome));
      assert.deepEqual(await values(), [value]);
    }
  });

  it('makes no text twice that is there in quotes', async () => {
    vendor.standIn.records.push(kept(7, { type: 'TXT', value: '"hello"' }));
    assert.deepEqual(await apply({ op: 'create', after: record('TXT', 'hello') }), { ok: true, remoteId: '7' });
    assert.equal(vendor.standIn.records.length, 1);
  });

  it('says in its words what is refused, though the status is 200', async () => {
    await assert.rejects(open(vendor.standIn, 'wrong').listZones(), {
      kind: 'auth',
      message: /Login failed \(code -1\)/,
    });
    await assert.rejects(open(vendor.standIn, LOGIN.token, '9').check(), {
      kind: 'auth',
      message: /token ID is invalid/,
    });
    const missing = { id: 'none.example', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /Domain is not exists/ });
    const { handler } = vendor.standIn;
    for (const [code, kind] of [
      ['21', 'rejected'],
      ['83', 'auth'],
      ['-99', 'unavailable'],
    ] as const) {
      vendor.standIn.handler = () => ({ body: { status: { code, message: `no, ${LOGIN.token}` } } });
      await assert.rejects(vendor.provider.listRecords(zone), (error: Error & { kind: string }) => {
        assert.deepEqual([error.kind, error.message.includes(LOGIN.token)], [kind, false]);
        return true;
      });
    }
    for (const body of [{}, { records: [] }, { status: { code: '1' } }, { status: { code: '1' }, records: [] }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });

  it('finds a zone by its exact name; a zone may be empty', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('tract.example'), null);
    assert.deepEqual(await vendor.provider.findZone?.('xn--fsqu00a.example'), {
      id: '例子.example',
      name: 'xn--fsqu00a.example',
    });
    assert.deepEqual(await vendor.provider.listRecords({ id: 'other.example', name: 'other.example' }), []);
  });

  it('tells lines and plan of a zone', async () => {
    assert.deepEqual(await vendor.provider.zoneInfo?.(zone), {
      lines: [
        { id: 'default', name: '默认' },
        { id: '10=0', name: '电信' },
        { id: '10=1', name: '联通' },
        { id: '90=0', name: '百度' },
      ],
      ...{ minTtl: null, expiresAt: null, plan: '新免费套餐' },
    });
  });

  it('keeps line, weight, remark and state through an update of the value', async () => {
    const one = record('A', '192.0.2.1', { line: '10=0', weight: 30, remark: '官网', enabled: false });
    for (const after of [one, record('A', '192.0.2.1')]) assert.ok((await apply({ op: 'create', after }))?.ok);
    const before = (await vendor.provider.listRecords(zone)).find((r) => r.line === '10=0') as RemoteRecord;
    assert.deepEqual([before.weight, before.remark, before.enabled], [30, '官网', false]);
    assert.ok((await apply({ op: 'update', before, after: { ...one, value: '192.0.2.2' } }))?.ok);
    const expected = { value: '192.0.2.2', lineId: '10=0', line: '电信', weight: 30, remark: '官网', enabled: false };
    assert.deepEqual(vendor.standIn.records[0], kept(Number(before.remoteId), expected));
    assert.deepEqual(vendor.standIn.records[1], kept(vendor.standIn.records[1]?.id as number, {}));
  });

  it('writes the state alone, and the remark, by calls of their own', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1') });
    let before = await only();
    vendor.standIn.requests.length = 0;
    await apply({ op: 'update', before, after: record('A', '192.0.2.1', { enabled: false }) });
    before = { ...before, enabled: false };
    await apply({ op: 'update', before, after: record('A', '192.0.2.1', { enabled: false, remark: 'x' }) });
    assert.deepEqual(sent(), ['/Record.Status', '/Record.Remark']);
    assert.deepEqual(await only(), { ...before, remark: 'x' });
  });

  it('writes a line that has a name alone by its name', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1', { line: '百度' }) });
    assert.equal(vendor.standIn.records[0]?.lineId, '90=0');
    vendor.standIn.records.splice(0, 1, kept(1, { lineId: '', line: '自定义' }));
    assert.equal((await only()).line, '自定义');
  });

  it('sends values as the API wants them', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { value: 'mx.example.net.', mx: '10' }],
      ['SRV', '5 5060 sip.example.net', 1, { value: '1 5 5060 sip.example.net.' }],
      ['CAA', '0 issue "ca.example.net"', null, { value: '0 issue "ca.example.net"' }],
      ['TXT', ' say "hi" \\ + ü', null, { value: '" say \\"hi\\" \\\\ + ü"' }],
    ] as const) {
      const plain = dnsRecord({ host: '@', type, value: type === 'TXT' ? 'x' : value, priority }, zone.name);
      assert.ok((await apply({ op: 'create', after: { ...plain, value } }))?.ok);
      const form = formOf(vendor.standIn.requests.at(-1)?.body);
      assert.deepEqual({ value: form.value, ...(form.mx && { mx: form.mx }) }, expected);
      assert.deepEqual([form.sub_domain, form.record_line_id, form.status], ['@', '0', 'enable']);
    }
  });

  it('shows the NS of the vendor itself read-only', async () => {
    vendor.standIn.records.push(kept(1, { name: '@', type: 'NS', value: 'f1g1ns1.dnspod.net.', system: true }));
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.value, r.readOnly]),
      [['f1g1ns1.dnspod.net', true]],
    );
  });

  it('refuses a guarded change of what was changed there; reads one record like those of lists', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1', { weight: 10, line: '10=1', remark: 'r' }) });
    const before = await only();
    const after = record('A', '192.0.2.2', { weight: 10, line: '10=1', remark: 'r' });
    assert.deepEqual(await apply({ op: 'update', before, after, guarded: true }), {
      ok: true,
      remoteId: before.remoteId,
    });
    const outcome = await apply({ op: 'delete', before, guarded: true });
    assert.equal(outcome?.ok === false && outcome.error.kind, 'changed');
  });

  it('takes a page that is missing for an error', async () => {
    vendor.standIn.records.push(...Array.from({ length: 5 }, (_, i) => kept(i + 1, { value: `192.0.2.${i}` })));
    vendor.standIn.most.page = 2;
    const { handler } = vendor.standIn;
    for (const answer of [
      { status: { code: '1' }, info: { record_total: '5' }, records: [] },
      { status: { code: '10', message: 'No records' } },
    ]) {
      vendor.standIn.handler = (request) => (formOf(request.body).offset === '4' ? { body: answer } : handler(request));
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
    assert.equal((await vendor.provider.listRecords(zone)).length, 5);
    vendor.standIn.most.page = 3000;
  });
});
