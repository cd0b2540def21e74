import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { porkbun } from '../../../src/providers/porkbun/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startPorkbun } from './stand-in.js';

/** The same without the limit of one request a second, which only makes a test wait. */
const fast = { ...porkbun, limits: { ...porkbun.limits, requests: 1000, concurrency: 8 } };
const connect = (standIn: StandIn, secret = 'sk1_secret'): DnsProvider =>
  connectTo(fast, { api_key: 'pk1_key', secret_api_key: secret, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Porkbun (stand-in)', async () => {
  const standIn = await startPorkbun();
  const name = zone.name;
  standIn.records.push({ id: '1', name, type: 'NS', content: 'ns.example.org', ttl: '86400', prio: null, notes: null });
  standIn.domains.unshift({ domain: 'a.example', expireDate: '' }, { domain: 'b.example', expireDate: '' });
  standIn.most.page = 2;
  return {
    provider: connect(standIn),
    definition: fast,
    zone,
    standIn,
    stranger: connect(standIn, 'wrong'),
    refuses: ({ type, value }) => type === 'TXT' && (value === '' || /\s$/.test(value)),
    stop: standIn.stop,
  };
});

describe('Porkbun', () => {
  const vendor = standInFor(startPorkbun, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 600, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const only = async () => (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
  const sent = () => {
    const { apikey, secretapikey, ...fields } = (vendor.standIn.requests.at(-1)?.body ?? {}) as Record<string, unknown>;
    assert.deepEqual([apikey, secretapikey], ['pk1_key', 'sk1_secret']);
    return fields;
  };

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Invalid API key/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: { status: 'ERROR', message: 'All is refused with a status of success' } });
    await assert.rejects(vendor.provider.check(), { kind: 'rejected', message: /status of success/ });
    for (const body of [undefined, {}, { status: 'SUCCESS' }, { status: 'SUCCESS', records: {}, domains: {} }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });

  it('waits when it asks too often, which is a status of 503, also with what creates', async () => {
    vendor.standIn.busy.next = 1;
    assert.ok((await one({ op: 'create', after: record('A', '192.0.2.1') })).ok);
    assert.equal(vendor.standIn.requests.length, 2);
    assert.equal(vendor.standIn.records.length, 1);
  });

  it('sends relative names, an apex without one, and priorities apart', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, '@', { name: '', content: 'mx.example.net', prio: '10' }],
      [
        'SRV',
        '5 5060 sip.example.net',
        1,
        '_sip._tcp',
        { name: '_sip._tcp', content: '5 5060 sip.example.net', prio: '1' },
      ],
      ['CAA', '0 issue "ca.example.net"', null, '@', { name: '', content: '0 issue "ca.example.net"' }],
      ['TXT', 'a "b" \\c', null, 'www', { name: 'www', content: 'a "b" \\c' }],
      ['CNAME', 'a.example.net', null, '*', { name: '*', content: 'a.example.net' }],
    ] as const) {
      const after = record(type, value, { priority, host });
      const outcome = await one({ op: 'create', after });
      assert.ok(outcome.ok);
      assert.deepEqual(sent(), { type, ttl: '600', ...expected });
      const held = (await vendor.provider.listRecords(zone)).find(
        (r) => r.remoteId === outcome.remoteId,
      ) as RemoteRecord;
      assert.deepEqual([held.host, held.value, held.priority], [host, value, priority]);
    }
  });

  it('keeps notes, and writes them where they are named', async () => {
    assert.ok((await one({ op: 'create', after: { ...record('A', '192.0.2.1'), remark: 'the old one' } })).ok);
    assert.equal((await only()).remark, 'the old one');
    assert.ok((await one({ op: 'update', before: await only(), after: record('A', '192.0.2.2') })).ok);
    assert.equal((await only()).remark, 'the old one');
    const before = await only();
    assert.ok((await one({ op: 'update', before, after: { ...record('A', '192.0.2.2'), remark: '' } })).ok);
    assert.equal((await only()).remark, '');
  });

  it('tells what is gone from what is refused, and takes what is there already for done', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const before = await only();
    // changed there to the same meanwhile
    (vendor.standIn.records[0] as StoredRecord).content = '192.0.2.2';
    const after = record('A', '192.0.2.2');
    assert.deepEqual(await one({ op: 'update', before, after }), { ok: true, remoteId: before.remoteId });
    await one({ op: 'create', after: record('A', '192.0.2.9') });
    const clash = await one({ op: 'update', before: await only(), after: record('A', '192.0.2.9') });
    assert.ok(!clash.ok && clash.error.kind === 'rejected' && /unable to edit/.test(clash.error.message));
    vendor.standIn.records.length = 0;
    const gone = await one({ op: 'update', before, after: record('A', '192.0.2.3') });
    assert.ok(!gone.ok && gone.error.kind === 'not_found');
    assert.deepEqual(await one({ op: 'delete', before }), { ok: true, remoteId: null });
    // a zone that cannot be read says nothing of its records
    const { handler } = vendor.standIn;
    vendor.standIn.handler = ({ path }) =>
      path.includes('delete') ? { status: 400, body: { status: 'ERROR', message: 'no' } } : { status: 500 };
    const unknown = await one({ op: 'delete', before });
    assert.ok(!unknown.ok && unknown.error.kind === 'rejected');
    vendor.standIn.handler = handler;
  });

  it('shows the name servers of Porkbun and what it cannot write read-only', async () => {
    const name = zone.name;
    const more = { ttl: '86400', prio: null, notes: null };
    vendor.standIn.records.push(
      { id: '1', name, type: 'NS', content: 'maceio.porkbun.com', ...more },
      { id: '2', name: `sub.${name}`, type: 'NS', content: 'maceio.porkbun.com', ...more },
      { id: '3', name, type: 'SSHFP', content: 'x', ...more },
      { id: '4', name, type: 'SRV', content: '1 2 3 sip.example.net', ...more },
    );
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.remoteId, r.readOnly]),
      [
        ['1', true],
        ['2', false],
        ['3', true],
        ['4', true],
      ],
    );
  });

  it('tells when a registration ends', async () => {
    const facts = await vendor.provider.zoneInfo?.(zone);
    assert.equal(facts?.expiresAt, '2031-02-03T04:05:06.000Z');
    assert.equal((await vendor.provider.zoneInfo?.({ id: 'x.example', name: 'x.example' }))?.expiresAt, null);
  });
});
