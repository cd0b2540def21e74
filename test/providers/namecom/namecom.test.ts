import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { namecom } from '../../../src/providers/namecom/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredNamecom, startNamecom } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...namecom, limits: { ...namecom.limits, requests: 1000, more: [] } };
const connect = (standIn: StandIn, token = 'a-token'): DnsProvider =>
  connectTo(fast, { username: 'ada', token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };
const stored = (id: number, type: string, host: string, answer: string, more = {}): StoredNamecom => ({
  ...{ id, domainName: zone.id, fqdn: `${host ? `${host}.` : ''}${zone.name}.`, type, answer, ttl: 300 },
  ...(host && { host }),
  ...more,
});

providerContract('Name.com (stand-in)', async () => {
  const standIn = await startNamecom();
  standIn.records.push(stored(1, 'NS', '', 'ns1abc.name.com'));
  standIn.domains.unshift('a.example', 'b.example', 'c.example');
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    ...{ definition: namecom, zone, standIn, stop: standIn.stop },
    values: { TXT: [{ value: 'v=spf1 include:example.net -all' }, { value: 'changed; "quoted" too' }] },
    cannot: {
      'MX with the root': 'Name.com refuses it (dnscontrol, 2026)',
      'SRV with the root': 'Name.com refuses it (dnscontrol, 2026)',
    },
    refuses: ({ type, host, value }) =>
      (type === 'NS' && host === '@') ||
      (type === 'TXT' && (value === '' || value.includes('\\') || value.length > 490 || /^z+é/.test(value))),
  };
});

describe('Name.com', () => {
  const vendor = standInFor(startNamecom, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.page = 1000;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Unauthenticated/ });
    const other = { id: 'other.example', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), {
      kind: 'not_found',
      message: /Not Found: Domain not found/,
    });
    const low = await one({ op: 'create', after: record('www', 'A', '192.0.2.1', { ttl: 60 }) });
    assert.ok(low && !low.ok && low.error.kind === 'rejected' && /Invalid TTL/.test(low.error.message));
  });

  it('sends names without final dot, the apex as nothing, ALIAS as ANAME', async () => {
    for (const [host, type, value, priority, expected] of [
      ['@', 'MX', 'mx.example.net', 10, { host: '', type: 'MX', answer: 'mx.example.net', priority: 10 }],
      [
        's',
        'SRV',
        '5 5060 sip.example.net',
        1,
        { host: 's', type: 'SRV', answer: '5 5060 sip.example.net', priority: 1 },
      ],
      ['@', 'ALIAS', 'lb.example.net', null, { host: '', type: 'ANAME', answer: 'lb.example.net' }],
      ['t', 'TXT', 'v=spf1 -all', null, { host: 't', type: 'TXT', answer: 'v=spf1 -all' }],
      ['q', 'TXT', 'a "b"', null, { host: 'q', type: 'TXT', answer: '"a \\"b\\""' }],
      ['l', 'TXT', 'x'.repeat(256), null, { host: 'l', type: 'TXT', answer: `"${'x'.repeat(255)}" "x"` }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(host, type, value, { priority }) });
      assert.ok(outcome?.ok && !outcome.held, JSON.stringify(outcome));
      assert.deepEqual(vendor.standIn.requests.at(-1)?.body, { ttl: 300, ...expected });
    }
  });

  it('shows the NS of the apex, and what it does not know, read-only', async () => {
    vendor.standIn.records.push(
      stored(1, 'NS', '', 'ns1abc.name.com'),
      stored(2, 'NS', 'sub', 'ns.example.net'),
      stored(3, 'CAA', '', '0 issue "ca.example.net"'),
      stored(4, 'A', '@', '192.0.2.1'),
      stored(5, 'MX', '', 'mx.example.net', { priority: undefined }),
    );
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.remoteId, r.host, r.priority, r.readOnly]),
      [
        ['1', '@', null, true],
        ['2', 'sub', null, false],
        ['3', '@', null, true],
        ['4', '@', null, false],
        ['5', '@', 0, false],
      ],
    );
  });

  it('writes a guarded change only while it is what was seen', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    (vendor.standIn.records[0] as StoredNamecom).answer = '192.0.2.7';
    const outcome = await one({ op: 'delete', before, guarded: true });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'changed');
    assert.equal(outcome.error.found?.value, '192.0.2.7');
    assert.equal(vendor.standIn.records.length, 1);
  });

  it('knows the end of a registration', async () => {
    assert.equal((await vendor.provider.zoneInfo?.(zone))?.expiresAt, '2027-02-13T00:36:30Z');
  });

  it('takes a list without its entries, or without a page, for an error', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.records.push(
      stored(1, 'A', 'a', '192.0.2.1'),
      stored(2, 'A', 'b', '192.0.2.1'),
      stored(3, 'A', 'c', '192.0.2.1'),
    );
    vendor.standIn.most.page = 2;
    assert.equal((await vendor.provider.listRecords(zone)).length, 3);
    vendor.standIn.handler = (request) =>
      request.query.page === '2' ? { status: 400, body: { message: 'no' } } : handler(request);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'rejected' });
    for (const body of [{}, '', { records: [], nextPage: 2 }, { records: {} }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = handler;
  });
});
