import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { RemoteRecord } from '../../../src/providers/provider.js';
import { vercel } from '../../../src/providers/vercel/declaration.js';
import { describeUnless } from '../../support/suites.js';
import { connectTo, noRecordings, type StandIn, sharedFile, standInFor, startStandIn } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Stored, startVercel } from './stand-in.js';

/** The same without the limit of 50 requests a minute, which only makes a test wait. */
const fast = { ...vercel, limits: { ...vercel.limits, requests: 10_000 } };
const connect = (standIn: StandIn, api_token = 'a-token', definition = fast) =>
  connectTo(definition, { api_token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };
const record = (host: string, type: string, value: string, priority: number | null = null, ttl = 300) =>
  dnsRecord({ host, type, value, priority, ttl }, zone.name);

providerContract('Vercel (stand-in)', async () => {
  const standIn = await startVercel();
  standIn.most.page = 3;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-token', definition),
    cannot: {
      'TXT empty': 'a value is required (dnscontrol 2025)',
      'NS at @': 'Vercel manages those of the apex itself (dnscontrol 2025)',
      'MX with the root': 'the target has to be a full name (dnscontrol 2025)',
      'CAA with flag 128 and parameters': 'parameters are taken for another one (dnscontrol 2025)',
      'CAA that forbids': 'the authority has to be a full name (dnscontrol 2025)',
    },
    ...{ definition: vercel, zone, standIn, pageSize: 3, stop: standIn.stop },
  };
});

describe('Vercel', () => {
  const vendor = standInFor(startVercel, connect);
  const sent = () => vendor.standIn.requests.at(-1);
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Not authorized/ });
    const missing = { id: 'none.example', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), {
      kind: 'not_found',
      message: /`none.example` not found/,
    });
  });

  it('asks in the name of the team where one is named, and else of nobody', async () => {
    const team = connectTo(fast, { api_token: 'a-token', team_id: 'team_1', endpoint: vendor.standIn.url });
    await team.listRecords(zone);
    assert.equal(sent()?.query.teamId, 'team_1');
    await team.apply(zone, [{ op: 'create', after: record('team', 'A', '192.0.2.1') }]);
    assert.equal(sent()?.query.teamId, 'team_1');
    await vendor.provider.listRecords(zone);
    assert.ok(!('teamId' in (sent()?.query ?? {})));
  });

  it('sends the parts of SRV and HTTPS without a value, and of an update what changes', async () => {
    for (const [type, value, priority, expected] of [
      ['SRV', '5 5060 sip.example.net', 1, { srv: { priority: 1, weight: 5, port: 5060, target: 'sip.example.net' } }],
      ['HTTPS', '1 . alpn=h2 port=443', null, { https: { priority: 1, target: '.', params: 'alpn=h2 port=443' } }],
      ['MX', 'mx.example.net', 10, { value: 'mx.example.net', mxPriority: 10 }],
      ['TXT', 'a "b" c', null, { value: 'a "b" c' }],
    ] as const) {
      const after = record('', type, value, priority);
      const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after }]);
      assert.ok(outcome?.ok);
      assert.deepEqual(sent()?.body, { name: '', type, ttl: 300, ...expected });
      const before = (await at('@')).find((r) => r.remoteId === outcome.remoteId) as RemoteRecord;
      assert.deepEqual([before.type, before.value, before.priority], [type, value, priority]);
      await vendor.provider.apply(zone, [{ op: 'update', before, after: { ...after, ttl: 60 } }]);
      assert.deepEqual([sent()?.path, sent()?.body], [`/v1/domains/records/${outcome.remoteId}`, { ttl: 60 }]);
    }
  });

  it('shows read-only what Vercel made itself, and does not take it for a record that is to be made', async () => {
    const system = { id: 'rec_0', name: '', type: 'A', value: '76.76.21.21', ttl: 60, creator: 'system', createdAt: 5 };
    vendor.standIn.records.push(system as Stored);
    const [shown] = (await at('@')).filter((r) => r.remoteId === 'rec_0');
    assert.deepEqual([shown?.value, shown?.readOnly], ['76.76.21.21', true]);
    const after = record('@', 'A', '76.76.21.21');
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after }]);
    assert.ok(outcome?.ok && outcome.remoteId !== 'rec_0');
    assert.equal((await at('@')).filter((r) => r.value === '76.76.21.21').length, 2);
  });

  it('lists whole what was made in the same millisecond, also where a page ends between', async () => {
    vendor.standIn.most.page = 3;
    vendor.standIn.clock.push(...Array.from({ length: 5 }, (_, i) => 1_700_000_000_000 + Math.floor(i / 2)));
    for (let i = 0; i < 5; i++)
      await vendor.provider.apply(zone, [{ op: 'create', after: record('tie', 'A', `192.0.2.${i + 1}`) }]);
    assert.equal((await at('tie')).length, 5);
    vendor.standIn.most.page = 100;
  });

  it('takes a list for cut that has more of one millisecond than a page holds', async () => {
    const { handler } = vendor.standIn;
    const many = Array.from({ length: 150 }, (_, i) => ({
      ...vendor.standIn.records[0],
      id: `rec_x${i}`,
      createdAt: 7,
    }));
    vendor.standIn.handler = () => ({
      body: { records: many.slice(0, 100), pagination: { count: 100, next: 7, prev: 7 } },
    });
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });

  it('makes a record of another type in the place of the old one', async () => {
    const [old] = await at('tie');
    const after = record('retyped', 'TXT', 'was an address');
    const from = vendor.standIn.requests.length;
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'update', before: old as RemoteRecord, after }]);
    assert.ok(outcome?.ok);
    assert.deepEqual(
      vendor.standIn.requests.slice(from).map((r) => r.method),
      ['POST', 'DELETE'],
    );
  });
});

describeUnless(noRecordings)('Vercel: sample exchanges', () => {
  if (noRecordings) return;
  const { exchanges } = JSON.parse(readFileSync(sharedFile('provider-fixtures/vercel.json'), 'utf8')) as {
    exchanges: { request: { method: string; path: string; query: object; body?: object }; response: object }[];
  };
  for (const { request, response } of exchanges)
    it(`${request.method} is sent as in the sample`, async () => {
      const standIn = await startStandIn(() => response);
      const one = connectTo(fast, { api_token: 'secret', team_id: '123', endpoint: standIn.url });
      const host = '_acme-challenge';
      const after = dnsRecord({ host, type: 'TXT', value: 'ADw2sEd82DUgXcQ9hNBZThJs7zVJkR5v9JeSbAb9mZY', ttl: 60 }, '');
      const example = { id: 'example.com', name: 'example.com' };
      const create = request.method === 'POST';
      const [outcome] = await one.apply(example, [
        create ? { op: 'create', after } : { op: 'delete', before: { ...after, remoteId: '1234567', readOnly: false } },
      ]);
      assert.ok(outcome?.ok);
      if (create) assert.equal(outcome.remoteId, '9e2eab60-0ba5-4dff-b481-2999c9764b84');
      const [{ method, path, query, body, headers } = assert.fail()] = standIn.requests;
      const name = `${host}.example.com.`;
      // the sample names the record in full, the API's documentation and its traffic relative to the domain
      const shown = create ? { ...(body as object), name } : undefined;
      assert.deepEqual({ method, path, query, ...(shown && { body: shown }) }, request);
      assert.equal(headers.authorization, 'Bearer secret');
      await standIn.stop();
    });
});
