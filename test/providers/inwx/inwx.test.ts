import assert from 'node:assert/strict';
import { beforeEach, describe, it } from '@jest/globals';
import { dnsRecord } from '../../../src/dns/record.js';
import { keepTime, timeMs } from '../../../src/platform/common/clock.js';
import { Deadline, underDeadline } from '../../../src/platform/common/deadline.js';
import { inwx } from '../../../src/providers/inwx/declaration.js';
import { totpOf } from '../../../src/providers/kit/signing/totp.js';
import type { Change, DnsProvider, RemoteRecord } from '../../../src/providers/provider.js';
import { connectTo, type StandIn, standInFor } from '../../support/vendor.js';
import { providerContract } from '../contract.js';
import { startInwx } from './stand-in.js';

/** The same without its limits, which only make a test wait. */
const fast = { ...inwx, limits: { ...inwx.limits, requests: 100_000 } };
const connect = (standIn: StandIn, more: Record<string, string> = {}): DnsProvider =>
  connectTo(fast, { username: 'ada', password: 'a-pass', endpoint: `${standIn.url}/`, ...more });
const zone = { id: 'contract.example', name: 'contract.example' };

providerContract('INWX (stand-in)', async () => {
  const standIn = await startInwx();
  Object.assign(standIn.world, { domains: ['a.example', 'b.example', zone.name], page: 2 });
  const provider = connect(standIn);
  await provider.check();
  return {
    ...{ provider, definition: inwx, zone, standIn, stranger: connect(standIn, { password: 'wrong' }) },
    cannot: {
      'MX with the root': 'nobody knows how INWX writes it',
      'SRV with the root': 'nobody knows how INWX writes it',
    },
    refuses: ({ type, value }) => type === 'TXT' && /^$|`|\s$|^[\s\S]{255}$/.test(value),
    stop: standIn.stop,
  };
});

describe('INWX', () => {
  const vendor = standInFor(startInwx);
  let provider: DnsProvider;
  beforeEach(() => {
    provider = connect(vendor.standIn);
    Object.assign(vendor.standIn.world, {
      records: [],
      logins: 0,
      sessions: [],
      tfa: '0',
      tan: null,
      tans: [],
      open: [],
      barred: {},
    });
    vendor.standIn.requests.length = 0;
  });
  const create = (type: string, value: string, more = {}): Change => ({
    op: 'create',
    after: dnsRecord({ host: '@', type, value, ttl: 300, ...more }, zone.name),
  });
  const sent = () => (vendor.standIn.requests.at(-1)?.body as { params?: object } | undefined)?.params;

  it('says in its words what is refused, all with a status of 200', async () => {
    await assert.rejects(connect(vendor.standIn, { password: 'wrong' }).check(), {
      ...{ kind: 'auth', message: /Authentication error \(code 2200\)/ },
    });
    await assert.rejects(provider.listRecords({ id: 'x.example', name: 'x.example' }), { kind: 'not_found' });
    const { handler } = vendor.standIn;
    const cut = { code: 1000, resData: { domain: zone.name, count: 2, record: [] } };
    for (const body of ['', '{}', '<html>', '{"code":1000}', JSON.stringify(cut), '{"code":2500,"msg":"closing"}']) {
      vendor.standIn.handler = (request) =>
        JSON.stringify(request.body).includes('login') ? handler(request) : { body };
      await assert.rejects(provider.listRecords(zone), { kind: 'unavailable' }, body);
      await assert.rejects(provider.listZones(), { kind: 'unavailable' }, body);
    }
    vendor.standIn.handler = handler;
  });

  it('logs in once, also when many calls need it at once, and anew when the session has ended', async () => {
    await Promise.all([provider.listRecords(zone), provider.listZones(), provider.listRecords(zone)]);
    assert.equal(vendor.standIn.world.logins, 1);
    vendor.standIn.world.sessions = [];
    assert.equal((await provider.listZones()).length, 1);
    assert.equal(vendor.standIn.world.logins, 2);
  });

  it('keeps its session where it has no right to an object', async () => {
    const { world } = vendor.standIn;
    for (const code of [2201, 2202]) {
      world.barred = { 'domain.info': code };
      await assert.rejects(async () => provider.zoneInfo?.(zone), { kind: 'auth', message: RegExp(`${code}`) });
    }
    assert.equal((await provider.listZones()).length, 1);
    assert.equal(world.logins, 1);
  });

  it('gives the code of a second factor, or says that its secret is missing', async () => {
    vendor.standIn.world.tfa = 'GOOGLE-AUTH';
    await assert.rejects(provider.check(), { kind: 'auth', message: /second factor/ });
    await connect(vendor.standIn, { shared_secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' }).check();
    assert.match(String(vendor.standIn.world.tan), /^\d{6}$/);
  });

  it('opens one session for all connections, since a code is taken once', async () => {
    const shared_secret = 'MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U';
    const { world } = vendor.standIn;
    world.tfa = 'GOOGLE-AUTH';
    const [first, second] = [connect(vendor.standIn, { shared_secret }), connect(vendor.standIn, { shared_secret })];
    await Promise.all([first.check(), second.listZones(), first.listRecords(zone)]);
    await second.check();
    assert.deepEqual([world.logins, world.tans.length], [1, 1]);
    await assert.rejects(connect(vendor.standIn, { shared_secret, password: 'wrong' }).check(), { kind: 'auth' });
  });

  it('waits for the next code where one was used, for as long as the call may take', async () => {
    const shared_secret = 'ONSWG4TFOQQGC3TEEBWG63THMVZCA5DP';
    const { world } = vendor.standIn;
    world.tfa = 'GOOGLE-AUTH';
    // in the middle of a window
    keepTime(Math.floor(Date.now() / 30_000) * 30_000 + 10_000);
    try {
      // another replica was first
      world.tans.push(totpOf(shared_secret));
      const mine = connect(vendor.standIn, { shared_secret });
      const early = underDeadline(new Deadline(600), () => mine.listZones());
      await assert.rejects(early, { kind: 'unavailable', message: /try again in half a minute/ });
      const patient = mine.listRecords(zone);
      keepTime(timeMs() + 30_000);
      assert.deepEqual(await patient, []);
      assert.deepEqual([world.logins, world.tans.length], [1, 2]);
      // what the old session refuses opens another one, of a later window, once for all
      world.sessions = [];
      const again = [mine.listZones(), mine.listRecords(zone), connect(vendor.standIn, { shared_secret }).check()];
      keepTime(timeMs() + 30_000);
      await Promise.all(again);
      assert.deepEqual([world.logins, world.tans.length], [2, 3]);
    } finally {
      keepTime(null);
    }
  });

  it('sends names in full, targets without dot, and of an update what changes', async () => {
    for (const [type, value, priority, expected] of [
      ['MX', 'mx.example.net', 10, { content: 'mx.example.net', prio: 10 }],
      ['SRV', '5 5060 sip.example.net', 1, { content: '5 5060 sip.example.net', prio: 1 }],
      ['CAA', '0 issue "ca.example.net"', null, { content: '0 issue "ca.example.net"' }],
      ['TXT', 'a "b" c', null, { content: 'a "b" c' }],
    ] as const) {
      const change = create(type, value, { priority }) as Change & { op: 'create' };
      const [made] = await provider.apply(zone, [change]);
      assert.ok(made?.ok);
      assert.deepEqual(sent(), { domain: zone.name, name: zone.name, type, ttl: 300, ...expected });
      const before = (await provider.listRecords(zone)).find((r) => r.remoteId === made.remoteId) as RemoteRecord;
      await provider.apply(zone, [{ op: 'update', before, after: { ...change.after, ttl: 600 } }]);
      assert.deepEqual(sent(), { id: Number(made.remoteId), ttl: 600 });
    }
  });

  it('sends no empty target, and says until when the domain is registered', async () => {
    const [outcome] = await provider.apply(zone, [create('MX', '.', { priority: 0 })]);
    assert.ok(outcome && !outcome.ok && !outcome.tried);
    assert.equal(vendor.standIn.requests.length, 0);
    assert.equal((await provider.zoneInfo?.(zone))?.expiresAt, '2027-09-18T15:45:59.000Z');
    assert.equal((await provider.zoneInfo?.({ id: 'x.example', name: 'x.example' }))?.expiresAt, null);
  });
});
