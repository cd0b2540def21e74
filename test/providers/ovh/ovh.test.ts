import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { ovh } from '../../../src/providers/ovh/declaration.js';
import type { DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startOvh } from './stand-in.js';

/** The same without the limit of calls a second, which only makes a test wait. */
const fast = { ...ovh, limits: { ...ovh.limits, requests: 5000 } };
const KEYS = { application_key: 'an-application', application_secret: 'a-secret', consumer_key: 'a-consumer-key' };
const connect = (endpoint: string, consumer_key = KEYS.consumer_key): DnsProvider =>
  connectTo(fast, { ...KEYS, region: 'eu', consumer_key, endpoint });
const zone = { id: 'contract.example', name: 'contract.example' };
const ns = { fieldType: 'NS', subDomain: '', target: 'dns103.ovh.net.', ttl: 3600, zone: zone.name };

providerContract('OVHcloud (stand-in)', async () => {
  const standIn = await startOvh();
  standIn.stored.push({ ...ns, id: 1 }, { ...ns, id: 2, target: 'ns103.ovh.net.' });
  const stranger = connect(standIn.url, 'another-key');
  return { provider: connect(standIn.url), definition: fast, zone, standIn, stranger, stop: standIn.stop };
});

describe('OVHcloud', () => {
  const vendor = standInFor(startOvh, (standIn) => connect(standIn.url));
  beforeEach(() => {
    vendor.standIn.requests.length = 0;
    vendor.standIn.stored.length = 0;
  });
  const www = (more: object = {}) =>
    dnsRecord({ host: 'www', type: 'A', value: '192.0.2.1', ttl: 300, ...more }, zone.name);
  const listed = async (): Promise<RemoteRecord[]> => vendor.provider.listRecords(zone);
  const sent = (what: RegExp) => vendor.standIn.requests.filter((r) => what.test(`${r.method} ${r.path}`));

  /** What the stand-in answers to some requests, others as ever. */
  const answering = async (
    what: RegExp,
    answer: Awaited<ReturnType<StandIn['handler']>>,
    body: () => Promise<unknown>,
  ) => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = (request) => (what.test(`${request.method} ${request.path}`) ? answer : handler(request));
    try {
      await body();
    } finally {
      vendor.standIn.handler = handler;
    }
  };

  it('says in its words what is refused', async () => {
    await assert.rejects(connect(vendor.standIn.url, 'wrong').check(), { kind: 'auth', message: /does not exist/ });
    await assert.rejects(vendor.provider.listRecords({ id: 'x.example', name: 'x.example' }), {
      kind: 'not_found',
      message: /This service does not exist/,
    });
    await answering(/./, { status: 400, body: { message: 'Invalid signature', errorCode: 'INVALID_SIGNATURE' } }, () =>
      assert.rejects(vendor.provider.check(), { kind: 'auth' }),
    );
  });

  it('calls the region of the account, and an endpoint of its own before that', () => {
    const regions = ovh.credentials[0]?.find((field) => field.key === 'region');
    assert.deepEqual(regions?.values, ['eu', 'ca', 'us']);
    assert.equal(regions?.address, true);
  });

  it('publishes each list of changes once, and says when that fails', async () => {
    const changes = [www(), www({ value: '192.0.2.2' })].map((after) => ({ op: 'create', after }) as const);
    assert.ok((await vendor.provider.apply(zone, changes)).every((o) => o.ok));
    assert.equal(sent(/refresh/).length, 1);
    assert.deepEqual(vendor.standIn.live, vendor.standIn.stored);
    const [before] = await listed();
    assert.ok(before);
    await answering(/refresh/, { status: 500, body: { message: 'no luck' } }, async () => {
      const [outcome] = await vendor.provider.apply(zone, [{ op: 'delete', before }]);
      assert.ok(outcome && !outcome.ok);
      assert.match(outcome.error.message, /did not put it into DNS: .*no luck/);
      assert.equal(outcome.error.mayHaveApplied, true);
    });
    assert.equal(vendor.standIn.live.length, 2);
    // a list that shows what DNS does not say would end the change as applied
    await answering(/refresh/, { status: 500, body: { message: 'no luck' } }, () =>
      assert.rejects(listed(), /no luck/),
    );
    assert.equal((await listed()).length, 1);
    assert.equal(vendor.standIn.live.length, 1);
    assert.deepEqual(await vendor.provider.apply(zone, [{ op: 'delete', before }]), [{ ok: true, remoteId: null }]);
  });

  it('keeps the TTL of the zone, and texts in the form that they have, when something else changes', async () => {
    vendor.standIn.stored.push({
      ...ns,
      id: 7,
      fieldType: 'DKIM',
      subDomain: 'a._domainkey',
      target: 'v=DKIM1; p=x',
      ttl: 0,
    });
    const [before] = await listed();
    assert.ok(before);
    assert.deepEqual([before.type, before.value, before.ttl], ['TXT', 'v=DKIM1; p=x', 3600]);
    const { remoteId, readOnly: _, ...record } = before;
    await vendor.provider.apply(zone, [{ op: 'update', before, after: { ...record, host: 'b._domainkey' } }]);
    assert.deepEqual(sent(/PUT/)[0]?.body, { subDomain: 'b._domainkey', target: 'v=DKIM1; p=x', ttl: 0 });
    await vendor.provider.apply(zone, [{ op: 'update', before, after: { ...record, ttl: 60 } }]);
    assert.deepEqual(sent(/PUT/)[1]?.body, { subDomain: 'b._domainkey', target: 'v=DKIM1; p=x', ttl: 60 });
    assert.equal(vendor.standIn.stored[0]?.fieldType, 'DKIM');
    assert.equal(remoteId, '7');
  });

  it('reads names without a final dot as relative to the zone', async () => {
    vendor.standIn.stored.push(
      { ...ns, id: 8, fieldType: 'CNAME', subDomain: 'a', target: 'www' },
      { ...ns, id: 9, fieldType: 'MX', target: '10 mail' },
    );
    assert.deepEqual(
      (await listed()).map((r) => [r.value, r.priority]),
      [
        ['www.contract.example', null],
        ['mail.contract.example', 10],
      ],
    );
  });

  it('puts back an alias whose successor is refused', async () => {
    vendor.standIn.stored.push({ ...ns, id: 10, fieldType: 'CNAME', subDomain: 'www', target: 'a.example.net.' });
    const [before] = await listed();
    assert.ok(before);
    await answering(/PUT|nothing/, { status: 400 }, async () => {
      const [outcome] = await vendor.provider.apply(zone, [{ op: 'update', before, after: www({ ttl: 5 }) }]);
      assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected' && outcome.error.mayHaveApplied);
    });
    assert.deepEqual(
      vendor.standIn.stored.map((r) => [r.fieldType, r.target]),
      [['CNAME', 'a.example.net.']],
    );
    const [again] = await listed();
    assert.ok(again);
    const [outcome] = await vendor.provider.apply(zone, [{ op: 'update', before: again, after: www() }]);
    assert.ok(outcome?.ok);
    assert.deepEqual(
      vendor.standIn.live.map((r) => [r.fieldType, r.target]),
      [['A', '192.0.2.1']],
    );
  });

  it('takes a list that is cut for an error', async () => {
    vendor.standIn.stored.push({ ...ns, id: 11 });
    for (const [what, body] of [
      [/record$/, { ids: [] }],
      [/record$/, ['x']],
      [/record$/, null],
      [/record$/, undefined],
      [/record\/11$/, {}],
      [/record\/11$/, undefined],
    ] as const) {
      await answering(what, { body }, () => assert.rejects(listed(), { kind: 'unavailable' }, JSON.stringify(body)));
    }
    // gone between the list and its own call: no word about the zone
    await answering(/record\/11$/, { status: 404, body: { message: 'gone' } }, () =>
      assert.rejects(listed(), { kind: 'unavailable' }),
    );
    await answering(/zone$/, { body: {} }, () => assert.rejects(vendor.provider.listZones(), { kind: 'unavailable' }));
  });
});
