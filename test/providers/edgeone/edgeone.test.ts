import assert from 'node:assert/strict';
import { beforeAll, beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { edgeone } from '../../../src/providers/edgeone/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { KEY } from '../tencentcloud/stand-in.js';
import { startEdgeone, type TeoRecord } from './stand-in.js';

const open = ({ url: endpoint }: StandIn, secret_key = KEY.secret, secret_id = KEY.id): DnsProvider =>
  connectTo(edgeone, { secret_id, secret_key, endpoint });
const zone = { id: 'zone-2', name: 'contract.example' };
const held = (RecordId: string, more: Partial<TeoRecord> = {}): TeoRecord => ({
  ...{ ZoneId: 'zone-2', RecordId, Name: 'www.contract.example', Type: 'A', Location: 'Default', Content: '192.0.2.1' },
  ...{ TTL: 600, Weight: -1, Priority: 0, Status: 'enable', ...more },
});

const ROOT = 'nothing is documented of it';

providerContract('Tencent EdgeOne (stand-in)', async () => {
  const standIn = await startEdgeone();
  standIn.records.push(held('record-0', { Name: 'kept.contract.example' }));
  standIn.rules.page = 4;
  return {
    ...{ provider: open(standIn), stranger: open(standIn, 'wrong'), definition: edgeone, zone, standIn },
    ...{ stop: standIn.stop, refuses: ({ type, value }) => type === 'TXT' && value === '' },
    cannot: { 'MX with the root': ROOT, 'SRV with the root': ROOT },
  };
});

describe('Tencent EdgeOne', () => {
  const vendor = standInFor(startEdgeone, open);
  beforeAll(() => {
    vendor.standIn.rules.apexNs = false;
  });
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more = {}) =>
    ({ ...dnsRecord({ host: 'www', type, value, ttl: 600 }, zone.name), ...more }) as const;
  const apply = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const only = async () => (await vendor.provider.listRecords(zone))[0] as RemoteRecord;

  it('says in its words what is refused', async () => {
    await assert.rejects(open(vendor.standIn, 'wrong').listZones(), { kind: 'auth', message: /SignatureFailure/ });
    await assert.rejects(open(vendor.standIn, KEY.secret, 'other').check(), {
      kind: 'auth',
      message: /SecretIdNotFound/,
    });
    await assert.rejects(vendor.provider.listRecords({ id: 'zone-9', name: 'x.example' }), {
      kind: 'not_found',
      message: /站点不存在/,
    });
    const ns = await apply({ op: 'create', after: { ...record('NS', 'ns.example.net'), host: '@' } });
    assert.equal(ns?.ok === false && ns.error.kind, 'rejected');
  });

  it('lists and finds the sites that are delegated to it, by their exact names', async () => {
    assert.deepEqual(
      (await vendor.provider.listZones()).map((z) => z.name),
      ['other.example', 'contract.example'],
    );
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    for (const name of ['accelerated.example', 'tract.example'])
      assert.equal(await vendor.provider.findZone?.(name), null);
  });

  it('refuses MX priorities beyond 50 before anything is sent', async () => {
    const of = (priority: number) => record('MX', 'mx.example.net', { priority });
    const outcome = await apply({ op: 'create', after: of(51) });
    assert.match(outcome?.ok === false ? outcome.error.message : '', /priorities of 0 to 50/);
    assert.equal(vendor.standIn.requests.length, 0);
    assert.ok((await apply({ op: 'create', after: of(50) }))?.ok);
  });

  it('keeps line, weight and state through an update of the value', async () => {
    vendor.standIn.records.push(held('r-1', { Location: 'CN.HB', Weight: 30, Status: 'disable' }), held('r-2'));
    const before = await only();
    assert.deepEqual([before.line, before.weight, before.enabled], ['CN.HB', 30, false]);
    const { remoteId: _, readOnly: __, ...plain } = before;
    assert.ok((await apply({ op: 'update', before, after: { ...plain, value: '192.0.2.2' } }))?.ok);
    const expected = held('r-1', { Location: 'CN.HB', Weight: 30, Status: 'disable', Content: '192.0.2.2' });
    assert.deepEqual(vendor.standIn.records, [expected, held('r-2')]);
    await apply({
      op: 'update',
      before: { ...before, value: '192.0.2.2' },
      after: { ...plain, value: '192.0.2.2', weight: null },
    });
    assert.equal(vendor.standIn.records[0]?.Weight, -1);
  });

  it('turns records off and on by a call of its own, new ones after they were made', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1', { enabled: false }) });
    const before = await only();
    assert.equal(before.enabled, false);
    vendor.standIn.requests.length = 0;
    await apply({ op: 'update', before, after: record('A', '192.0.2.1') });
    assert.deepEqual(
      vendor.standIn.requests.map(({ body }) => body),
      [{ ZoneId: 'zone-2', RecordsToEnable: [before.remoteId] }],
    );
    assert.equal((await only()).enabled, true);
  });

  it('sends values as the API wants them', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { Content: 'mx.example.net', Priority: 10 }],
      ['SRV', '5 5060 sip.example.net', 1, { Content: '1 5 5060 sip.example.net' }],
      ['CAA', '0 issue "ca.example.net"', null, { Content: '0 issue "ca.example.net"' }],
      ['A', '192.0.2.7', null, { Content: '192.0.2.7', Location: 'Default', Weight: -1 }],
    ] as const) {
      const after = dnsRecord({ host: '@', type, value, priority, ttl: 600 }, zone.name);
      assert.ok((await apply({ op: 'create', after }))?.ok);
      const sent = { ZoneId: 'zone-2', Name: 'contract.example', Type: type, TTL: 600, ...expected };
      assert.deepEqual(vendor.standIn.requests.at(-1)?.body, sent);
    }
  });

  it('knows a record that is gone from one that is refused', async () => {
    await apply({ op: 'create', after: record('A', '192.0.2.1') });
    const before = await only();
    const refused = await apply({ op: 'update', before, after: record('A', '192.0.2.2', { ttl: 1 }) });
    assert.equal(refused?.ok === false && refused.error.kind, 'rejected');
    vendor.standIn.records.length = 0;
    for (const more of [{ value: '192.0.2.2' }, { enabled: false }]) {
      const gone = await apply({ op: 'update', before, after: record('A', '192.0.2.1', more) });
      assert.equal(gone?.ok === false && gone.error.kind, 'not_found');
    }
    assert.deepEqual(await apply({ op: 'delete', before }), { ok: true, remoteId: null });
    const seen = await apply({ op: 'delete', before, guarded: true });
    assert.equal(seen?.ok === false && seen.error.kind, 'changed');
  });

  it('takes a page that is missing for an error', async () => {
    vendor.standIn.records.push(...Array.from({ length: 5 }, (_, i) => held(`r-${i}`, { Content: `192.0.2.${i}` })));
    vendor.standIn.rules.page = 2;
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      (request.body as { Offset: number }).Offset === 4
        ? { body: { Response: { TotalCount: 5, DnsRecords: [] } } }
        : handler(request);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    assert.equal((await vendor.provider.listRecords(zone)).length, 5);
    vendor.standIn.rules.page = 1000;
  });
});
