import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { googlecloud } from '../../../src/providers/googlecloud/declaration.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startGooglecloud } from './stand-in.js';

/** The same without the limit of 10 requests a second, which only makes a test wait. */
const fast = { ...googlecloud, limits: { ...googlecloud.limits, requests: 1000 } };
const connect = (standIn: StandIn, account: string, project?: string): DnsProvider =>
  connectTo(fast, { service_account: account, ...(project && { project }), endpoint: standIn.url });
const zone = { id: '5511111111111111111', name: 'contract.example' };
/** A key of somebody else with the same names. */
const foreign = (account: string) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return JSON.stringify({ ...JSON.parse(account), private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) });
};

providerContract('Google Cloud DNS (stand-in)', async () => {
  const standIn = await startGooglecloud();
  standIn.state.page = 2;
  const stranger = connect(standIn, foreign(standIn.account));
  const provider = connect(standIn, standIn.account);
  return {
    ...{ provider, definition: googlecloud, zone, standIn, stranger, stop: standIn.stop },
    setPages: (length) => {
      standIn.state.page = length === 'long' ? 1000 : 2;
    },
  };
});

describe('Google Cloud DNS', () => {
  const vendor = standInFor(startGooglecloud, (standIn) => connect(standIn, standIn.account));
  const a = (host: string, value: string) => dnsRecord({ type: 'A', host, value, ttl: 300 }, zone.name);
  const one = async (change: Change) => (await vendor.provider.apply(zone, [change]))[0];
  const set = (name: string, more: object = {}) => ({
    ...{ name: `${name}.contract.example.`, type: 'A', ttl: 300, rrdatas: ['192.0.2.1'] },
    ...more,
  });
  const drop = (name: string) => {
    vendor.standIn.state.sets = vendor.standIn.state.sets.filter((held) => held.name !== `${name}.contract.example.`);
  };

  it('fetches one token for all calls, and another one when it has expired, or is refused', async () => {
    const asked = async (body: () => Promise<unknown>) => {
      const before = vendor.standIn.state.asked;
      await body();
      return vendor.standIn.state.asked - before;
    };
    const mine = connect(vendor.standIn, vendor.standIn.account);
    assert.equal(await asked(() => Promise.all([mine.check(), mine.listZones(), mine.listRecords(zone)])), 1);
    assert.equal(await asked(() => mine.check()), 0);
    vendor.standIn.state.tokens.length = 0;
    assert.equal(await asked(() => mine.check()), 1);
    vendor.standIn.state.seconds = 0;
    const hasty = connect(vendor.standIn, vendor.standIn.account);
    assert.equal(await asked(async () => [await hasty.check(), await hasty.check()]), 2);
    vendor.standIn.state.seconds = 3599;
  });

  it('says what is refused, and nothing of the key', async () => {
    const wrong = connect(vendor.standIn, foreign(vendor.standIn.account));
    await assert.rejects(wrong.check(), { kind: 'auth', message: /Invalid JWT Signature/ });
    await assert.rejects(connect(vendor.standIn, '{"private_key": "abc').check(), (error: Error & { kind: string }) => {
      assert.equal(error.kind, 'auth');
      assert.doesNotMatch(error.message, /abc/);
      return true;
    });
    const elsewhere = connect(vendor.standIn, vendor.standIn.account, 'another');
    await assert.rejects(elsewhere.listZones(), { kind: 'not_found' });
    await assert.rejects(vendor.provider.listRecords({ id: '1', name: 'x.example' }), { kind: 'not_found' });
    const outcome = await one({ op: 'create', after: a('@', '192.0.2.1') });
    assert.ok(outcome?.ok);
    const before = (await vendor.provider.listRecords(zone)).find((r) => r.type === 'NS') as RemoteRecord;
    const refused = await one({ op: 'delete', before });
    assert.ok(
      refused && !refused.ok && refused.error.kind === 'rejected' && /apex must have NS/.test(refused.error.message),
    );
  });

  it('finds public zones by their exact name', async () => {
    assert.deepEqual(await vendor.provider.findZone?.('contract.example'), zone);
    assert.equal(await vendor.provider.findZone?.('absent.example'), null);
    const zones = (await vendor.provider.listZones()).map((one) => [one.id, one.private]);
    assert.deepEqual(zones.slice(0, 2), [
      ['7', true],
      [zone.id, undefined],
    ]);
  });

  it('changes nothing that was changed meanwhile, but reads it again', async () => {
    for (const meanwhile of [{ rrdatas: ['192.0.2.1', '192.0.2.7'] }, { ttl: 60 }, null]) {
      vendor.standIn.state.sets.push(set('race'));
      const { handler } = vendor.standIn;
      vendor.standIn.handler = (request) => {
        if (request.method === 'POST' && request.path.endsWith('/changes')) {
          drop('race');
          if (meanwhile) vendor.standIn.state.sets.push(set('race', meanwhile));
          vendor.standIn.handler = handler;
        }
        return handler(request);
      };
      assert.ok((await one({ op: 'create', after: a('race', '192.0.2.2') }))?.ok);
      const values = (await vendor.provider.listRecords(zone)).filter((r) => r.host === 'race').map((r) => r.value);
      const others = meanwhile ? (meanwhile.rrdatas ?? ['192.0.2.1']) : [];
      assert.deepEqual(values.toSorted(), [...others, '192.0.2.2'].toSorted());
      drop('race');
    }
  });

  it('shows sets that a policy routes read-only, texts too, and leaves them alone', async () => {
    const routingPolicy = { wrr: { items: [{ weight: 1, rrdatas: ['"a"'] }] } };
    vendor.standIn.state.sets.push(set('routed', { type: 'TXT', rrdatas: undefined, routingPolicy }));
    const [found] = (await vendor.provider.listRecords(zone)).filter((r) => r.host === 'routed');
    assert.deepEqual([found?.readOnly, /^routed: .*wrr/.test(found?.value ?? '')], [true, true]);
    const after = dnsRecord({ host: 'routed', type: 'TXT', value: 'mine' }, zone.name);
    const outcome = await one({ op: 'create', after });
    assert.ok(outcome && !outcome.ok && outcome.error.kind === 'rejected');
    drop('routed');
  });

  it('carries a list out whole or not at all', async () => {
    const list: Change[] = ['x', 'y'].map((host) => ({ op: 'create', after: a(host, '192.0.2.1') }));
    const cname = dnsRecord({ host: '@', type: 'CNAME', value: 'a.example.net' }, zone.name);
    const outcomes = await vendor.provider.apply(zone, [...list, { op: 'create', after: cname }], { atomic: true });
    assert.ok(outcomes.every((outcome) => !outcome.ok));
    assert.ok(!vendor.standIn.state.sets.some((held) => held.name.startsWith('x.')));
  });

  it('takes a list that is cut for an error', async () => {
    const { handler } = vendor.standIn;
    const soa = vendor.standIn.state.sets.find((held) => held.type === 'SOA');
    for (const body of [{}, { rrsets: {} }, { rrsets: [] }, { kind: 'dns#x' }, { rrsets: [soa], nextPageToken: '1' }]) {
      vendor.standIn.handler = (request) => (request.path.endsWith('/rrsets') ? { body } : handler(request));
      await assert.rejects(vendor.provider.listRecords(zone), { kind: 'unavailable' }, JSON.stringify(body));
    }
    vendor.standIn.handler = handler;
  });

  it('waits when it asks too often', async () => {
    const { handler } = vendor.standIn;
    let refused = 0;
    const error = {
      code: 403,
      message: 'Rate Limit Exceeded',
      errors: [{ reason: 'rateLimitExceeded', message: 'Rate' }],
    };
    vendor.standIn.handler = (request) => (refused++ ? handler(request) : { status: 403, body: { error } });
    await vendor.provider.check();
    assert.equal(refused, 2);
    vendor.standIn.handler = handler;
  });
});
