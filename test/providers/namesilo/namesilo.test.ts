import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { namesilo } from '../../../src/providers/namesilo/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startNamesilo } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...namesilo, limits: { ...namesilo.limits, requests: 1000 } };
const connect = (standIn: StandIn, key = 'a-key'): DnsProvider =>
  connectTo(fast, { api_key: key, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('NameSilo (stand-in)', async () => {
  const standIn = await startNamesilo();
  standIn.domains.unshift('a.example', 'b.example', 'c.example');
  standIn.most.page = 2;
  const parking = { host: zone.name, type: 'A', value: '107.161.23.204', ttl: '3603', distance: '0' };
  standIn.records.push({ record_id: '94e84ad42c54cbdcb04b8fd687b018ab', ...parking });
  return {
    provider: connect(standIn),
    stranger: connect(standIn, 'wrong'),
    ...{ definition: namesilo, zone, standIn, stop: standIn.stop },
    ttls: [3600, 7200],
    refuses: ({ type, value }) => type === 'TXT' && (value === '' || value.trim() !== value),
    cannot: { 'MX with the root': 'NameSilo refuses final dots; of a dot alone nothing is known' },
  };
});

describe('NameSilo', () => {
  const vendor = standInFor(startNamesilo, connect);
  beforeEach(() => {
    vendor.standIn.records.length = 0;
    vendor.standIn.requests.length = 0;
  });
  const record = (host: string, type: string, value: string, more = {}) =>
    dnsRecord({ host, type, value, ttl: 3600, ...more }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const answer = (code: number, detail: string, more = '') => ({
    body: `<namesilo><reply><code>${code}</code><detail>${detail}</detail>${more}</reply></namesilo>`,
  });
  async function answering(body: object, work: () => Promise<unknown>) {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => body;
    try {
      await work();
    } finally {
      vendor.standIn.handler = handler;
    }
  }

  it('says in its words what is refused, all with a status of 200, and never the key', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong-key').check(), {
      kind: 'auth',
      message: /Invalid API Key \(code 110\)/,
    });
    const other = { id: 'other.example', name: 'other.example' };
    await assert.rejects(vendor.provider.listRecords(other), { kind: 'not_found', message: /does not belong/ });
    await answering(answer(201, 'Internal system error: a-key'), () =>
      assert.rejects(vendor.provider.listRecords(zone), (error: Error & { kind: string }) => {
        assert.equal(error.kind, 'unavailable');
        assert.ok(!error.message.includes('a-key'));
        return true;
      }),
    );
  });

  it('knows a zone, its end, and one that it does not have', async () => {
    assert.deepEqual(await vendor.provider.findZone?.(zone.name), zone);
    assert.equal(await vendor.provider.findZone?.('other.example'), null);
    assert.equal((await vendor.provider.zoneInfo?.(zone))?.expiresAt, '2018-04-02T00:00:00Z');
  });

  it('gives a record the id that it has after a change', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    const outcome = await one({ op: 'update', before, after: { ...before, value: '192.0.2.2' } });
    assert.ok(outcome?.ok && outcome.remoteId !== before.remoteId);
    assert.equal(outcome.remoteId, vendor.standIn.records[0]?.record_id);
    // the answer was lost, and the same is asked again
    const again = await one({ op: 'update', before, after: { ...before, value: '192.0.2.2' } });
    assert.deepEqual(again, outcome);
    assert.equal(vendor.standIn.records.length, 1);
  });

  it('tells what is gone from what is refused', async () => {
    await one({ op: 'create', after: record('www', 'A', '192.0.2.1') });
    const before = (await vendor.provider.listRecords(zone))[0] as RemoteRecord;
    const low = await one({ op: 'update', before, after: { ...before, ttl: 60 } });
    assert.ok(low && !low.ok && low.error.kind === 'rejected' && /invalid ttl/.test(low.error.message));
    vendor.standIn.records.length = 0;
    const gone = await one({ op: 'update', before, after: { ...before, ttl: 7200 } });
    assert.ok(gone && !gone.ok && gone.error.kind === 'not_found');
  });

  it('waits while another call of the account is worked on', async () => {
    const { handler } = vendor.standIn;
    let refused = 0;
    vendor.standIn.handler = (request) =>
      refused++ === 0 ? answer(400, 'Existing API request is still processing') : handler(request);
    assert.deepEqual(await vendor.provider.listRecords(zone), []);
    vendor.standIn.handler = handler;
    assert.equal(refused, 2);
  });

  it('shows what it cannot write read-only, and names beside the zone not at all', async () => {
    const row = { ttl: '7207', distance: '10' };
    vendor.standIn.records.push(
      { ...row, record_id: '1', type: 'SRV', host: `_sip._tcp.${zone.name}`, value: '5 5060 sip.example.net' },
      { ...row, record_id: '2', type: 'CAA', host: zone.name, value: '0 issue ca.example.net' },
      { ...row, record_id: '3', type: 'A', host: 'notcontract.example', value: '192.0.2.1' },
    );
    const list = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      list.map((r) => [r.remoteId, r.host, r.readOnly]),
      [
        ['1', '_sip._tcp', true],
        ['2', '@', true],
      ],
    );
  });

  it('takes a list that is cut for an error', async () => {
    const row = '<resource_record><record_id>1</record_id><type>A</type>';
    const pager = '<pager><total>9</total></pager>';
    for (const body of [{ body: '' }, { body: '<namesilo></namesilo>' }, answer(300, 'success', row)])
      await answering(body, () =>
        assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body)),
      );
    await answering(answer(300, 'success', `${row}</resource_record>`), async () =>
      assert.deepEqual(
        (await vendor.provider.listRecords(zone)).map(({ host, type, readOnly }) => [host, type, readOnly]),
        [['@', 'A', true]],
      ),
    );
    for (const more of ['', pager, `<domains/>${pager}`, '<domains><domain>a.example</domain></domains><pager/>'])
      await answering(answer(300, 'success', more), () =>
        assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }, more),
      );
    await answering(answer(300, 'success', '<domains><domain>a.example</domain></domains>'), async () =>
      assert.deepEqual(await vendor.provider.listZones(), [{ id: 'a.example', name: 'a.example' }]),
    );
  });
});
