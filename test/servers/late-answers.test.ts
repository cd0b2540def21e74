import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { bindMissing, startBind } from '../support/bind.js';
import { startCloudflare } from '../support/cloudflare.js';
import { noPowerdns } from '../support/powerdns.js';
import { type Fault, type Reply, startTcpProxy } from '../support/proxy.js';
import { type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import {
  addAccount,
  addDomain,
  ask,
  made,
  providerFailed,
  refused,
  startWorld,
  until,
  type World,
} from '../support/world.js';

const TIMEOUT_MS = 400;
/** how much later than its time limit a write is carried out */
const LATE_MS = 600;
const within = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: '4000' };
const inAMinute = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: '3600000' };

/** The next write of the provider is carried out when nobody waits for its answer any more. */
const lateOnce = (): Fault => {
  let writes = 0;
  return async ({ method }, forward) => {
    if (method !== 'GET' && !writes++) await sleep(TIMEOUT_MS + LATE_MS);
    return forward();
  };
};

/** The addresses that PowerDNS has at a name. */
const atPowerdns = async ({ pdns }: World, host: string): Promise<string[]> =>
  (await pdns.zone('example.com')).rrsets
    .filter(({ name, type }) => name === `${host}.example.com.` && type === 'A')
    .flatMap(({ records }) => records.map(({ content }) => content))
    .toSorted();

describeUnless(noPowerdns)('a write of a set that is carried out after its time limit', () => {
  let world: World;
  let admin: Client;
  beforeAll(async () => {
    world = await startWorld('sqlite', within);
    ({ admin } = world);
  });
  afterAll(() => world?.stop());
  const add = (host: string, value: string) => admin.post(world.records, { host, type: 'A', value });
  const held = (host: string) => atPowerdns(world, host);
  const settled = () =>
    until('the cache agrees', () =>
      world.agree().then(
        () => true,
        () => false,
      ),
    );

  it('removes nothing that another writer of its name was told is there', async () => {
    made(await add('www', '192.0.2.1'));
    world.proxy.fault = lateOnce();
    providerFailed(await add('www', '192.0.2.2'), /did not answer/);
    made(await add('www', '192.0.2.3'));
    await sleep(LATE_MS);
    assert.deepEqual(await held('www'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await settled();
  });

  it('is waited for by a list that leaves its record as it is, and changes another one', async () => {
    const { id } = made(await add('still', '192.0.2.1'));
    world.proxy.fault = lateOnce();
    providerFailed(await admin.delete(`${world.records}/${id}`), /did not answer/);
    const changes = [
      { op: 'status', id, enabled: false },
      { op: 'status', id, enabled: true },
      { op: 'create', host: 'beside', type: 'A', value: '192.0.2.1' },
    ];
    const { data } = await admin.post(`${world.records}/batch`, { changes });
    await sleep(LATE_MS);
    const isThere = (await held('still')).length === 1;
    assert.deepEqual(
      data.outcomes?.map(({ ok }) => ok),
      [isThere, isThere, true],
    );
    await settled();
  });

  it('may be repeated at once, and removes nothing that is written after that', async () => {
    made(await add('again', '192.0.2.1'));
    world.proxy.fault = lateOnce();
    providerFailed(await add('again', '192.0.2.2'), /did not answer/);
    made(await add('again', '192.0.2.2'));
    assert.deepEqual(await held('again'), ['192.0.2.1', '192.0.2.2']);
    made(await add('again', '192.0.2.3'));
    await sleep(LATE_MS);
    assert.deepEqual(await held('again'), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    await settled();
  });

  it('lets other names go on at once', async () => {
    world.proxy.fault = lateOnce();
    providerFailed(await add('slow', '192.0.2.1'), /did not answer/);
    made(await add('other', '192.0.2.1'));
    assert.deepEqual(await held('slow'), []);
    await until('it is there', async () => (await held('slow')).length === 1);
    await settled();
  });
});

/** ms after which a write is carried out whose connection broke at once */
const BROKEN_MS = 1500;

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
  beforeAll(async () => {
    world = await startWorld('sqlite', within);
  });
  afterAll(() => world?.stop());

  for (const [i, [how, heard]] of Object.entries(BROKEN).entries())
    it(`by ${how} is sent once, and removes nothing that others were told is there`, async () => {
      const { admin, records, proxy } = world;
      const host = `broken${i}`;
      const add = (value: string) => admin.post(records, { host, type: 'A', value });
      made(await add('192.0.2.1'));
      let writes = 0;
      let came: Promise<unknown> | undefined;
      proxy.fault = async ({ method }, forward) => {
        if (method === 'GET' || writes++) return forward();
        came = sleep(BROKEN_MS).then(forward);
        return heard;
      };
      const answer = refused(await add('192.0.2.2'), 500, 500002);
      assert.equal(answer.data.applied, 'unknown');
      assert.equal(writes, 1, 'it is not repeated behind itself');
      made(await add('192.0.2.3'));
      await came;
      assert.deepEqual(await atPowerdns(world, host), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      proxy.fault = null;
      await until('the cache agrees', () =>
        world.agree().then(
          () => true,
          () => false,
        ),
      );
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
    proxy.fault = ({ update }) => (update && updates++ === 0 ? { broken: BROKEN_MS } : 'pass');
    const gone = await admin.delete(`/api/domains/${domain}/records/${id}`);
    assert.equal(refused(gone, 500, 500002).data.applied, 'unknown');
    // the same value, of which the deletion that is on its way would leave nothing
    const again = await add('192.0.2.1');
    await sleep(BROKEN_MS);
    const held = (await ask(bind.port, 'www.example.com', 'A')).map(({ rdata }) => rdata);
    if (again.status === 201) assert.deepEqual(held, ['192.0.2.1']);
    else assert.deepEqual([again.code, held], [409001, []]);
    await service.stop();
    await Promise.all([proxy.stop(), bind.stop()]);
  });
});

describeUnless(noPowerdns)('a write of a set that may be carried out for long', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld('sqlite', inAMinute);
  });
  afterAll(() => world?.stop());

  it('makes other writers of its name fail with 409, which says until when', async () => {
    const { admin, records, proxy } = world;
    const record = (value: string) => ({ host: 'www', type: 'A', value });
    proxy.fault = async ({ method }, forward) => (method === 'GET' ? forward() : new Promise(() => undefined));
    providerFailed(await admin.post(records, record('192.0.2.1')), /did not answer/);
    proxy.fault = null;
    const answer = refused(await admin.post(records, record('192.0.2.2')), 409, 409001);
    assert.match(answer.msg, /may still carry it out; try again after 20\d\d-/);
    const changes = [{ op: 'create', ...record('192.0.2.3') }];
    refused(await admin.post(`${records}/batch`, { changes }), 409, 409001);
    assert.deepEqual(await atPowerdns(world, 'www'), []);
    made(await admin.post(records, { ...record('192.0.2.2'), host: 'other' }));
  });
});

