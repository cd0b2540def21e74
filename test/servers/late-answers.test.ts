import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { bindMissing, startBind } from '../support/bind.js';
import { type SteeredClock, steerClock, stopClock } from '../support/clock.js';
import { startCloudflare } from '../support/cloudflare.js';
import { gate } from '../support/gate.js';
import { proven, TIMEOUT_MS, timeOut, whileWaiting } from '../support/late-writes.js';
import { noPowerdns } from '../support/powerdns.js';
import { type HeldWrite, holdFirstWrite, type Reply, startTcpProxy } from '../support/proxy.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import {
  addAccount,
  addDomain,
  ask,
  done,
  made,
  providerFailed,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

/** ms in which a write without an answer may still be carried out: less than a request may take, so others wait */
const UNCLEAR_MS = 30_000;
const within = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: String(UNCLEAR_MS) };
const inAnHour = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: '3600000' };

/** The addresses that PowerDNS has at a name. */
const atPowerdns = async ({ pdns }: World, host: string): Promise<string[]> =>
  (await pdns.zone('example.com')).rrsets
    .filter(({ name, type }) => name === `${host}.example.com.` && type === 'A')
    .flatMap(({ records }) => records.map(({ content }) => content))
    .toSorted();

/** Waits until a background job, without a request, has updated the cache. */
const settled = (world: World, clock: SteeredClock): Promise<void> =>
  until('the cache agrees', async () => {
    await clock.advance(1000);
    return world.agree().then(
      () => true,
      () => false,
    );
  });

