import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { huaweicloud } from '../../../src/providers/huaweicloud/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { HUAWEI_ZONE, startHuaweicloud } from './stand-in.js';

/** The stand-in takes more than an account may ask for. */
const quick = { ...huaweicloud, limits: { ...huaweicloud.limits, requests: 1000 } };
const connect = (standIn: StandIn, more: Record<string, string> = {}): DnsProvider =>
  connectTo(quick, {
    access_key_id: 'AKEXAMPLE',
    secret_access_key: 'secretexample',
    endpoint: standIn.url,
    ...more,
  });
const stranger = { access_key_id: 'AKOTHER' };
const zone = { id: HUAWEI_ZONE.id, name: 'contract.example' };
/** Those that the user guide does not allow, or that nobody has tried. */
const refuses = ({ type, value }: { type: string; value: string }) => type === 'TXT' && /["\\]|[^ -~]/.test(value);

providerContract('Huawei Cloud (stand-in)', async () => {
  const standIn = await startHuaweicloud();
  standIn.most.page = 3;
  return {
    ...{ provider: connect(standIn), stranger: connect(standIn, stranger), definition: huaweicloud },
    ...{ zone, standIn, stop: standIn.stop, refuses },
    cannot: {
      'MX with the root': 'no null MX (dnscontrol, 2024)',
      'an unknown field of a value survives': 'a PUT keeps what it does not name (official model)',
    },
    values: { TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: 'changed, with commas; and more' }] },
  };
});

