import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { gandi } from '../../../src/providers/gandi/declaration.js';
import type { DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startGandi } from './stand-in.js';

/** The same without the limit of requests a second, which only makes a test wait. */
const fast = { ...gandi, limits: { ...gandi.limits, requests: 1000 } };
const connect = (standIn: StandIn, token = 'a-token'): DnsProvider => connectTo(fast, { token, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Gandi (stand-in)', async () => {
  const standIn = await startGandi();
  standIn.state.page = 2;
  const [provider, stranger] = [connect(standIn), connect(standIn, 'wrong')];
  return { provider, definition: gandi, zone, standIn, stranger, stop: standIn.stop };
});

describe('Gandi', () => {
  const vendor = standInFor(startGandi, connect);
  const a = (host: string, value: string) => dnsRecord({ type: 'A', host, value, ttl: 300 }, zone.name);
  const put = (rrset_name: string, rrset_type: string, ...rrset_values: string[]) =>
    vendor.standIn.state.sets.push({ rrset_name, rrset_type, rrset_ttl: 300, rrset_values });

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /could not verify/ });
    const gone = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(gone), { kind: 'not_found', message: /could not be found/ });
    const [missing] = await vendor.provider.apply(gone, [{ op: 'create', after: a('www', '192.0.2.1') }]);
    assert.ok(missing && !missing.ok && missing.error.kind === 'not_found');
    const [outcome] = await vendor.provider.apply(zone, [
      { op: 'create', after: { ...a('low', '192.0.2.1'), ttl: 5 } },
    ]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    assert.match(outcome.error.message, /rrset_ttl: 5 is less than minimum/);
  });

  it('finds a zone by its exact name', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('absent.example'), null);
    assert.deepEqual(
      (await vendor.provider.listZones()).map(({ id }) => id),
      ['contract.example', 'other.example'],
    );
  });

  it('reads names without dot as relative to the zone, and writes them absolute', async () => {
    put('www', 'CNAME', 'web');
    put('self', 'CNAME', '@');
    put('mail', 'MX', '10 mx', '20 mx.example.net.');
    const listed = await vendor.provider.listRecords(zone);
    const values = (host: string) => listed.filter((r) => r.host === host).map((r) => r.value);
    assert.deepEqual(values('www'), ['web.contract.example']);
    assert.deepEqual(values('self'), ['contract.example']);
    assert.deepEqual(values('mail'), ['mx.contract.example', 'mx.example.net']);
    const before = listed.find((r) => r.value === 'mx.example.net') as RemoteRecord;
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'delete', before }]);
    assert.ok(outcome?.ok);
    assert.deepEqual(vendor.standIn.state.sets.at(-1)?.rrset_values, ['10 mx.contract.example.']);
    vendor.standIn.state.sets.splice(-3);
  });

  it('reads a set anew that went meanwhile', async () => {
    put('race', 'A', '192.0.2.1');
    const [before] = (await vendor.provider.listRecords(zone)).filter((r) => r.host === 'race');
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => {
      if (request.method === 'DELETE') vendor.standIn.state.sets.pop();
      return handler(request);
    };
    const outcomes = await vendor.provider.apply(zone, [{ op: 'delete', before: before as RemoteRecord }]);
    assert.deepEqual(outcomes, [{ ok: true, remoteId: null }]);
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const [set] = vendor.standIn.state.sets;
    for (const [body, total] of [
      [{}, '0'],
      [[set], '2'],
      [[set], 'x'],
    ] as const) {
      vendor.standIn.handler = ({ query }) => ({
        body: query.page === '1' ? body : [],
        headers: { 'total-count': total },
      });
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    const headers = { 'total-count': '1' };
    vendor.standIn.handler = () => ({ body: [{ ...set, rrset_values: undefined }], headers });
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map(({ host, type, readOnly }) => [host, type, readOnly]),
      [['@', 'NS', true]],
    );
    vendor.standIn.handler = handler;
  });
});
