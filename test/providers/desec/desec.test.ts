import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import type { Connected } from '../../../src/providers/connect.js';
import { desec } from '../../../src/providers/desec/declaration.js';
import type { DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { type Answer, connectTo, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startDesec } from './stand-in.js';

/** The same without the limits of calls, which only make a test wait. */
const fast = { ...desec, limits: { ...desec.limits, requests: 5000, more: [] } };
const connect = (endpoint: string, token = 'a-token') => connectTo(fast, { token, endpoint }) as Connected;
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('deSEC (stand-in)', async () => {
  const standIn = await startDesec();
  standIn.most.page = 2;
  const stranger = connect(standIn.url, 'another-token');
  return {
    ...{ provider: connect(standIn.url), definition: fast, zone, standIn, stranger, stop: standIn.stop },
    setPages: (length) => {
      standIn.most.page = length === 'long' ? 500 : 2;
    },
  };
});

describe('deSEC', () => {
  const vendor = standInFor(startDesec, (standIn) => connect(standIn.url));
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.most.page = 500;
    vendor.standIn.sets.splice(0, vendor.standIn.sets.length - 1);
  });
  const at = (host: string, type: string, value: string, more: object = {}) =>
    dnsRecord({ host, type, value, ttl: 3600, ...more }, zone.name);
  const writes = () => vendor.standIn.requests.filter((request) => request.method !== 'GET');
  const listed = (of: DnsProvider = vendor.provider): Promise<RemoteRecord[]> => of.listRecords(zone);
  const answering = async (answer: Answer, body: () => Promise<unknown>) => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = () => answer;
    await body().finally(() => {
      vendor.standIn.handler = handler;
    });
  };

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn.url, 'wrong').check(), { kind: 'auth', message: /Invalid token/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), {
      kind: 'not_found',
      message: /No Domain matches/,
    });
    const [low, odd] = await vendor.provider.apply(
      zone,
      [at('a', 'A', '192.0.2.1', { ttl: 60 }), at('b', 'A', '192.0.2.2')].map((after) => ({ op: 'create', after })),
      { atomic: true },
    );
    assert.ok(low && !low.ok && odd && !odd.ok);
    assert.match(low.error.message, /ttl: Ensure this value is greater than or equal to 3600/);
    assert.equal(vendor.standIn.sets.length, 1);
  });

  it('writes a list in one call, and what goes with what comes', async () => {
    await vendor.provider.apply(zone, [
      { op: 'create', after: at('a', 'A', '192.0.2.1') },
      { op: 'create', after: at('@', 'MX', 'mx.example.net', { priority: 10 }) },
    ]);
    assert.equal(writes().length, 1);
    assert.deepEqual(writes()[0]?.body, [
      { subname: 'a', type: 'A', ttl: 3600, records: ['192.0.2.1'] },
      { subname: '', type: 'MX', ttl: 3600, records: ['10 mx.example.net.'] },
    ]);
    const before = (await listed()).find((r) => r.host === 'a') as RemoteRecord;
    const [outcome] = await vendor.provider.apply(zone, [
      { op: 'update', before, after: at('a', 'CNAME', 'b.example.net') },
    ]);
    assert.ok(outcome?.ok);
    assert.equal(writes().length, 2);
    assert.equal((await listed()).find((r) => r.host === 'a')?.remoteId, outcome.remoteId);
  });

  it('finds a zone by its exact name, and tells its least TTL', async () => {
    assert.deepEqual(await vendor.provider.findZone(zone.name), zone);
    assert.equal(await vendor.provider.findZone(`www.${zone.name}`), null);
    assert.equal(await vendor.provider.findZone('x.example'), null);
    assert.equal((await vendor.provider.zoneInfo(zone))?.minTtl, 3600);
    assert.deepEqual(
      (await vendor.provider.listZones()).map(({ name }) => name),
      ['other.example', zone.name],
    );
  });

  it('asks for pages from the first on, and takes one that is missing for an error', async () => {
    for (const i of [1, 2, 3, 4, 5])
      vendor.standIn.sets.unshift({ subname: `n${i}`, type: 'A', ttl: 3600, records: ['192.0.2.1'] });
    vendor.standIn.most.page = 2;
    assert.equal((await listed()).length, 7);
    assert.equal(vendor.standIn.requests[0]?.query.cursor, '');
    const first = '<https://desec.io/api/v1/domains/x/rrsets/?cursor=>; rel="first"';
    for (const body of [undefined, {}, { detail: 'ok' }, null])
      await answering({ body, headers: { link: first } }, () => assert.rejects(listed(), { kind: 'unavailable' }));
    await answering({ body: [{ subname: 'a' }], headers: { link: first } }, async () =>
      assert.deepEqual(
        (await listed()).map(({ host, readOnly }) => [host, readOnly]),
        [['a', true]],
      ),
    );
    // the same page for ever, and a next one without its cursor
    const page = [{ name: `${zone.name}.`, subname: '', type: 'NS', ttl: 3600, records: ['ns1.desec.io.'] }];
    for (const next of ['?cursor=abc', '?page=2']) {
      const link = `<https://desec.io/api/v1/x/${next}>; rel="next"`;
      await answering({ body: page, headers: { link } }, () => assert.rejects(listed(), { kind: 'unavailable' }));
    }
  });
});
