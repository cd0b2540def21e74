import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { godaddy } from '../../../src/providers/godaddy/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startGodaddy } from './stand-in.js';

/** The same without the limit of 60 requests a minute, which only makes a test wait. */
const fast = { ...godaddy, limits: { ...godaddy.limits, requests: 1000, perSeconds: 1 } };
const connect = (standIn: StandIn, secret = 'a-secret'): DnsProvider =>
  connectTo(fast, { api_key: 'a-key', api_secret: secret, endpoint: standIn.url });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('GoDaddy (stand-in)', async () => {
  const standIn = await startGodaddy();
  const [provider, stranger] = [connect(standIn), connect(standIn, 'wrong')];
  return { provider, definition: godaddy, zone, standIn, stranger, stop: standIn.stop };
});

describe('GoDaddy', () => {
  const vendor = standInFor(startGodaddy, connect);
  const record = (type: string, host: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ type, host, value, ttl: 600, ...more }, zone.name);
  const done = async (...changes: Change[]) => {
    for (const outcome of await vendor.provider.apply(zone, changes)) assert.ok(outcome.ok, JSON.stringify(outcome));
  };
  const at = async (host: string): Promise<RemoteRecord[]> =>
    (await vendor.provider.listRecords(zone)).filter((r) => r.host === host);
  const held = (name: string) => vendor.standIn.state.rows.filter((row) => row.name === name);

  it('says what is refused in its words, and whom the API is for', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').listZones(), {
      kind: 'auth',
      message: /Could not authenticate/,
    });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), {
      kind: 'not_found',
      message: /not registered/,
    });
    vendor.standIn.state.small = true;
    const words = /not allowed access.*accounts with ten domains/;
    await assert.rejects(vendor.provider.check(), { kind: 'auth', message: words });
    vendor.standIn.state.small = false;
    const [outcome] = await vendor.provider.apply(zone, [
      { op: 'create', after: record('A', 'low', '192.0.2.1', { ttl: 1 }) },
    ]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    assert.match(outcome.error.message, /records\[0\]\.ttl must be at least 600/);
  });

  it('lists domains by marker, those that were given up left out, and tells when one expires', async () => {
    const many = Array.from({ length: 1100 }, (_, i) => ({ domain: `d${1000 + i}.example`, status: 'ACTIVE' }));
    vendor.standIn.state.domains.push(...many);
    const zones = (await vendor.provider.listZones()).map((found) => found.name);
    assert.deepEqual(zones.length, 1101);
    assert.ok(!zones.includes('given-up.example'));
    vendor.standIn.state.domains.splice(-1100);
    assert.equal((await vendor.provider.zoneInfo?.(zone))?.expiresAt, '2031-02-03T04:05:06.000Z');
  });

  it('keeps the TTL of each row whose value alone changes, or that stays', async () => {
    const row = (data: string, ttl: number) => ({ type: 'A', name: 'own', data, ttl });
    vendor.standIn.state.rows.push(row('192.0.2.1', 3600), row('192.0.2.2', 600));
    const before = (await at('own')).find(({ value }) => value === '192.0.2.2') as RemoteRecord;
    await done({ op: 'update', before, after: { ...record('A', 'own', '192.0.2.3'), ttl: before.ttl } });
    assert.deepEqual(held('own'), [row('192.0.2.1', 3600), row('192.0.2.3', 600)]);
    vendor.standIn.state.rows.splice(-2);
  });

  it('keeps other services at the name of a SRV, also when both change at once', async () => {
    const sip = record('SRV', '_sip._tcp.eu', '5 5060 sip.example.net', { priority: 1 });
    const xmpp = record('SRV', '_xmpp._tcp.eu', '5 5222 xmpp.example.net', { priority: 2 });
    await done({ op: 'create', after: sip }, { op: 'create', after: xmpp });
    assert.deepEqual(held('eu'), [
      {
        ...{ type: 'SRV', name: 'eu', service: '_sip', protocol: '_tcp', ttl: 600 },
        ...{ priority: 1, weight: 5, port: 5060, data: 'sip.example.net' },
      },
      {
        ...{ type: 'SRV', name: 'eu', service: '_xmpp', protocol: '_tcp', ttl: 600 },
        ...{ priority: 2, weight: 5, port: 5222, data: 'xmpp.example.net' },
      },
    ]);
    const [before] = await at('_sip._tcp.eu');
    await done({ op: 'delete', before: before as RemoteRecord });
    assert.deepEqual(await at('_sip._tcp.eu'), []);
    const [left] = await at('_xmpp._tcp.eu');
    assert.deepEqual([left?.value, left?.priority], [xmpp.value, 2]);
    await done({ op: 'delete', before: left as RemoteRecord });
    assert.deepEqual(held('eu'), []);
  });

  it("takes the zone's own name for @, and shows what it does not write", async () => {
    const own = record('CNAME', 'own', zone.name);
    await done({ op: 'create', after: own });
    assert.equal(held('own')[0]?.data, '@');
    const [found] = await at('own');
    assert.equal(found?.value, zone.name);
    await done({ op: 'delete', before: found as RemoteRecord });
    vendor.standIn.state.rows.push({
      type: 'CAA',
      name: 'caa',
      data: 'ca.example.net',
      flags: 0,
      tag: 'issue',
      ttl: 600,
    });
    const [caa] = await at('caa');
    assert.deepEqual([caa?.value, caa?.readOnly], ['0 issue "ca.example.net"', true]);
    vendor.standIn.state.rows.pop();
  });

  it('reads all of a zone that is longer than a page', async () => {
    const rows = Array.from({ length: 1234 }, (_, i) => ({ type: 'A', name: `h${i}`, data: '192.0.2.1', ttl: 600 }));
    vendor.standIn.state.rows.push(...rows);
    const listed = await vendor.provider.listRecords(zone);
    assert.equal(listed.filter((r) => /^h\d/.test(r.host)).length, 1234);
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (request.query.offset === '2' ? { status: 500 } : handler(request));
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = () => ({ body: {} });
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' });
    vendor.standIn.handler = handler;
    vendor.standIn.state.rows.splice(-1234);
  });

  it('reads all of a zone whose last page is full', async () => {
    const { state } = vendor.standIn;
    for (const length of [500, 1000]) {
      const more = length - state.rows.length;
      const rows = Array.from({ length: more }, (_, i) => ({ type: 'A', name: `h${i}`, data: '192.0.2.1', ttl: 600 }));
      state.rows.push(...rows);
      assert.equal((await at(`h${more - 1}`)).length, 1, `${length}`);
      state.rows.splice(-more);
    }
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
  });

  it('takes a refused page for the end of the list only behind a full page, and when it is refused twice', async () => {
    const { state } = vendor.standIn;
    const { handler } = vendor.standIn;
    const rows = Array.from({ length: 1234 }, (_, i) => ({ type: 'A', name: `h${i}`, data: '192.0.2.1', ttl: 600 }));
    state.rows.push(...rows);
    const refused = { status: 422, body: { code: 'INVALID_VALUE', message: 'try it again' } };
    for (const offset of ['2', '3']) {
      let left = 1;
      vendor.standIn.handler = (request) =>
        request.query.offset === offset && left-- > 0 ? refused : handler(request);
      const listed = await vendor.provider.listRecords(zone);
      assert.equal(listed.filter((r) => /^h\d/.test(r.host)).length, 1234, `the page ${offset} is refused by chance`);
    }
    state.rows.splice(-1234);
    // a list that is shorter than a page has no other
    vendor.standIn.handler = () => refused;
    await assert.rejects(vendor.provider.listRecords(zone), { kind: 'rejected' });
    vendor.standIn.handler = handler;
  });

  it('writes beside a parked address, and never sends it back', async () => {
    const parked = { type: 'A', name: '@', data: 'Parked', ttl: 600 };
    vendor.standIn.state.rows.push(parked);
    const [shown] = (await at('@')).filter(({ type }) => type === 'A');
    assert.deepEqual([shown?.value, shown?.readOnly], ['Parked', true]);
    assert.match(shown?.readOnlyReason ?? '', /parked/);
    await done({ op: 'create', after: record('A', '@', '192.0.2.1') });
    const addresses = () => held('@').filter(({ type }) => type === 'A');
    assert.deepEqual(addresses(), [{ ...parked, data: '192.0.2.1' }]);
    vendor.standIn.state.rows.push(parked);
    const [own] = (await at('@')).filter(({ value }) => value === '192.0.2.1');
    assert.equal(own?.readOnly, false);
    await done({ op: 'delete', before: own as RemoteRecord });
    assert.deepEqual(addresses(), []);
  });

  it('shows what it does not understand, and writes no service that such a row is of', async () => {
    const service = { type: 'SRV', name: 'eu', service: '_sip', protocol: '_tcp', ttl: 600 };
    const odd = [
      { type: 'A', data: '192.0.2.1', ttl: 600 },
      { ...service, data: { form: 'of next year' } },
    ] as unknown as typeof vendor.standIn.state.rows;
    vendor.standIn.state.rows.push(...odd);
    const shown = (await vendor.provider.listRecords(zone)).filter((r) => r.readOnly);
    assert.deepEqual(
      shown.map((r) => [r.host, r.type, JSON.parse(r.value)]),
      [
        ['_sip._tcp.eu', 'SRV', odd[1]],
        ['@', 'A', odd[0]],
      ],
    );
    const after = record('SRV', '_sip._tcp.eu', '5 5060 sip.example.net', { priority: 1 });
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'create', after }]);
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    assert.deepEqual(held('eu'), [odd[1]]);
    vendor.standIn.state.rows.splice(-2);
  });

  it('replaces a set by its type and name alone', () => {
    const writes = vendor.standIn.requests.filter(({ method }) => method !== 'GET');
    assert.ok(writes.length > 0);
    assert.ok(writes.every(({ path }) => /^\/v1\/domains\/[^/]+\/records\/[A-Z]+\/[^/]+$/.test(path)));
  });
});
