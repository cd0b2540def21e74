import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { scaleway } from '../../../src/providers/scaleway/declaration.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startScaleway } from './stand-in.js';

/** The same without the limit of requests a second, which only makes a test wait. */
const fast = { ...scaleway, limits: { ...scaleway.limits, requests: 1000 } };
const connect = (standIn: StandIn, key = 'a-key'): DnsProvider =>
  connectTo(fast, { secret_key: key, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('Scaleway (stand-in)', async () => {
  const standIn = await startScaleway();
  standIn.state.page = 3;
  const [provider, stranger] = [connect(standIn), connect(standIn, 'wrong')];
  return { provider, definition: scaleway, zone, standIn, stranger, stop: standIn.stop };
});

describe('Scaleway', () => {
  const vendor = standInFor(startScaleway, connect);
  const a = (host: string, value: string) => dnsRecord({ type: 'A', host, value, ttl: 300 }, zone.name);
  const at = async (host: string) => (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const sent = () =>
    vendor.standIn.requests.filter(({ method }) => method === 'PATCH').at(-1)?.body as { changes: object[] };
  const drop = (name: string) => {
    vendor.standIn.state.records = vendor.standIn.state.records.filter((record) => record.name !== name);
  };

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), {
      kind: 'auth',
      message: /authentication is denied/,
    });
    const gone = { id: 'x.example', name: 'x.example' };
    await assert.rejects(vendor.provider.listRecords(gone), { kind: 'not_found', message: /domain not found/ });
    const [outcome] = await vendor.provider.apply(zone, [
      { op: 'create', after: { ...a('low', '192.0.2.1'), ttl: 5 } },
    ]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    assert.match(outcome.error.message, /invalid argument.*changes\.ttl ttl is out of range/);
  });

  it('finds zones by their exact name, with what stands before the domain', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.deepEqual(
      (await vendor.provider.listZones()).map(({ name }) => name),
      ['contract.example', 'eu.contract.example'],
    );
    assert.equal(await vendor.provider.findZone?.('contract'), null);
  });

  it('carries a list out in one call, whose answer may be in any order', async () => {
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after: a('list', '192.0.2.1') }]);
    assert.ok(outcome?.ok);
    const [before] = await at('list');
    const other = await vendor.provider.apply(zone, [{ op: 'create', after: a('gone', '192.0.2.1') }]);
    assert.ok(other[0]?.ok);
    const [gone] = await at('gone');
    const calls = vendor.standIn.requests.length;
    const outcomes = await vendor.provider.apply(zone, [
      { op: 'update', before: before as RemoteRecord, after: a('list', '192.0.2.2') },
      { op: 'create', after: a('list', '192.0.2.3') },
      { op: 'create', after: a('more', '192.0.2.4') },
      { op: 'delete', before: gone as RemoteRecord },
    ]);
    // the record that changes is read before
    assert.equal(vendor.standIn.requests.length, calls + 2);
    const now = [...(await at('list')), ...(await at('more'))];
    const idOf = (value: string) => now.find((r) => r.value === value)?.remoteId;
    const ids = [before?.remoteId, idOf('192.0.2.3'), idOf('192.0.2.4'), null];
    assert.equal(idOf('192.0.2.2'), before?.remoteId);
    assert.deepEqual(
      outcomes,
      ids.map((remoteId) => ({ ok: true, remoteId })),
    );
    assert.deepEqual(await at('gone'), []);
    for (const host of ['list', 'more']) drop(host);
  });

  it('reads and keeps comments, and writes them', async () => {
    const noted = { ...a('noted', '192.0.2.1'), remark: 'of the old host' };
    await vendor.provider.apply(zone, [{ op: 'create', after: noted }]);
    const [before] = await at('noted');
    assert.equal(before?.remark, 'of the old host');
    const update = (after: Partial<RemoteRecord>): Change => ({
      ...{ op: 'update', before: before as RemoteRecord, after: { ...a('noted', '192.0.2.1'), ...after } },
    });
    await vendor.provider.apply(zone, [update({ ttl: 600 })]);
    assert.equal((await at('noted'))[0]?.remark, 'of the old host');
    await vendor.provider.apply(zone, [update({ remark: '' })]);
    assert.equal((await at('noted'))[0]?.remark, '');
    drop('noted');
  });

  it('sends the priority of a MX beside its name, that of a SRV before the rest; a weight of 0 may be missing', async () => {
    const mx = dnsRecord({ type: 'MX', host: 'm', value: 'mx.example.net', priority: 20, ttl: 300 }, zone.name);
    await vendor.provider.apply(zone, [{ op: 'create', after: mx }]);
    const record = { name: 'm', type: 'MX', ttl: 300, data: 'mx.example.net.', priority: 20 };
    assert.deepEqual(sent().changes, [{ add: { records: [record] } }]);
    const srv = dnsRecord(
      { type: 'SRV', host: 'm', value: '0 5060 sip.example.net', priority: 7, ttl: 300 },
      zone.name,
    );
    await vendor.provider.apply(zone, [{ op: 'create', after: srv }]);
    const found = (await at('m')).find((r) => r.type === 'SRV');
    assert.deepEqual([found?.value, found?.priority], [srv.value, 7]);
    drop('m');
  });

  it('shows records that are answered by a rule read-only', async () => {
    const weighted = { weighted_ips: [{ ip: '192.0.2.7', weight: 1 }] };
    vendor.standIn.state.records.push(
      vendor.standIn.record({ name: 'w', type: 'A', data: '192.0.2.1', weighted_config: weighted }),
    );
    const [found] = await at('w');
    assert.equal(found?.readOnly, true);
    assert.match(found?.value ?? '', /^192\.0\.2\.1 by weighted_config .*192\.0\.2\.7/);
    drop('w');
  });

  it('finds what an answer leaves out, and is unclear where it is not there', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = async (request) => {
      const answer = await handler(request);
      return request.method === 'PATCH' ? { body: { records: [] } } : answer;
    };
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after: a('quiet', '192.0.2.1') }]);
    assert.ok(outcome?.ok);
    assert.equal((await at('quiet'))[0]?.remoteId, outcome.remoteId);
    vendor.standIn.handler = (request) => (request.method === 'PATCH' ? { body: { records: [] } } : handler(request));
    const [lost] = await vendor.provider.apply(zone, [{ op: 'create', after: a('lost', '192.0.2.1') }]);
    assert.ok(lost && !lost.ok && lost.error.kind === 'unavailable' && lost.error.mayHaveApplied);
    vendor.standIn.handler = handler;
    drop('quiet');
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const [record] = vendor.standIn.state.records;
    for (const body of [{}, { records: [] }, { records: [record], total_count: 2 }, { total_count: 0 }]) {
      vendor.standIn.handler = (request) =>
        request.query.page === '1' ? { body } : { body: { records: [], total_count: 2 } };
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = handler;
  });
});
