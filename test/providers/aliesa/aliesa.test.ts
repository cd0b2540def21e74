import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { aliesa } from '../../../src/providers/aliesa/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type EsaRecord, KEY, startAliesa } from './stand-in.js';

const open = ({ url: endpoint }: StandIn, access_key_secret = KEY.secret, definition = aliesa): DnsProvider =>
  connectTo(definition, { access_key_id: KEY.id, access_key_secret, endpoint });
const zone = { id: '1234567890122', name: 'contract.example' };
const ROOT = 'nothing is documented of it';

providerContract('Alibaba Cloud ESA (stand-in)', async () => {
  const standIn = await startAliesa();
  standIn.rules.page = 3;
  return {
    provider: open(standIn),
    stranger: open(standIn, 'wrong'),
    connect: (definition) => open(standIn, KEY.secret, definition),
    missing: { id: '77', name: 'none.example' },
    cannot: { 'MX with the root': ROOT, 'SRV with the root': ROOT, 'TXT empty': 'an empty value is none' },
    ...{ definition: aliesa, zone, standIn, pageSize: 3, stop: standIn.stop },
  };
});

describe('Alibaba Cloud ESA', () => {
  const vendor = standInFor(startAliesa, open);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.rules.silent = false;
  });
  const record = (type: string, value: string, more = {}) =>
    ({ ...dnsRecord({ host: 'www', type, value, ttl: 600 }, zone.name), ...more }) as const;
  const apply = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const only = async () => (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
  const held = (RecordId: number, more: Partial<EsaRecord>): EsaRecord => ({
    ...{ RecordId, RecordName: 'www.contract.example', RecordType: 'A/AAAA', Ttl: 600, Data: { Value: '192.0.2.1' } },
    ...{ Proxied: false, ...more },
  });

  it('says in its words what is refused', async () => {
    await assert.rejects(open(vendor.standIn, 'wrong').listZones(), { kind: 'auth', message: /SignatureDoesNotMatch/ });
    const other = connectTo(aliesa, {
      access_key_id: 'x',
      access_key_secret: KEY.secret,
      endpoint: vendor.standIn.url,
    });
    await assert.rejects(other.check(), { kind: 'auth', message: /InvalidAccessKeyId/ });
  });

  it('takes an empty list of a site that is none for what it is, and that of one that is for empty', async () => {
    vendor.standIn.rules.silent = true;
    await assert.rejects(vendor.provider.listRecords({ id: '77', name: 'none.example' }), { kind: 'not_found' });
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
  });

  it('lists sites that are delegated to it alone', async () => {
    const names = (await vendor.provider.listZones()).map(({ name }) => name);
    assert.deepEqual(names, ['other.example', 'contract.example']);
  });

  it('sends the parts of values each in its field', async () => {
    for (const [type, value, priority, Data] of [
      ['AAAA', '2001:db8::1', null, { Value: '2001:db8::1' }],
      ['MX', 'mx.example.net', 10, { Priority: 10, Value: 'mx.example.net' }],
      ['SRV', '5 5060 sip.example.net', 1, { Priority: 1, Weight: 5, Port: 5060, Value: 'sip.example.net' }],
      ['CAA', '0 issue "ca.example.net"', null, { Flag: 0, Tag: 'issue', Value: 'ca.example.net' }],
      ['TXT', 'a "b" c', null, { Value: 'a "b" c' }],
      ['SSHFP', `4 2 ${'12'.repeat(32)}`, null, { Algorithm: 4, Type: 2, Fingerprint: '12'.repeat(32) }],
    ] as const) {
      const after = dnsRecord({ host: '@', type, value, priority, ttl: 600 }, zone.name);
      assert.ok((await apply({ op: 'create', after }))?.ok);
      const query = vendor.standIn.requests.at(-1)?.query ?? {};
      const Type = type === 'AAAA' ? 'A/AAAA' : type;
      const sent = { SiteId: zone.id, RecordName: 'contract.example', Type, Ttl: '600', Proxied: 'false' };
      assert.deepEqual({ ...query, Data: JSON.parse(query.Data ?? '') }, { ...sent, Data });
    }
  });

  it('turns a proxy on with what it is for, and leaves that alone afterwards', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1', { remark: 'ours' }) });
    const before = await only();
    await apply({ op: 'update', before, after: { ...before, proxied: true } });
    assert.deepEqual(
      vendor.standIn.records,
      [held(before.remoteId as never, {})].map((r) => ({
        ...r,
        RecordId: Number(before.remoteId),
        Ttl: 1,
        Proxied: true,
        BizName: 'web',
        Comment: 'ours',
      })),
    );
    (vendor.standIn.records[0] as EsaRecord).BizName = 'api';
    const now = await only();
    assert.deepEqual([now.proxied, now.ttl, now.remark], [true, 1, 'ours']);
    await apply({ op: 'update', before: now, after: { ...now, value: '2001:db8::1', type: 'AAAA' } });
    assert.deepEqual(vendor.standIn.records[0]?.BizName, 'api');
    assert.deepEqual(vendor.standIn.requests.at(-1)?.query, {
      RecordId: now.remoteId,
      Data: '{"Value":"2001:db8::1"}',
    });
    const v6 = await only();
    await apply({ op: 'update', before: v6, after: { ...v6, proxied: false, ttl: 600, remark: '' } });
    const { Proxied, Ttl, Comment } = vendor.standIn.records[0] as EsaRecord;
    assert.deepEqual({ Proxied, Ttl, Comment }, { Proxied: false, Ttl: 600, Comment: '' });
  });

  it('shows what is no single address, and origins that are no names, read-only', async () => {
    vendor.standIn.records.push(
      held(1, { Data: { Value: '192.0.2.1,192.0.2.2' } }),
      held(2, { Data: { Value: '192.0.2.1,2001:db8::1' } }),
      held(3, { RecordType: 'CNAME', Data: { Value: 'bucket.example.net' }, RecordSourceType: 'OSS' }),
      held(4, { RecordType: 'CNAME', Data: { Value: 'host.example.net' }, RecordSourceType: 'Domain' }),
      held(5, { RecordType: 'CERT', Data: { Type: 1, KeyTag: 2, Algorithm: 3, Certificate: 'dGVzdA==' } }),
    );
    const all = (await vendor.provider.listRecords(zone)).reverse();
    assert.deepEqual(
      all.map(({ remoteId, value, readOnly }) => [remoteId, value, readOnly]),
      [
        ['1', '192.0.2.1,192.0.2.2', true],
        ['2', '192.0.2.1,2001:db8::1', true],
        ['3', 'bucket.example.net', true],
        ['4', 'host.example.net', false],
        ['5', '', true],
      ],
    );
  });

  it('shows a record whose id JSON has rounded, rather than write to another one', async () => {
    vendor.standIn.records.push(held(2 ** 60, {}));
    const [odd] = (await vendor.provider.listRecords(zone)).filter(({ value }) => value.includes(String(2 ** 60)));
    assert.ok(odd?.readOnly && odd.readOnlyReason);
    assert.match(odd.remoteId, /^raw-/);
  });

  it('asks again when the site is busy', async () => {
    const { handler } = vendor.standIn;
    let times = 0;
    vendor.standIn.handler = (request) =>
      times++ ? handler(request) : { status: 400, body: { Code: 'Site.ServiceBusy', Message: 'Busy', RequestId: 'R' } };
    assert.ok((await apply({ op: 'create', after: record('A', '192.0.2.1') }))?.ok);
    vendor.standIn.handler = handler;
    assert.equal(vendor.standIn.records.length, 1);
  });

  it('knows a record that is gone from one that is refused', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1') });
    const before = await only();
    const refusal = await apply({ op: 'update', before, after: { ...before, ttl: 2 } });
    assert.equal(refusal?.ok === false && refusal.error.kind, 'rejected');
    vendor.standIn.records.length = 0;
    const gone = await apply({ op: 'update', before, after: { ...before, ttl: 60 } });
    assert.equal(gone?.ok === false && gone.error.kind, 'not_found');
    assert.deepEqual(await apply({ op: 'delete', before }), { ok: true, remoteId: null });
  });
});
