import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { oci } from '../../../src/providers/oci/declaration.js';
import type { Change, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { hashOf, startOci, VIEW } from './stand-in.js';

const pair = () =>
  generateKeyPairSync('rsa', {
    ...{ modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' } },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
const keys = pair();
const account = { tenancy: 't', user: 'u', fingerprint: 'f', private_key: keys.privateKey, region: 'us-ashburn-1' };
const connect = (standIn: StandIn, more = {}, definition = oci) =>
  connectTo(definition, { ...account, compartment: 'ocid1.compartment.oc1..c', endpoint: standIn.url, ...more });
const zone = { id: 'contract.example', name: 'contract.example' };
const start = () => startOci(keys.publicKey);

providerContract('Oracle Cloud DNS (stand-in)', async () => {
  const standIn = await start();
  standIn.most.page = 3;
  return {
    provider: connect(standIn),
    stranger: connect(standIn, { private_key: pair().privateKey }),
    connect: (definition) => connect(standIn, {}, definition),
    cannot: { 'NS at @': 'the name servers of Oracle are protected (recorded 2022)' },
    ...{ definition: oci, zone, standIn, pageSize: 3, stop: standIn.stop },
  };
});

describe('Oracle Cloud DNS', () => {
  const vendor = standInFor(start, connect);
  const mine = () => vendor.standIn.records.filter(({ isProtected }) => !isProtected);
  beforeEach(() => {
    vendor.standIn.records.splice(2);
    vendor.standIn.requests.length = 0;
  });
  const record = (value: string, more = {}) =>
    dnsRecord({ host: 'www', type: 'A', value, ttl: 300, ...more }, zone.name);
  const apply = async (...changes: Change[]) => {
    const outcomes = await vendor.provider.apply(zone, changes);
    assert.ok(outcomes.every(({ ok }) => ok));
  };
  const listed = async () => (await vendor.provider.listRecords(zone)).filter((r) => !r.readOnly) as [RemoteRecord];
  const sent = () => vendor.standIn.requests.filter(({ method }) => method === 'PATCH').at(-1);

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn, { user: 'v' }).check(), { kind: 'auth', message: /required inform/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), {
      ...{ kind: 'not_found', message: /resource not found/ },
    });
    for (const wrong of [{ private_key: 'secret' }, { region: 'x.example/' }]) {
      await assert.rejects(connect(vendor.standIn, wrong).check(), { kind: 'auth' });
    }
  });

  it('writes the records that differ, and names the others only when their TTL changes', async () => {
    await apply({ op: 'create', after: record('192.0.2.1') }, { op: 'create', after: record('192.0.2.2') });
    const [first, second] = mine();
    assert.ok(first && second);
    const before = (await listed()).find(({ value }) => value === '192.0.2.1') as RemoteRecord;
    const add = (rdata: string, ttl: number) => ({
      ...{ operation: 'ADD', domain: 'www.contract.example', rtype: 'A', rdata, ttl },
    });
    await apply({ op: 'update', before, after: { ...before, value: '192.0.2.3' } });
    assert.equal(sent()?.path, '/zones/contract.example/records/www.contract.example');
    const removed = { operation: 'REMOVE', recordHash: hashOf(first) };
    assert.deepEqual(sent()?.body, { items: [removed, add('192.0.2.3', 300)] });
    const other = (await listed()).find(({ value }) => value === '192.0.2.2') as RemoteRecord;
    await apply({ op: 'update', before: other, after: { ...other, ttl: 600 } });
    assert.deepEqual(
      mine().map(({ rdata, ttl }) => [rdata, ttl]),
      [
        ['192.0.2.2', 600],
        ['192.0.2.3', 600],
      ],
    );
  });

  it('leaves what is protected alone, and shows it read-only', async () => {
    const all = await vendor.provider.listRecords(zone);
    assert.deepEqual(
      all.map(({ type, value, readOnly }) => [type, value, readOnly]),
      [['NS', 'ns1.p68.dns.oraclecloud.net.', true]],
    );
    const after = record('ns.example.net', { host: '@', type: 'NS' });
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && /protected/.test(outcome.error.message));
    assert.equal(sent(), undefined);
  });

  it('lists the zones of a view as private ones, by their ids, and finds none by its name', async () => {
    const inside = connect(vendor.standIn, { view_id: VIEW });
    const hidden = { id: 'ocid1.dns-zone.oc1..b', name: 'contract.example', private: true };
    assert.deepEqual(await vendor.provider.listZones(), [zone]);
    assert.deepEqual(await inside.listZones(), [hidden]);
    assert.equal(await inside.findZone?.(zone.name), null);
    assert.equal(await vendor.provider.findZone?.('second.example'), null);
    const [outcome] = await inside.apply(hidden, [{ op: 'create', after: record('192.0.2.1') }]);
    assert.ok(outcome?.ok);
    assert.deepEqual([sent()?.path.split('/')[2], sent()?.query], [hidden.id, { scope: 'PRIVATE' }]);
  });

  it('shows a record without a part read-only, as it came', async () => {
    const { handler } = vendor.standIn;
    const odd = { domain: 'a.contract.example', rtype: 'A', rdata: '192.0.2.1', recordHash: 'b' };
    vendor.standIn.handler = () => ({ body: { items: [odd] } });
    assert.deepEqual(
      (await vendor.provider.listRecords(zone)).map((r) => [r.host, r.type, r.value, r.readOnlyReason]),
      [['a', 'A', JSON.stringify(odd), 'It is not understood here']],
    );
    vendor.standIn.handler = handler;
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const items = [{ domain: 'a.contract.example', rtype: 'A', rdata: '192.0.2.1', ttl: 300, recordHash: 'a' }];
    for (const answer of [
      { body: undefined },
      { body: {} },
      { body: { items }, headers: { 'opc-total-items': '2' } },
      { body: { items: null } },
    ]) {
      vendor.standIn.handler = () => answer;
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    }
    vendor.standIn.handler = handler;
  });
});
