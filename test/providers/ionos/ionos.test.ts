import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { ionos } from '../../../src/providers/ionos/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { type Answer, connectTo, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type Stored, startIonos } from './stand-in.js';

/** The same without the limit of calls a second, which only makes a test wait. */
const fast = { ...ionos, limits: { ...ionos.limits, requests: 5000 } };
const connect = (endpoint: string, api_key = 'a-prefix.a-secret'): DnsProvider =>
  connectTo(fast, { api_key, endpoint });
const zone = { id: '4c9feb47-2a4d-11ec-bda4-0a5864441f49', name: 'contract.example' };
const ns: Stored = {
  ...{ id: 'ns-1', name: zone.name, rootName: zone.name, type: 'NS', content: 'ns1088.ui-dns.org' },
  ...{ changeDate: '2021-03-31T09:05:53.908Z', ttl: 86400, disabled: false },
};

providerContract('IONOS (stand-in)', async () => {
  const standIn = await startIonos();
  standIn.records.push(
    { ...ns },
    {
      ...ns,
      id: 'soa',
      type: 'SOA',
      content: 'ns1088.ui-dns.org hostmaster.1und1.com 2017060775 28800 7200 604800 600',
    },
  );
  const stranger = connect(standIn.url, 'another-prefix.key');
  const unknown = 'no source tells how IONOS writes it, or whether it takes it';
  return {
    ...{ provider: connect(standIn.url), definition: fast, zone, standIn, stranger, stop: standIn.stop },
    cannot: { 'MX with the root': unknown, 'SRV with the root': unknown },
  };
});

describe('IONOS', () => {
  const vendor = standInFor(startIonos, (standIn) => connect(standIn.url));
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.records.splice(0, vendor.standIn.records.length, { ...ns });
  });
  const www = (type: string, value: string, more: object = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(zone, [change]);
    assert.ok(outcome);
    return outcome;
  };
  const find = async (host: string): Promise<RemoteRecord> => {
    const found = (await vendor.provider.listRecords(zone)).find((record) => record.host === host);
    assert.ok(found, host);
    return found;
  };
  const answering = async (answer: Answer, body: () => Promise<unknown>) => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => answer;
    await body().finally(() => {
      vendor.standIn.handler = handler;
    });
  };
  const sent = () => vendor.standIn.requests.at(-1)?.body;

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn.url, 'wrong').check(), { kind: 'auth', message: /not authorized/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x', name: 'x.example' }), {
      kind: 'not_found',
      message: /Zone does not exist/,
    });
    const refused = await one({ op: 'create', after: www('A', '192.0.2.1', { ttl: 30 }) });
    assert.ok(!refused.ok && refused.error.kind === 'rejected' && /Invalid ttl/.test(refused.error.message));
    // the documentation has a record that is gone with HTTP 500
    const gone = { status: 500, body: [{ code: 'RECORD_NOT_FOUND', message: 'Record does not exist.' }] };
    await answering(gone, async () => {
      const before = { ...www('A', '192.0.2.1'), remoteId: 'x', readOnly: false };
      assert.deepEqual(await one({ op: 'delete', before }), { ok: true, remoteId: null });
    });
  });

  it('sends plain texts as they are, and others as it answers them', async () => {
    for (const [value, content] of [
      ['v=spf1 -all', 'v=spf1 -all'],
      ['say "hi"', '"say \\"hi\\""'],
      [' x', '" x"'],
      ['ü', '"\\195\\188"'],
      ['', '""'],
      ['x'.repeat(256), `"${'x'.repeat(255)}" "x"`],
    ]) {
      const outcome = await one({ op: 'create', after: { ...www('TXT', 'x'), value: value as string } });
      assert.ok(outcome.ok);
      assert.equal((sent() as Stored[])[0]?.content, content);
      const before = await find('www');
      assert.equal(before.value, value);
      await one({ op: 'delete', before });
    }
  });

  it('sends preferences and ports apart, and what is disabled', async () => {
    await one({ op: 'create', after: { ...www('SRV', '5 5060 sip.example.net', { priority: 1 }), enabled: false } });
    const record = { type: 'SRV', content: '5 5060 sip.example.net', ttl: 300, prio: 1, disabled: true };
    assert.deepEqual(sent(), [{ name: 'www.contract.example', ...record }]);
    const before = await find('www');
    assert.deepEqual([before.enabled, before.priority, before.value], [false, 1, '5 5060 sip.example.net']);
    const { remoteId, readOnly: _, ...after } = before;
    assert.deepEqual(await one({ op: 'update', before, after: { ...after, enabled: true } }), { ok: true, remoteId });
    const { type: _type, ...part } = record;
    assert.deepEqual(sent(), { ...part, disabled: false });
  });

  it('does not make again what is there: IONOS would give it another id', async () => {
    const after = www('A', '192.0.2.1');
    const [first, second] = [await one({ op: 'create', after }), await one({ op: 'create', after })];
    assert.deepEqual(second, first);
    assert.equal(vendor.standIn.requests.filter((r) => r.method === 'POST').length, 1);
    const again = await one({ op: 'create', after: { ...after, ttl: 600 } });
    assert.deepEqual(again, first);
    assert.equal((await find('www')).ttl, 600);
  });

  it('takes a list that is cut for an error', async () => {
    for (const body of [undefined, {}, { records: {} }, { records: null }]) {
      await answering({ body }, () => assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }));
    }
    await answering({ body: { records: [{ ...ns, content: null }] } }, async () =>
      assert.deepEqual(
        (await vendor.provider.listRecords(zone)).map(({ host, type, readOnly }) => [host, type, readOnly]),
        [['@', 'NS', true]],
      ),
    );
    await answering({ body: {} }, () => assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }));
  });
});
