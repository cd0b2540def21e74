import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { dynu } from '../../../src/providers/dynu/declaration.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startDynu } from './stand-in.js';

const connect = (standIn: StandIn, api_key = 'a-key', definition = dynu) =>
  connectTo(definition, { api_key, endpoint: standIn.url });
const zone = { id: '100373707', name: 'contract.example' };
const soa = {
  ...{ id: 1, nodeName: '', recordType: 'SOA', ttl: 60, state: true, masterName: 'ns1.dynu.com' },
  content: 'contract.example. 60 IN SOA ns1.dynu.com. administrator.dynu.com. 8 3600 900 604800 300',
};

providerContract('Dynu (stand-in)', async () => {
  const standIn = await startDynu();
  standIn.records.push(soa, { id: 2, nodeName: '', recordType: 'NS', ttl: 3600, state: true, host: 'ns1.dynu.com' });
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-key', definition),
    cannot: {
      'MX with the root': 'nothing tells how it is written',
      'SRV with the root': 'nothing tells how it is written',
    },
    ...{ definition: dynu, zone, standIn, stop: standIn.stop },
  };
});

describe('Dynu', () => {
  const vendor = standInFor(startDynu, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.records = 1000;
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

  it('says in its words what is refused, and that nothing was done', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Invalid API key/ });
    await assert.rejects(vendor.provider.listRecords({ id: '7', name: 'x.example' }), { kind: 'not_found' });
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    for (const [after, words] of [
      [record('CNAME', 'a.example.net'), /A CNAME is alone/],
      [record('A', '192.0.2.2'), /Limit of records/],
    ] as const) {
      vendor.standIn.most.records = after.type === 'A' ? 1 : 1000;
      const outcome = await one({ op: 'create', after });
      assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && words.test(outcome.error.message));
      assert.equal(outcome.error.mayHaveApplied, false);
    }
  });

  it('sends the parts of a record by their names, without final dots', async () => {
    for (const [type, value, priority, host, expected] of [
      ['MX', 'mx.example.net', 10, '@', { nodeName: '', priority: 10, host: 'mx.example.net' }],
      [
        'SRV',
        '5 5060 sip.example.net',
        1,
        '_sip._tcp',
        { nodeName: '_sip._tcp', priority: 1, weight: 5, port: 5060, host: 'sip.example.net' },
      ],
      ['TXT', 'a "b" \\c', null, 'www', { nodeName: 'www', textData: 'a "b" \\c' }],
      ['AAAA', '2001:db8::1', null, 'www', { nodeName: 'www', ipv6Address: '2001:db8::1' }],
    ] as const) {
      const outcome = await one({ op: 'create', after: record(type, value, { priority, host }) });
      assert.ok(outcome.ok);
      assert.deepEqual(writes().at(-1)?.body, { recordType: type, state: true, ttl: 300, ...expected });
      const held = (await listed()).find((r) => r.remoteId === outcome.remoteId);
      assert.deepEqual([held?.host, held?.value, held?.priority], [host, value, priority]);
    }
  });

  it('sends back what it does not know, and what was changed there', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    Object.assign(vendor.standIn.records[0] as object, { group: 'office' });
    const [before] = await listed();
    Object.assign(vendor.standIn.records[0] as object, { ipv4Address: '192.0.2.9' });
    const outcome = await one({ op: 'update', before, after: { ...before, ttl: 600 } });
    assert.deepEqual(writes().at(-1)?.body, {
      ...{ recordType: 'A', nodeName: 'www', state: true, ttl: 600, ipv4Address: '192.0.2.9', group: 'office' },
    });
    assert.equal(outcome.ok && outcome.held?.value, '192.0.2.9');
  });

  it('leaves alone a record that is where another one shall move', async () => {
    for (const host of ['a', 'b'])
      assert.ok((await one({ op: 'create', after: record('A', '192.0.2.1', { host }) })).ok);
    const before = (await listed()).find(({ host }) => host === 'a') as RemoteRecord;
    const { handler } = vendor.standIn;
    // the first that is to go stays
    vendor.standIn.handler = (request) => {
      if (request.method !== 'DELETE') return handler(request);
      vendor.standIn.handler = handler;
      return { status: 501, body: { statusCode: 501, type: 'Server Exception', message: 'Busy.' } };
    };
    const outcome = await one({ op: 'update', before, after: { ...before, host: 'b' } });
    vendor.standIn.handler = handler;
    assert.ok(!outcome.ok && outcome.error.kind === 'rejected' && !outcome.error.mayHaveApplied);
    assert.deepEqual((await listed()).map(({ host }) => host).sort(), ['a', 'b']);
  });

  it('shows read-only what it cannot write, from the line of the zone file, or without one', async () => {
    const odd = { nodeName: 'odd', ttl: 60, state: true };
    vendor.standIn.records.push(
      soa,
      { ...odd, id: 3, recordType: 'CAA', content: 'odd.contract.example. 60 IN CAA 0 issue "ca.example.net"' },
      { ...odd, id: 4, recordType: 'UF', content: null, redirectType: 301 },
    );
    const all = await listed();
    assert.deepEqual(
      all.map((r) => [r.remoteId, r.type, r.value, r.readOnly]),
      [
        ['3', 'CAA', '0 issue "ca.example.net"', true],
        ['4', 'UF', '', true],
      ],
    );
  });

  it('takes a list or a record that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    for (const body of [undefined, {}, { statusCode: 200 }, { dnsRecords: {} }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    const outcome = await one({ op: 'create', after: record('A', '192.0.2.1') });
    assert.ok(!outcome.ok && outcome.error.mayHaveApplied);
    vendor.standIn.handler = handler;
  });
});