describe('a write of one record that may be carried out for long', () => {
  it('refuses others of this record, not those beside it', async () => {
    const cloudflare = await startCloudflare('example.com');
    const service = await startService('sqlite', inAMinute);
    const { admin } = service;
    const account = await addAccount(admin, 'cloudflare', { api_token: 't', endpoint: cloudflare.url });
    const records = `/api/domains/${await addDomain(admin, account, 'example.com')}/records` as const;
    const record = (value: string) => ({ host: 'www', type: 'A', value });
    const { id } = made(await admin.post(records, record('192.0.2.1')));
    cloudflare.fault = ({ method }, apply) => (method === 'GET' ? apply() : new Promise(() => undefined));
    providerFailed(await admin.put(`${records}/${id}`, { value: '192.0.2.2' }), /did not answer/);
    providerFailed(await admin.post(records, record('192.0.2.3')), /did not answer/);
    cloudflare.fault = null;
    refused(await admin.put(`${records}/${id}`, { value: '192.0.2.4' }), 409, 409001);
    refused(await admin.delete(`${records}/${id}`), 409, 409001);
    // the same once more does no harm
    made(await admin.post(records, record('192.0.2.3')));
    made(await admin.post(records, record('192.0.2.5')));
    await service.stop();
    await cloudflare.stop();
  });
});

describeUnless(noPowerdns)('a piece of a long list that was broken off', () => {
  it('may still be applied while the next piece is in flight: other writers of its names wait', async () => {
    const world = await startWorld('sqlite', { UNCLEAR_AFTER_MS: '3600000' });
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
      await until('the next piece is at the provider', async () => sent.length === 2);
      const [, host] = /"(late\d+)\.example\.com\."/.exec(sent[0] as string) ?? [];
      assert.ok(host && !sent[1]?.includes(`"${host}.`));
      refused(await admin.post(records, { host, type: 'A', value: '192.0.2.2' }), 409, 409001);
    } finally {
      release();
      await world.stop();
    }
  });
});
