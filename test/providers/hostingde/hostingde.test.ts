import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { hostingde } from '../../../src/providers/hostingde/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { type StoredRecord, startHostingde, ZONE } from './stand-in.js';

const fast = { ...hostingde, limits: { ...hostingde.limits, requests: 1000 } };
const connect = (standIn: StandIn, auth_token = 'a-key'): DnsProvider =>
  connectTo(fast, { auth_token, endpoint: standIn.url });
const zone = { id: ZONE.id, name: ZONE.name };

providerContract('hosting.de (stand-in)', async () => {
  const standIn = await startHostingde();
  standIn.world.page = 3;
  return {
    ...{ provider: connect(standIn), definition: fast, zone, standIn, stranger: connect(standIn, 'wrong') },
    cannot: {
      'MX with the root': 'hosting.de has a type of its own for it, NULLMX, which is shown only',
      'SRV with the root': 'names have no final dot there',
    },
    stop: standIn.stop,
  };
});

describe('hosting.de', () => {
  const vendor = standInFor(startHostingde, connect);
  beforeEach(() => {
    vendor.standIn.records.splice(2);
    vendor.standIn.zones.splice(1);
    vendor.standIn.world.looks = 0;
    vendor.standIn.requests.length = 0;
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 300, ...more }, zone.name);
  const outcomes = async (...changes: Change[]) =>
    (await vendor.provider.apply(zone, changes)).map((o) => (o.ok ? 'ok' : `${o.error.kind}: ${o.error.message}`));
  const at = async (host: string) =>
    (await vendor.provider.listRecords(zone)).filter((r) => r.host === host) as [RemoteRecord, ...RemoteRecord[]];
  const writes = () =>
    vendor.standIn.requests.flatMap(({ path, body }) => {
      const { authToken: _token, zoneConfigId: _zone, ...rest } = body as Record<string, unknown>;
      return path === '/recordsUpdate' ? [rest] : [];
    });
  const stored = (more: Partial<StoredRecord>): StoredRecord => ({
    ...{ id: 'r1', zoneConfigId: ZONE.id, name: 'www.contract.example', type: 'A', content: '192.0.2.1', ttl: 300 },
    ...{ priority: null, comments: '', recordTemplateId: null, ...more },
  });

  it('says in its words what is refused, all with a status of 200', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /authToken is invalid/ });
    const missing = { id: 'none', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /no such zone/ });
    const [low] = await outcomes({ op: 'create', after: record('A', '192.0.2.1', { ttl: 5 }) });
    assert.match(low ?? '', /^rejected: .*TTL is out of range: 5 \(code 20012\)/);
  });

  it('lists the zones that are written here', async () => {
    vendor.standIn.zones.push(
      { ...ZONE, id: 'z2', name: 'xn--bcher-kva.example' },
      { ...ZONE, id: 'z3', name: 'mirror.example', type: 'SLAVE' },
      { ...ZONE, id: 'z4', name: 'deleted.example', status: 'restorable' },
    );
    const names = (await vendor.provider.listZones()).map(({ name }) => name);
    assert.deepEqual(names, ['contract.example', 'xn--bcher-kva.example']);
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('deleted.example'), null);
  });

  it('waits until the zone has carried a write out, and takes no write of its own meanwhile', async () => {
    vendor.standIn.world.looks = 2;
    assert.deepEqual(
      (
        await Promise.all(['192.0.2.1', '192.0.2.2'].map((v) => outcomes({ op: 'create', after: record('A', v) })))
      ).flat(),
      ['ok', 'ok'],
    );
    assert.equal(writes().length, 2);
    const { handler } = vendor.standIn;
    const text = 'The current status of an object you are trying to use does not allow that operation.';
    const busy = { body: { status: 'error', errors: [{ code: 10205, text, value: 'blocked' }] } };
    let refusals = 2;
    // somebody else's write is under way
    vendor.standIn.handler = (request) =>
      request.path === '/recordsUpdate' && refusals-- > 0 ? busy : handler(request);
    assert.deepEqual(await outcomes({ op: 'create', after: record('A', '192.0.2.3') }), ['ok']);
    refusals = 100;
    const [always] = await outcomes({ op: 'create', after: record('A', '192.0.2.4') });
    assert.match(always ?? '', /^rate_limit: .*status of an object/);
    vendor.standIn.handler = handler;
  });

  it('sends back of a record what the change does not name', async () => {
    const theirs = { comments: 'ours', recordTemplateId: 't1', lockedBy: 'somebody' };
    vendor.standIn.records.push(stored(theirs));
    const [before] = await at('www');
    vendor.standIn.records.splice(2, 1, stored({ ...theirs, ttl: 900 }));
    assert.deepEqual(await outcomes({ op: 'update', before, after: { ...before, value: '192.0.2.9' } }), ['ok']);
    const expected = { ...stored({ ...theirs, ttl: 900 }), content: '192.0.2.9' };
    assert.deepEqual(writes(), [{ recordsToModify: [expected] }]);
  });

  it('sends names without final dot, texts quoted, priorities beside the value', async () => {
    for (const [after, expected] of [
      [record('MX', 'mx.example.net', { host: '@', priority: 10 }), { content: 'mx.example.net', priority: 10 }],
      [record('SRV', '5 5060 sip.example.net', { priority: 1 }), { content: '5 5060 sip.example.net', priority: 1 }],
      [record('TXT', 'say "hi"'), { content: '"say \\"hi\\""' }],
      [record('CAA', '0 issue "ca.example.net"'), { content: '0 issue "ca.example.net"' }],
    ] as const) {
      assert.deepEqual(await outcomes({ op: 'create', after }), ['ok']);
      const name = after.host === '@' ? 'contract.example' : 'www.contract.example';
      assert.deepEqual(writes().at(-1), { recordsToAdd: [{ name, type: after.type, ttl: 300, ...expected }] });
    }
    vendor.standIn.records.push(stored({ name: 'nomail.contract.example', type: 'NULLMX', content: '' }));
    const [nullMx] = await at('nomail');
    assert.deepEqual([nullMx.type, nullMx.readOnly], ['NULLMX', true]);
  });

  it('carries a list out in one call, and makes no twin', async () => {
    vendor.standIn.records.push(stored({}), stored({ id: 'r2', content: '192.0.2.2' }));
    vendor.standIn.records.push(stored({ id: 'r3', content: '192.0.2.3' }));
    const [one, two] = (await at('www')) as [RemoteRecord, RemoteRecord];
    const changes: Change[] = [
      { op: 'create', after: record('A', '192.0.2.3') },
      // its twin goes with the same list
      { op: 'create', after: record('A', '192.0.2.2') },
      { op: 'update', before: one, after: { ...record('TXT', 'now a text'), host: 'other' } },
      { op: 'delete', before: two },
    ];
    assert.deepEqual(await outcomes(...changes), ['ok', 'ok', 'ok', 'ok']);
    const address = { name: 'www.contract.example', type: 'A', content: '192.0.2.2', ttl: 300 };
    const added = { name: 'other.contract.example', type: 'TXT', content: '"now a text"', ttl: 300 };
    assert.deepEqual(writes(), [{ recordsToAdd: [address, added], recordsToDelete: [{ id: 'r2' }, { id: 'r1' }] }]);
  });
});