describeUnless(noPowerdns)('a write of a set that is carried out after its time limit', () => {
  let world: World;
  let admin: Client;
  let clock: SteeredClock;
  let late: HeldWrite;
  beforeAll(async () => {
    world = await startWorld('sqlite', within);
    clock = stopClock();
    ({ admin } = world);
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
  });
  const add = (host: string, value: string) => admin.post(world.records, { host, type: 'A', value });
  const held = (host: string) => atPowerdns(world, host);
  /** A write that the provider has, and that it has not carried out when its time is over. */
  const lose = async (write: () => Promise<Answer>): Promise<void> => {
    late = holdFirstWrite();
    world.proxy.fault = late.fault;
    providerFailed(await timeOut(clock, late.arrived, write()), /did not answer/);
  };
  /** Carries out the lost write, and reads the zone again, which shows it. */
  const come = async () => {
    await late.release();
    done(await admin.get(`${world.records}?refresh=true`));
  };

  it('removes nothing that another writer of its name was told is there', async () => {
    made(await add('www', '192.0.2.1'));
    await lose(() => add('www', '192.0.2.2'));
    made(await whileWaiting(clock, come, add('www', '192.0.2.3')));
    assert.deepEqual(await held('www'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await settled(world, clock);
  });

  it('is waited for by a list that leaves its record as it is, and changes another one', async () => {
    const { id } = made(await add('still', '192.0.2.1'));
    await lose(() => admin.delete(`${world.records}/${id}`));
    const changes = [
      { op: 'status', id, enabled: false },
      { op: 'status', id, enabled: true },
      { op: 'create', host: 'beside', type: 'A', value: '192.0.2.1' },
    ];
    const { data } = await whileWaiting(clock, come, admin.post(`${world.records}/batch`, { changes }));
    const isThere = (await held('still')).length === 1;
    assert.deepEqual(
      data.outcomes?.map(({ ok }) => ok),
      [isThere, isThere, true],
    );
    await settled(world, clock);
  });

  it('may be repeated at once, and removes nothing that is written after that', async () => {
    made(await add('again', '192.0.2.1'));
    await lose(() => add('again', '192.0.2.2'));
    made(await add('again', '192.0.2.2'));
    assert.deepEqual(await held('again'), ['192.0.2.1', '192.0.2.2']);
    // Only the end of the unclear period shows whether the first write is applied, too.
    const comeInTime = async () => {
      await come();
      await clock.advance(UNCLEAR_MS + 1);
    };
    made(await whileWaiting(clock, comeInTime, add('again', '192.0.2.3')));
    assert.deepEqual(await held('again'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await settled(world, clock);
  });

  it('lets other names go on at once', async () => {
    await lose(() => add('slow', '192.0.2.1'));
    made(await add('other', '192.0.2.1'));
    assert.deepEqual(await held('slow'), []);
    await late.release();
    assert.deepEqual(await held('slow'), ['192.0.2.1']);
    await settled(world, clock);
  });
});

/** What somebody hears of a write that is carried out later all the same. */
const BROKEN: Record<string, Reply | 'close'> = {
  'a broken connection': 'close',
  'half an answer': { status: 200, body: '{"a": "a body that breaks off"}', cut: 10 },
  'an answer that is none': { status: 200, body: '{"cut' },
  'an answer of a proxy, 502': { status: 502, body: 'Bad Gateway' },
  'an answer of a proxy, 504': { status: 504, body: 'Gateway Timeout' },
};

describeUnless(noPowerdns)('a write of a set that is carried out after it was broken off', () => {
  let world: World;
  let clock: SteeredClock;
  beforeAll(async () => {
    world = await startWorld('sqlite', within);
    clock = stopClock();
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
  });

  for (const [i, [how, heard]] of Object.entries(BROKEN).entries())
    it(`by ${how} is sent once, and removes nothing that others were told is there`, async () => {
      const { admin, records, proxy } = world;
      const host = `broken${i}`;
      const add = (value: string) => admin.post(records, { host, type: 'A', value });
      made(await add('192.0.2.1'));
      const late = holdFirstWrite(heard);
      proxy.fault = late.fault;
      const answer = refused(await add('192.0.2.2'), 500, 500002);
      assert.equal(answer.data.applied, 'unknown');
      assert.equal(late.writes(), 1, 'it is not repeated behind itself');
      const come = async () => {
        await late.release();
        done(await admin.get(`${records}?refresh=true`));
      };
      made(await whileWaiting(clock, come, add('192.0.2.3')));
      assert.deepEqual(await atPowerdns(world, host), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      proxy.fault = null;
      await settled(world, clock);
    });

  it('at a provider that could not be reached was not sent, and nobody waits for it', async () => {
    const { admin, records, proxy } = world;
    const add = (value: string) => admin.post(records, { host: 'down', type: 'A', value });
    made(await add('192.0.2.1'));
    await proxy.down();
    assert.equal(refused(await add('192.0.2.2'), 500, 500002).data.applied, 'no');
    await proxy.up();
    made(await add('192.0.2.3'));
    assert.deepEqual(await atPowerdns(world, 'down'), ['192.0.2.1', '192.0.2.3']);
  });
});

describeUnless(bindMissing())('an update of a name server that is carried out after its connection broke', () => {
  it('removes nothing that others were told is there', async () => {
    const bind = await startBind({ zones: ['example.com'] });
    const proxy = await startTcpProxy(bind.port);
    const service = await startService('sqlite', within);
    const { admin } = service;
    const clock = stopClock();
    const { tsig } = bind;
    const account = await addAccount(admin, 'rfc2136', {
      ...{ server: '127.0.0.1', port: String(proxy.port), zones: 'example.com' },
      ...{ tsig_name: tsig.name, tsig_algorithm: tsig.algorithm, tsig_secret: tsig.secret },
    });
    const domain = await addDomain(admin, account, 'example.com');
    const add = (value: string) =>
      admin.post(`/api/domains/${domain}/records`, { host: 'www', type: 'A', value, ttl: 300 });
    const { id } = made(await add('192.0.2.1'));
    let updates = 0;
    const [late, applied] = [gate(), gate()];
    proxy.fault = ({ update }) =>
      update && updates++ === 0 ? { held: late.opened, breaks: true, answered: applied.open } : 'pass';
    const gone = await admin.delete(`/api/domains/${domain}/records/${id}`);
    assert.equal(refused(gone, 500, 500002).data.applied, 'unknown');
    const come = async () => {
      late.open();
      await applied.opened;
      done(await admin.get(`/api/domains/${domain}/records?refresh=true`));
    };
    // the same value, of which the deletion that is on its way would leave nothing
    const again = await whileWaiting(clock, come, add('192.0.2.1'));
    const held = (await ask(bind.port, 'www.example.com', 'A')).map(({ rdata }) => rdata);
    if (again.status === 201) assert.deepEqual(held, ['192.0.2.1']);
    else assert.deepEqual([again.code, held], [409001, []]);
    clock.release();
    await service.stop();
    await Promise.all([proxy.stop(), bind.stop()]);
  });
});

describeUnless(noPowerdns)('a write of a set that may be carried out for long', () => {
  let world: World;
  let clock: SteeredClock;
  beforeAll(async () => {
    world = await startWorld('sqlite', inAnHour);
    clock = stopClock();
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
  });

  it('makes other writers of its name fail with 409, which says until when', async () => {
    const { admin, records, proxy } = world;
    const record = (value: string) => ({ host: 'www', type: 'A', value });
    const { fault, arrived } = holdFirstWrite();
    proxy.fault = fault;
    providerFailed(await timeOut(clock, arrived, admin.post(records, record('192.0.2.1'))), /did not answer/);
    proxy.fault = null;
    const answer = refused(await proven(clock, admin.post(records, record('192.0.2.2'))), 409, 409001);
    assert.match(answer.msg, /may still carry it out; try again after 20\d\d-/);
    const changes = [{ op: 'create', ...record('192.0.2.3') }];
    refused(await proven(clock, admin.post(`${records}/batch`, { changes })), 409, 409001);
    assert.deepEqual(await atPowerdns(world, 'www'), []);
    made(await admin.post(records, { ...record('192.0.2.2'), host: 'other' }));
  });
});

describe('a write of one record that may be carried out for long', () => {
  it('refuses others of this record, not those beside it', async () => {
    const cloudflare = await startCloudflare('example.com');
    const service = await startService('sqlite', inAnHour);
    const clock = stopClock();
    const { admin } = service;
    const account = await addAccount(admin, 'cloudflare', { api_token: 't', endpoint: cloudflare.url });
    const records = `/api/domains/${await addDomain(admin, account, 'example.com')}/records` as const;
    const record = (value: string) => ({ host: 'www', type: 'A', value });
    const { id } = made(await admin.post(records, record('192.0.2.1')));
    /** A write that is never answered. */
    const lose = async (write: () => Promise<Answer>) => {
      const arrived = gate();
      cloudflare.fault = ({ method }, apply) => {
        if (method === 'GET') return apply();
        arrived.open();
        return new Promise(() => undefined);
      };
      providerFailed(await timeOut(clock, arrived.opened, write()), /did not answer/);
    };
    await lose(() => admin.put(`${records}/${id}`, { value: '192.0.2.2' }));
    await lose(() => admin.post(records, record('192.0.2.3')));
    cloudflare.fault = null;
    refused(await proven(clock, admin.put(`${records}/${id}`, { value: '192.0.2.4' })), 409, 409001);
    refused(await proven(clock, admin.delete(`${records}/${id}`)), 409, 409001);
    // the same once more does no harm
    made(await admin.post(records, record('192.0.2.3')));
    made(await admin.post(records, record('192.0.2.5')));
    clock.release();
    await service.stop();
    await cloudflare.stop();
  });
});

describeUnless(noPowerdns)('a piece of a long list that was broken off', () => {
  it('may still be applied while the next piece is in flight: other writers of its names wait', async () => {
    const world = await startWorld('sqlite', { UNCLEAR_AFTER_MS: '3600000' });
    const clock = steerClock();
    const { admin, records, proxy } = world;
    const sent: string[] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    proxy.fault = async ({ method, body }, forward) => {
      if (method === 'GET') return forward();
      if (sent.push(body) === 1) return 'close';
      if (sent.length === 2) await gate;
      return forward();
    };
    try {
      const changes = Array.from({ length: 300 }, (_, i) => ({
        ...{ op: 'create', host: `late${i}`, type: 'A', value: '192.0.2.1' },
      }));
      assert.equal((await admin.post(`${records}/batch`, { changes })).status, 202);
      // after the pause that follows a failure
      await until('the next piece is at the provider', async () => {
        await clock.advance(1000);
        return sent.length === 2;
      });
      const [, host] = /"(late\d+)\.example\.com\."/.exec(sent[0] as string) ?? [];
      assert.ok(host && !sent[1]?.includes(`"${host}.`));
      refused(await admin.post(records, { host, type: 'A', value: '192.0.2.2' }), 409, 409001);
    } finally {
      release();
      clock.release();
      await world.stop();
    }
  });
});
