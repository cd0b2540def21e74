import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { akamai } from '../../../src/providers/akamai/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { KEYS, startAkamai } from './stand-in.js';

/** The same without the limit of requests a second, which only makes a test wait. */
const fast = { ...akamai, limits: { ...akamai.limits, requests: 1000 } };
const connect = (standIn: StandIn, more: Record<string, string> = {}): DnsProvider =>
  connectTo(fast, { ...KEYS, url: standIn.url, ...more });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Akamai Edge DNS (stand-in)', async () => {
  const standIn = await startAkamai();
  return {
    provider: connect(standIn),
    ...{ definition: fast, zone, standIn },
    stranger: connect(standIn, { client_secret: 'another' }),
    stop: standIn.stop,
  };
});

describe('Akamai Edge DNS', () => {
  const vendor = standInFor(startAkamai, (standIn) => connect(standIn));
  beforeEach(() => {
    vendor.standIn.sets.splice(2);
    vendor.standIn.requests.length = 0;
  });
  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const writes = () => vendor.standIn.requests.filter((r) => r.method !== 'GET');

  it('says in its words what is refused', async () => {
    const refused = { kind: 'auth', message: /Not authorized: Invalid authorization client token/ } as const;
    await assert.rejects(connect(vendor.standIn, { access_token: 'other' }).check(), refused);
    const gone = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(gone), { kind: 'not_found', message: /Unable to find zone/ });
  });

  it('lists the zones that can be written', async () => {
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
  });

  it('makes a set, replaces it, and deletes it with its last value', async () => {
    await one({ op: 'create', after: record('TXT', 'a "b"', { host: '*' }) });
    await one({ op: 'create', after: record('TXT', 'c', { host: '*' }) });
    for (const before of await at('*')) await one({ op: 'delete', before });
    const set = { name: '*.contract.example', type: 'TXT', ttl: 300 };
    assert.deepEqual(
      writes().map(({ method, path, body }) => [method, decodeURIComponent(path), body]),
      [
        ['POST', [{ ...set, rdata: ['"a \\"b\\""'] }]],
        ['PUT', [{ ...set, rdata: ['"a \\"b\\""', '"c"'] }]],
        ['PUT', [{ ...set, rdata: ['"c"'] }]],
        ['DELETE', [undefined]],
      ].map(([method, body]) => [
        method,
        '/config-dns/v2/zones/contract.example/names/*.contract.example/types/TXT',
        body?.[0],
      ]),
    );
  });

  it('reads once more when a set has gone meanwhile', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'PUT') vendor.standIn.sets.splice(2);
      return handler(request);
    };
    assert.ok((await one({ op: 'create', after: record('A', '192.0.2.2') })).ok);
    vendor.standIn.handler = handler;
    assert.deepEqual(
      (await at('www')).map((r) => r.value),
      ['192.0.2.2'],
    );
  });

  it("shows Akamai's own types read-only", async () => {
    vendor.standIn.sets.push({
      name: zone.name,
      type: 'AKAMAICDN',
      ttl: 20,
      rdata: ['www.example.com.edgesuite.net.'],
    });
    const found = (await at('@')).find((r) => r.type === 'AKAMAICDN') as RemoteRecord;
    assert.deepEqual([found.value, found.readOnly], ['www.example.com.edgesuite.net.', true]);
  });

  it('names the account of a partner in each call', async () => {
    const partner = connect(vendor.standIn, { account_switch_key: 'B-C-1:2' });
    await partner.check();
    await partner.apply(zone, [{ op: 'create', after: record('A', '192.0.2.1') }]);
    assert.ok(vendor.standIn.requests.every(({ query }) => query.accountSwitchKey === 'B-C-1:2'));
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const recordsets = vendor.standIn.sets;
    for (const body of [undefined, {}, { recordsets }, { recordsets, metadata: { totalElements: 3 } }]) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
      await assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });
});
