import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { dnsimple } from '../../../src/providers/dnsimple/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startDnsimple } from './stand-in.js';

const connect = (standIn: StandIn, token = 'a-token', more = {}): DnsProvider =>
  connectTo(dnsimple, { token, endpoint: standIn.url, ...more });
const zone = { id: 'contract.example', name: 'contract.example' };
const own = (more: Partial<StoredRecord>): StoredRecord => ({
  ...{ id: 1, zone_id: zone.id, name: '', type: 'NS', content: 'ns1.dnsimple.com', ttl: 3600, priority: null },
  ...{ regions: ['global'], system_record: false },
  ...more,
});

providerContract('DNSimple (stand-in)', async () => {
  const standIn = await startDnsimple();
  standIn.records.push(own({ content: 'ns.example.org' }));
  standIn.zones.unshift({ id: 2, name: 'a.example', secondary: false }, { id: 3, name: 'b.example', secondary: false });
  standIn.most.page = 2;
  const odd = (text: string) => text.split('"').length % 2 === 0;
  return {
    provider: connect(standIn),
    definition: dnsimple,
    zone,
    standIn,
    stranger: connect(standIn, 'wrong'),
    refuses: ({ type, value }) =>
      type === 'TXT' && (value === '' || /\s$/.test(value) || Buffer.byteLength(value) > 1000 || odd(value)),
    stop: standIn.stop,
  };
});

describe('DNSimple', () => {
  const vendor = standInFor(startDnsimple, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.who.account = { id: 1010 };
    vendor.standIn.who.accounts = [{ id: 1010 }];
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const listed = async () => (await vendor.provider.listRecords(zone)) as [RemoteRecord, ...RemoteRecord[]];
  const writes = () => vendor.standIn.requests.filter((r) => r.method !== 'GET');

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), {
      kind: 'auth',
      message: /Authentication failed/,
    });
    const stranger = vendor.provider.listRecords({ id: 'x.example', name: 'x.example' });
    await assert.rejects(stranger, { kind: 'not_found', message: /Zone `x.example` not found/ });
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const outcome = await one({ op: 'create', after: record('CNAME', 'a.example.net') });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /CNAME and other/.test(outcome.error.message));
  });

  it('finds the account of a token, once, and asks for it where there are several', async () => {
    const fresh = connect(vendor.standIn);
    await fresh.check();
    await fresh.listZones();
    assert.equal(vendor.standIn.requests.filter((r) => r.path === '/whoami').length, 1);
    vendor.standIn.who.account = null;
    assert.deepEqual(await connect(vendor.standIn).listZones(), [zone]);
    vendor.standIn.who.accounts.push({ id: 2 });
    await assert.rejects(connect(vendor.standIn).listZones(), { kind: 'auth', message: /account id/ });
    assert.deepEqual(await connect(vendor.standIn, 'a-token', { account_id: '1010' }).listZones(), [zone]);
    await assert.rejects(connect(vendor.standIn, 'a-token', { account_id: '7' }).listZones(), { kind: 'not_found' });
  });

  it('leaves out secondary zones', async () => {
    vendor.standIn.zones.push({ id: 9, name: 'second.example', secondary: true });
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
    vendor.standIn.zones.pop();
  });

  it('sends names relative, priorities apart, texts quoted', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, '@', { name: '', content: 'mx.example.net', priority: 10 }],
      [
        'SRV',
        '5 5060 sip.example.net',
        1,
        '_sip._tcp',
        { name: '_sip._tcp', content: '5 5060 sip.example.net', priority: 1 },
      ],
      ['CAA', '0 issue "ca.example.net"', null, '@', { name: '', content: '0 issue "ca.example.net"' }],
      ['TXT', 'a "b" \\c', null, 'www', { name: 'www', content: '"a \\"b\\" \\\\c"' }],
      ['ALIAS', 'a.example.net', null, 'alias', { name: 'alias', content: 'a.example.net' }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(type, value, { priority, host }) });
      assert.ok(outcome.ok);
      assert.deepEqual(writes().at(-1)?.body, { type, ttl: 300, ...expected });
      const held = (await listed()).find((r) => r.remoteId === outcome.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority], [host, value, priority]);
    }
  });

  it('sends of an update what changes, and tells what else was changed there', async () => {
    await one({ op: 'create', after: record('MX', 'mx.example.net', { priority: 10 }) });
    const [before] = await listed();
    (vendor.standIn.records[0] as StoredRecord).content = 'mx9.example.net';
    const after = { ...before, ttl: 600 };
    const outcome = await one({ op: 'update', before, after });
    assert.deepEqual(writes().at(-1)?.body, { ttl: 600 });
    assert.equal(outcome.ok && outcome.held?.value, 'mx9.example.net');
    await one({ op: 'update', before, after: { ...before, priority: 20 } });
    assert.deepEqual(writes().at(-1)?.body, { priority: 20 });
  });

  it('puts a record of another type in the place of the old one', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const [before] = await listed();
    const outcome = await one({ op: 'update', before, after: record('TXT', 'x') });
    assert.ok(outcome.ok && outcome.remoteId !== before.remoteId);
    assert.deepEqual(
      (await listed()).map((r) => r.type),
      ['TXT'],
    );
  });

  it('shows read-only what is its own, what is regional and what it cannot write; reads TXT in either form', async () => {
    vendor.standIn.records.push(
      own({ id: 1, system_record: true }),
      own({ id: 2, type: 'TXT', name: 'alias', content: 'ALIAS for a.example.net' }),
      own({ id: 3, type: 'MX', content: 'mxa.example.com', priority: 10, regions: ['SV1', 'IAD'] }),
      own({ id: 4, type: 'URL', content: 'https://example.net/' }),
      own({ id: 5, type: 'TXT', name: 'raw', content: 'v=spf1 -all' }),
      own({ id: 6, type: 'TXT', name: 'quoted', content: '"v=spf1 -all"' }),
      own({ id: 7, type: 'SOA', content: 'ns1.dnsimple.com admin.dnsimple.com 1 2 3 4 5', system_record: true }),
    );
    assert.deepEqual(
      (await listed()).map((r) => [r.remoteId, r.readOnly, r.value]),
      [
        ['1', true, 'ns1.dnsimple.com'],
        ['2', true, 'ALIAS for a.example.net'],
        ['3', true, 'mxa.example.com'],
        ['4', true, 'https://example.net/'],
        ['5', false, 'v=spf1 -all'],
        ['6', false, 'v=spf1 -all'],
      ],
    );
  });

  it('takes a list or a record that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const data = [{ ...own({}), name: 'x.example' }];
    const asked = connect(vendor.standIn, 'a-token', { account_id: '1010' });
    for (const body of [
      undefined,
      {},
      { data },
      { data, pagination: { total_entries: 2 } },
      { pagination: { total_entries: 0 } },
    ]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(asked.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(asked.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ status: 201, body: {} });
    const [outcome] = await asked.apply(zone, [{ op: 'create', after: record('A', '192.0.2.1') }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'unavailable' && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });
});
