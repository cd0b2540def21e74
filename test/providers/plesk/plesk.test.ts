import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord, type LooseRecord } from '../../../src/dns/record.js';
import { plesk } from '../../../src/providers/plesk/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startPlesk, ZONE } from './stand-in.js';

const fast = { ...plesk, limits: { ...plesk.limits, requests: 1000 } };
const connect = (standIn: StandIn, secret_key = 'a-key'): DnsProvider =>
  connectTo(fast, { url: standIn.url, secret_key });

providerContract('Plesk (stand-in)', async () => {
  const standIn = await startPlesk();
  return {
    ...{ provider: connect(standIn), definition: fast, zone: ZONE, standIn, stranger: connect(standIn, 'wrong') },
    // one TTL for the zone
    ttls: [86400, 86400],
    refuses: ({ type, value }) => type === 'TXT' && /^$|^\s|\s$/.test(value),
    cannot: { 'MX with the root': 'not documented, and refused by the adapter' },
    stop: standIn.stop,
  };
});

describe('Plesk', () => {
  const vendor = standInFor(startPlesk, connect);
  beforeEach(() => {
    vendor.standIn.records.splice(3);
    vendor.standIn.requests.length = 0;
  });

  const record = (type: string, value: string, more: Partial<LooseRecord> = {}) =>
    dnsRecord({ host: 'www', type, value, ttl: 86400, ...more }, ZONE.name);
  const one = async (change: Change) => {
    const [outcome] = await vendor.provider.apply(ZONE, [change]);
    return outcome?.ok ? 'ok' : `${outcome?.error.kind}: ${outcome?.error.message}`;
  };
  const at = async (host: string) =>
    (await vendor.provider.listRecords(ZONE)).filter((r) => r.host === host) as [RemoteRecord, ...RemoteRecord[]];
  const sent = () => vendor.standIn.requests.map(({ body }) => /<dns><(\w+)>/.exec(String(body))?.[1]);

  it('says in its words what is refused, all with a status of 200', async () => {
    await assert.rejects(connect(vendor.standIn, 'wrong').check(), { kind: 'auth', message: /incorrect username/ });
    const user = { url: `${vendor.standIn.url}/`, username: 'somebody', password: 'a-password' };
    assert.deepEqual(await connectTo(fast, user).listZones(), [ZONE]);
    const missing = { id: '99', name: 'none.example' };
    await assert.rejects(vendor.provider.listRecords(missing), { kind: 'not_found', message: /does not exist/ });
    const { handler } = vendor.standIn;
    for (const body of ['', '<packet/>', '<packet><dns/></packet>', '<html></html>']) {
      vendor.standIn.handler = () => ({ body });
      await assert.rejects(vendor.provider.listRecords(ZONE), { kind: 'unavailable' }, body);
    }
    vendor.standIn.handler = handler;
  });

  it('shows a row without an id, and writes nothing of it', async () => {
    await one({ op: 'create', after: record('A', '192.0.2.1') });
    const { handler } = vendor.standIn;
    vendor.standIn.handler = async (request) => {
      const { body, ...answer } = await handler(request);
      return { ...answer, body: String(body).replace(/<id>\d+<\/id>(?=<data><site-id>71<\/site-id><type>A<)/, '') };
    };
    const [odd] = (await vendor.provider.listRecords(ZONE)).filter((r) => r.value.includes('"192.0.2.1"'));
    vendor.standIn.handler = handler;
    assert.ok(odd?.readOnly && odd.readOnlyReason);
    assert.match(odd.remoteId, /^raw-/);
  });

  it('knows a record whose id is too long by another one', async () => {
    const { handler } = vendor.standIn;
    vendor.standIn.handler = async (request) => {
      const { body, ...answer } = await handler(request);
      return {
        ...answer,
        body: String(body).replace(/<id>(\d+)<\/id>/g, (_, id) => `<id>${id.padEnd(300, '0')}</id>`),
      };
    };
    const [outcome] = await vendor.provider.apply(ZONE, [{ op: 'create', after: record('A', '192.0.2.1') }]);
    const [listed] = (await vendor.provider.listRecords(ZONE)).filter((r) => r.value.includes('192.0.2.1'));
    vendor.standIn.handler = handler;
    assert.ok(outcome?.ok && outcome.remoteId && outcome.remoteId.length <= 255);
    assert.deepEqual([listed?.remoteId, listed?.readOnly], [outcome.remoteId, true]);
  });

  it('sends names relative, the priority of an MX beside it, texts as they are', async () => {
    for (const [after, expected] of [
      [
        record('MX', 'mx.example.net', { host: '@', priority: 10 }),
        '<host></host><value>mx.example.net.</value><opt>10',
      ],
      [record('TXT', 'a <b> & "c"'), '<host>www</host><value>a &lt;b&gt; &amp; &quot;c&quot;</value><opt>'],
    ] as const) {
      assert.equal(await one({ op: 'create', after }), 'ok');
      const [add] = vendor.standIn.requests.map(({ body }) => String(body)).filter((body) => body.includes('add_rec'));
      assert.ok(add?.includes(`<site-id>71</site-id><type>${after.type}</type>${expected}`), add);
      vendor.standIn.requests.length = 0;
    }
  });

  it('puts another record in the place of one that changes, and says what its TTL is', async () => {
    const [made] = await vendor.provider.apply(ZONE, [{ op: 'create', after: record('A', '192.0.2.1', { ttl: 300 }) }]);
    assert.ok(made?.ok && made.held?.ttl === 86400);
    const [before] = await at('www');
    assert.match(await one({ op: 'update', before, after: { ...before, ttl: 300 } }), /^rejected: .*one TTL/);
    vendor.standIn.requests.length = 0;
    assert.equal(await one({ op: 'update', before, after: { ...before, value: '192.0.2.2' } }), 'ok');
    assert.deepEqual(sent(), ['get', 'add_rec', 'del_rec']);
    const [now] = await at('www');
    assert.deepEqual([now.value, now.remoteId === before.remoteId], ['192.0.2.2', false]);
  });
});
