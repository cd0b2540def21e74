import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { digitalocean } from '../../../src/providers/digitalocean/declaration.js';
import type { DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Stored, startDigitalOcean } from './stand-in.js';

const connect = (standIn: StandIn, token = 'a-token', definition = digitalocean): DnsProvider =>
  connectTo(definition, { token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('DigitalOcean (stand-in)', async () => {
  const standIn = await startDigitalOcean();
  standIn.records.push({ id: 2, type: 'NS', name: '@', data: 'ns1.digitalocean.com', ttl: 1800 });
  standIn.most.page = 3;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-token', definition),
    ...{ definition: digitalocean, zone, standIn, pageSize: 3, stop: standIn.stop },
  };
});

describe('DigitalOcean', () => {
  const vendor = standInFor(startDigitalOcean, connect);
  const sent = () => vendor.standIn.requests.at(-1)?.body;

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Unable to authenticate/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
  });

  it('sends names absolute, and of an update what changes, with the type', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { priority: 10, data: 'mx.example.net.' }],
      ['SRV', '5 5060 sip.example.net', 1, { priority: 1, weight: 5, port: 5060, data: 'sip.example.net.' }],
      ['CAA', '0 issue "ca.example.net"', null, { flags: 0, tag: 'issue', data: 'ca.example.net.' }],
      ['CAA', '0 iodef "mailto:a@example.net"', null, { flags: 0, tag: 'iodef', data: 'mailto:a@example.net' }],
      ['TXT', 'a "b" c', null, { data: 'a "b" c' }],
      ['CNAME', 'contract.example', null, { data: 'contract.example.' }],
    ] as const) {
      const host = type === 'CNAME' ? 'alias' : 'www';
      const record = dnsRecord({ host, type, value, priority, ttl: 300 }, zone.name);
      const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after: record }]);
      assert.ok(outcome?.ok);
      assert.deepEqual(sent(), { type, name: host, ttl: 300, ...expected });
      const before = (await vendor.provider.listRecords(zone)).find(
        (r) => r.remoteId === outcome.remoteId,
      ) as RemoteRecord;
      assert.deepEqual([before.value, before.priority], [value, priority]);
      await vendor.provider.apply(zone, [{ op: 'update', before, after: { ...record, ttl: 60 } }]);
      assert.deepEqual(sent(), { type, ttl: 60 });
    }
  });

  it('tells of an update what else was changed there', async () => {
    const record = dnsRecord({ host: 'told', type: 'A', value: '192.0.2.1', ttl: 300 }, zone.name);
    await vendor.provider.apply(zone, [{ op: 'create', after: record }]);
    const before = (await vendor.provider.listRecords(zone)).find((r) => r.host === 'told') as RemoteRecord;
    const stored = vendor.standIn.records.find((r) => r.name === 'told') as Stored;
    stored.data = '192.0.2.9';
    const after = { ...record, ttl: 60 };
    assert.deepEqual(await vendor.provider.apply(zone, [{ op: 'update', before, after }]), [
      { ok: true, remoteId: before.remoteId, held: { ...after, value: '192.0.2.9' } },
    ]);
    assert.deepEqual(
      await vendor.provider.apply(zone, [{ op: 'update', before, after: { ...after, value: '192.0.2.8' } }]),
      [{ ok: true, remoteId: before.remoteId }],
    );
  });

  it('takes a page that is missing for an error', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      request.query.page === '2' ? { body: { domain_records: [], meta: { total: 9 } } } : handler(request);
    vendor.standIn.most.page = 2;
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    assert.equal((await vendor.provider.listRecords(zone)).length, vendor.standIn.records.length);
  });
});