describe('Huawei Cloud: edges', () => {
  const vendor = standInFor(startHuaweicloud, connect);
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.sets.splice(2);
  });
  const a = (value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type: 'A', value, ttl: 600, ...more }, zone.name);
  const apply = async (...changes: Change[]) =>
    (await vendor.provider.apply(zone, changes)).map((o) => (o.ok ? 'ok' : `${o.error.kind}: ${o.error.message}`));
  const listed = async () => (await vendor.provider.listRecords(zone)).filter((r) => r.host === 'www');

  it('finds zones by their exact names, Unicode ones too', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('act.example'), null);
    assert.equal((await vendor.provider.listZones()).at(-1)?.name, 'xn--fsqu00a.example');
    await assert.rejects(vendor.provider.listRecords({ id: 'x', name: 'x.example' }), {
      ...{ kind: 'not_found', message: /This zone does not exist\. \(code DNS\.0302\)/ },
    });
  });

  it('keeps the lines of a name apart, and sends their ids', async () => {
    assert.deepEqual(
      await apply(
        { op: 'create', after: a('192.0.2.1') },
        { op: 'create', after: a('192.0.2.1', { line: 'Dianxin' }) },
      ),
      ['ok', 'ok'],
    );
    assert.deepEqual(
      vendor.standIn.sets.slice(2).map((s) => s.line),
      ['default_view', 'Dianxin'],
    );
    const both = await listed();
    assert.deepEqual(
      both.map((r) => r.line),
      ['default', 'Dianxin'],
    );
    assert.notEqual(both[0]?.remoteId, both[1]?.remoteId);
    assert.deepEqual(await apply({ op: 'delete', before: both[1] as RemoteRecord }), ['ok']);
    assert.deepEqual(
      vendor.standIn.sets.slice(2).map((s) => s.line),
      ['default_view'],
    );
    assert.deepEqual(
      (await vendor.provider.zoneInfo?.(zone))?.lines.map((l) => l.id),
      ['default', 'Dianxin', 'Dianxin_Huabei'],
    );
  });

  it('leaves the weight and the description of a set as they are', async () => {
    await apply({ op: 'create', after: a('192.0.2.1') });
    Object.assign(vendor.standIn.sets[2] as object, { weight: 7, description: 'ours' });
    assert.deepEqual(await apply({ op: 'create', after: a('192.0.2.2') }), ['ok']);
    const { weight, description, records } = vendor.standIn.sets[2] ?? {};
    assert.deepEqual([weight, description, records], [7, 'ours', ['192.0.2.1', '192.0.2.2']]);
    const [before] = await listed();
    assert.ok(before);
    assert.deepEqual(await apply({ op: 'update', before, after: { ...before, host: 'moved' } }), ['ok']);
    assert.equal(vendor.standIn.sets.find(({ name }) => name.startsWith('moved'))?.description, 'ours');
  });

  it('shows aliases, weighted and paused sets, and writes none of them', async () => {
    await apply({ op: 'create', after: a('192.0.2.1') });
    const [, , set] = vendor.standIn.sets;
    assert.ok(set);
    const shown = async () => (await listed()).map((r) => [r.value, r.readOnly, r.enabled]);
    const tried = async () => (await apply({ op: 'create', after: a('192.0.2.9') }))[0];
    set.status = 'DISABLE';
    assert.deepEqual(await shown(), [['192.0.2.1', true, false]]);
    assert.match(`${await tried()}`, /^rejected: A www is paused there/);
    set.status = 'ACTIVE';
    vendor.standIn.sets.push({ ...set, id: 'other', weight: 3, records: ['192.0.2.2'] });
    assert.deepEqual(await shown(), [
      ['192.0.2.1 of weight 1', true, true],
      ['192.0.2.2 of weight 3', true, true],
    ]);
    assert.match(`${await tried()}`, /^rejected: A www is several sets with weights/);
    vendor.standIn.sets.splice(3);
    set.alias_target = { resource_type: 'waf', resource_domain_name: 'x.example.net' };
    set.records = null;
    assert.deepEqual(await shown(), [['ALIAS x.example.net', true, true]]);
    assert.match(`${await tried()}`, /^rejected: A www is an alias/);
    assert.deepEqual(set.records, null);
  });

  it('takes what is on its way out for gone', async () => {
    await apply({ op: 'create', after: a('192.0.2.1') });
    (vendor.standIn.sets[2] as { status: string }).status = 'PENDING_DELETE';
    assert.deepEqual(await listed(), []);
  });

  it('reads once more when a set has gone meanwhile', async () => {
    await apply({ op: 'create', after: a('192.0.2.1') });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'PUT') vendor.standIn.sets.splice(2);
      return handler(request);
    };
    assert.deepEqual(await apply({ op: 'create', after: a('192.0.2.2') }), ['ok']);
    vendor.standIn.handler = handler;
    assert.deepEqual(
      (await listed()).map((r) => r.value),
      ['192.0.2.2'],
    );
  });

  it('says no to what it cannot hold, and carries out the rest', async () => {
    const text = (value: string) => a('192.0.2.1', { type: 'TXT', value });
    assert.deepEqual(await apply({ op: 'create', after: text('a, b') }, { op: 'create', after: text('a\\b') }), [
      ...['ok', 'rejected: Huawei Cloud takes no TXT value with quotes, backslashes, or what is not ASCII'],
    ]);
    assert.deepEqual(vendor.standIn.sets[2]?.records, ['"a, b"']);
    assert.match(`${await apply({ op: 'create', after: text('x'.repeat(4049)) })}`, /more than 4048 bytes/);
    assert.deepEqual(await apply({ op: 'create', after: { ...text('x'.repeat(4048)), host: 'long' } }), ['ok']);
    const mx = dnsRecord({ host: 'www', type: 'MX', value: '.', priority: 0 }, zone.name);
    assert.match(`${await apply({ op: 'create', after: mx })}`, /no null MX/);
  });

  it('tells a region by its host, and takes no other host for one', async () => {
    await assert.rejects(connectTo(huaweicloud, { ...stranger, region: 'evil.example/' }).check(), { kind: 'auth' });
    await connect(vendor.standIn, { region: 'ap-southeast-1', project_id: 'p1' }).check();
    assert.equal(vendor.standIn.requests[0]?.headers['x-project-id'], 'p1');
    assert.match(String(vendor.standIn.requests[0]?.headers.authorization), /x-project-id/);
  });

  for (const [status, body, kind] of [
    [401, { error_code: 'APIGW.0301', error_msg: 'Incorrect IAM' }, 'auth'],
    [403, { code: 'DNS.0014', message: 'Request forbidden by flow control.' }, 'rate_limit'],
    [404, { code: 'DNS.0302', message: 'This zone does not exist.' }, 'not_found'],
    [400, { code: 'DNS.0312', message: 'conflicts' }, 'rejected'],
    [500, { code: 'DNS.0001', message: 'Internal error.' }, 'unavailable'],
  ] as const) {
    it(`takes ${JSON.stringify(body)} for ${kind}`, async () => {
      const { handler } = vendor.standIn;
      vendor.standIn.handler = () => ({ status, body, headers: { 'retry-after': '60' } });
      await assert.rejects(connect(vendor.standIn).listRecords(zone), { kind });
      vendor.standIn.handler = handler;
    });
  }

  it('takes a list that is cut, or a page that is missing, for an error', async () => {
    const { handler } = vendor.standIn;
    const whole = { links: {}, recordsets: vendor.standIn.sets, metadata: { total_count: 2 } };
    for (const body of [undefined, {}, { ...whole, metadata: undefined }, { ...whole, metadata: { total_count: 3 } }]) {
      vendor.standIn.handler = ({ query }) =>
        query.offset === '0' ? { body } : { body: { ...whole, recordsets: [] } };
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ body: { ...whole, recordsets: [{ id: 'x', name: 'x' }, { id: 'y' }] } });
    const unread = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      unread.map(({ host, value, readOnly }) => [host, value, readOnly]),
      [
        ['x', '{"id":"x","name":"x"}', true],
        ['@', '{"id":"y"}', true],
      ],
    );
    vendor.standIn.handler = handler;
    assert.equal((await vendor.provider.listRecords(zone)).length, 2);
  });
});
