import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { vultr } from '../../../src/providers/vultr/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startVultr } from './stand-in.js';

/** The same without the limit of requests a second, which only makes a test wait. */
const fast = { ...vultr, limits: { ...vultr.limits, requests: 1000 } };
const connect = (standIn: StandIn, key = 'a-key'): DnsProvider =>
  connectTo(fast, { api_key: key, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Vultr (stand-in)', async () => {
  const standIn = await startVultr();
  standIn.records.push({ id: 'ns1', type: 'NS', name: '', data: 'ns1.vultr.com', priority: -1, ttl: 300 });
  standIn.domains.unshift({ domain: 'a.example' }, { domain: 'b.example' });
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    definition: fast,
    zone,
    standIn,
    stranger: connect(standIn, 'wrong'),
    values: { TXT: [{ value: 'v=spf1 -all' }, { value: 'changed; and \\ too' }] },
    refuses: ({ type, value }) => type === 'TXT' && value.includes('"'),
    cannot: { 'CAA with flag 128 and parameters': 'Vultr takes nothing but a name there (dnscontrol 2023)' },
    stop: standIn.stop,
  };
});

describe('Vultr', () => {
  const vendor = standInFor(startVultr, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
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
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), { kind: 'auth', message: /Invalid API token/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1', { ttl: 60 }) });
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && /at least 120/.test(outcome.error.message));
  });

  it('sends names relative, targets without dot, texts quoted', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, '@', { name: '', data: 'mx.example.net', priority: 10 }],
      ['MX', '.', 0, 'nomail', { name: 'nomail', data: '.', priority: 0 }],
      [
        'SRV',
        '5 5060 sip.example.net',
        1,
        '_sip._tcp',
        { name: '_sip._tcp', data: '5 5060 sip.example.net', priority: 1 },
      ],
      ['CAA', '0 issue "ca.example.net"', null, '@', { name: '', data: '0 issue "ca.example.net"', priority: 0 }],
      ['TXT', 'a b', null, 'www', { name: 'www', data: '"a b"', priority: 0 }],
      ['SSHFP', '4 3 abcd', null, 'www', { name: 'www', data: '4 3 abcd', priority: 0 }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(type, value, { priority, host }) });
      assert.ok(outcome.ok);
      assert.deepEqual(writes().at(-1)?.body, { type, ttl: 300, ...expected });
      const held = (await listed()).find((r) => r.remoteId === outcome.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority], [host, value, priority]);
    }
  });

  it('sends of an update what changes, and puts another type in the place of the old one', async () => {
    await one({ op: 'create', after: record('MX', 'mx.example.net', { priority: 10 }) });
    const [before] = await listed();
    for (const [after, expected] of [
      [{ ...before, ttl: 600 }, { ttl: 600 }],
      [{ ...before, priority: 20 }, { priority: 20 }],
      [{ ...before, value: 'mx2.example.net' }, { data: 'mx2.example.net' }],
      [{ ...before, host: 'mail' }, { name: 'mail' }],
    ] as const) {
      assert.ok((await one({ op: 'update', before, after })).ok);
      assert.equal(writes().at(-1)?.method, 'PATCH');
      assert.deepEqual(writes().at(-1)?.body, expected);
    }
    const [now] = await listed();
    assert.deepEqual([now.host, now.value, now.priority, now.ttl], ['mail', 'mx2.example.net', 20, 600]);
    const outcome = await one({ op: 'update', before: now, after: record('A', '192.0.2.1', { host: 'mail' }) });
    assert.ok(outcome.ok && outcome.remoteId !== now.remoteId);
    assert.deepEqual(
      (await listed()).map((r) => [r.remoteId, r.type]),
      [[outcome.remoteId, 'A']],
    );
  });

  it('writes a guarded change only while Vultr holds what was seen', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const [before] = await listed();
    (vendor.standIn.records[0] as StoredRecord).data = '192.0.2.7';
    const outcome = await one({ op: 'update', before, after: record('A', '192.0.2.2'), guarded: true });
    assert.ok(!outcome.ok && outcome.error.kind === 'changed' && outcome.error.found?.value === '192.0.2.7');
  });

  it('takes a list or a record that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const entry = { id: '1', type: 'A', name: '', data: '192.0.2.1', priority: 0, ttl: 300 };
    const lists = { records: [entry], domains: [{ domain: 'x.example' }] };
    const links = { next: '', prev: '' };
    for (const body of [
      undefined,
      {},
      lists,
      { ...lists, meta: { total: 2, links } },
      { ...lists, meta: { total: 1 } },
      { ...lists, meta: { links } },
      { meta: { total: 0, links } },
    ]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = () => ({ status: 201, body: {} });
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.ok(!outcome.ok && outcome.error.kind === 'unavailable' && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });
});
