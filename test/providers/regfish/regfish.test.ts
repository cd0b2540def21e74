import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { RemoteRecord } from '../../../src/providers/provider.js';
import { regfish } from '../../../src/providers/regfish/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Stored, startRegfish } from './stand-in.js';

const connect = (standIn: StandIn, api_key = 'a-key', definition = regfish, domains = 'contract.example') =>
  connectTo(definition, { api_key, domains, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('regfish (stand-in)', async () => {
  const standIn = await startRegfish();
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    connect: (definition) => connect(standIn, 'a-key', definition),
    ...{ definition: regfish, zone, standIn, stop: standIn.stop },
  };
});

describe('regfish', () => {
  const vendor = standInFor(startRegfish, connect);

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /Invalid API key/ });
    const missing = { id: 'none.example', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), {
      kind: 'not_found',
      message: /Record not found \(code 15001\)/,
    });
  });

  it('lists the domains of the account that are there, in A-labels, and no list where one is not', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) =>
      handler({ ...request, path: request.path.replace('xn--bcher-kva', 'contract') });
    const names = (domains: string) => connect(vendor.standIn, 'a-key', regfish, domains).listZones();
    const books = { id: 'xn--bcher-kva.example', name: 'xn--bcher-kva.example' };
    assert.deepEqual(await names('contract.example, Bücher.example'), [zone, books]);
    await assert.rejects(names('contract.example,none.example'), { kind: 'not_found' });
    vendor.standIn.handler = handler;
  });

  it('sends and reads the parts of MX and CAA', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { priority: 10, data: 'mx.example.net.' }],
      ['CAA', '128 issue "ca.example.net"', null, { flags: 128, tag: 'issue', data: 'ca.example.net' }],
      ['TXT', 'a "b" c', null, { data: 'a "b" c' }],
      ['ALIAS', 'lb.example.net', null, { data: 'lb.example.net.' }],
    ] as const) {
      const after = dnsRecord({ host: 'parts', type, value, priority, ttl: 300 }, zone.name);
      assert.ok((await vendor.provider.apply(zone, [{ op: 'create', after }]))[0]?.ok);
      const name = 'parts.contract.example.';
      assert.deepEqual(vendor.standIn.requests.at(-1)?.body, { type, name, ttl: 300, ...expected });
      const [shown] = (await vendor.provider.listRecords(zone)).filter((r) => r.host === 'parts' && r.type === type);
      assert.deepEqual([shown?.value, shown?.priority, shown?.readOnly], [value, priority, false]);
    }
  });

  it('shows read-only what regfish keeps itself, what is off there, and types whose parts are not known', async () => {
    const own = (id: number, more: Partial<Stored>): Stored => ({
      ...{ id, name: 'own.contract.example.', type: 'A', data: '192.0.2.1', ttl: 60, auto: false, active: true },
      ...more,
    });
    const srv = { type: 'SRV', data: '1 5060 sip.example.net.', priority: 5 };
    vendor.standIn.records.push(own(1, { auto: true }), own(2, { active: false, data: '192.0.2.2' }), own(3, srv));
    const shown = (await vendor.provider.listRecords(zone)).filter((r: RemoteRecord) => r.host === 'own');
    assert.deepEqual(
      shown.map((r) => [r.remoteId, r.readOnly, r.enabled]),
      [
        ['1', true, true],
        ['2', true, false],
        ['3', true, true],
      ],
    );
    vendor.standIn.records.splice(-3);
  });

  it('takes an answer without the record for one that may be carried out', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => ({ body: { success: true, code: 0 } });
    const after = dnsRecord({ host: 'lost', type: 'A', value: '192.0.2.1' }, zone.name);
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'unavailable' && outcome.error.mayHaveApplied);
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
  });
});
