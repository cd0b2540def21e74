import assert from 'node:assert/strict';
import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { startCloudflare } from '../support/cloudflare.js';
import { connectOptions } from '../support/connect-options.js';
import { openDatabase } from '../support/database.js';
import { gate } from '../support/gate.js';
import { proven, TIMEOUT_MS, timeOut } from '../support/late-writes.js';
import { noPowerdns } from '../support/powerdns.js';
import type { Reply } from '../support/proxy.js';
import { type Client, ServerProcess, startProcess, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, made, providerFailed, startWorld, until, type World } from '../support/world.js';

const long = { PROVIDER_TIMEOUT_MS: String(TIMEOUT_MS), UNCLEAR_AFTER_MS: '3600000' };

const atPowerdns = async ({ pdns }: World, host: string, type = 'A'): Promise<string[]> =>
  (await pdns.zone('example.com')).rrsets
    .filter((s) => s.name === `${host}.example.com.` && s.type === type)
    .flatMap(({ records }) => records.map(({ content }) => content))
    .toSorted();

/** What becomes of the writes in their order; the rest pass. `hold`: kept back, answered by `status` or never. */
type Fate = { hold: number | 'never' } | 'applied-then-close' | 'pass';
function fates(world: Pick<World, 'proxy'>, list: Fate[]) {
  const held: (() => Promise<Reply>)[] = [];
  let n = 0;
  let arrived = () => {};
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  world.proxy.fault = async ({ method }, forward) => {
    if (method === 'GET') return forward();
    const fate = list[n++] ?? 'pass';
    arrived();
    if (fate === 'pass') return forward();
    if (fate === 'applied-then-close') {
      await forward();
      return 'close';
    }
    held.push(forward);
    return fate.hold === 'never' ? new Promise(() => undefined) : { status: fate.hold, body: '' };
  };
  return {
    first,
    release: async () => {
      for (const one of held.splice(0)) await one();
    },
  };
}

describeUnless(noPowerdns)('a write that comes late', () => {
  let world: World;
  let admin: Client;
  let clock: SteeredClock;
  beforeAll(async () => {
    world = await startWorld('sqlite', long);
    clock = stopClock();
    ({ admin } = world);
  });
  afterAll(async () => {
    clock?.release();
    await world?.stop();
  });
  afterEach(() => {
    world.proxy.fault = null;
  });
  const add = (host: string, value: string, who = admin) => who.post(world.records, { host, type: 'A', value });
  it('is not repeated behind itself by the client, after an answer of a gateway that has waited in vain', async () => {
    made(await add('a1', '192.0.2.1'));
    const f = fates(world, [{ hold: 504 }]);
    providerFailed(await add('a1', '192.0.2.2'), /504/);
    assert.equal((await proven(clock, add('a1', '192.0.2.3'))).status, 409);
    await f.release();
    assert.deepEqual(await atPowerdns(world, 'a1'), ['192.0.2.1', '192.0.2.2']);
  });

  it('is waited for at the name that a list left with a record which it touched again', async () => {
    const { id } = made(await add('b1', '192.0.2.1'));
    made(await add('b1', '192.0.2.2'));
    const f = fates(world, [{ hold: 'never' }]);
    const changes = [
      { op: 'update', id, host: 'b1-new' },
      { op: 'update', id, ttl: 1200 },
    ];
    await timeOut(clock, f.first, admin.post(`${world.records}/batch`, { changes }));
    const answer = await proven(clock, add('b1', '192.0.2.3'));
    await f.release();
    assert.ok(answer.status !== 201 || (await atPowerdns(world, 'b1')).includes('192.0.2.3'));
  });

  it('is waited for by who finds a set as it shall be', async () => {
    made(await add('b2', '192.0.2.1'));
    const f = fates(world, [{ hold: 'never' }]);
    providerFailed(await timeOut(clock, f.first, add('b2', '192.0.2.2')), /did not answer/);
    const values = [{ value: '192.0.2.1' }];
    const put = await proven(clock, admin.put(`/api/domains/${world.domain}/rrsets/b2/A`, { values }));
    await f.release();
    assert.ok(put.status !== 200 || (await atPowerdns(world, 'b2')).length === 1);
  });

  it('is waited for by who finds no set to delete', async () => {
    const f = fates(world, [{ hold: 'never' }]);
    providerFailed(await timeOut(clock, f.first, add('b3', '192.0.2.2')), /did not answer/);
    const del = await proven(clock, admin.delete(`/api/domains/${world.domain}/rrsets/b3/A`));
    await f.release();
    assert.ok(del.status !== 200 || (await atPowerdns(world, 'b3')).length === 0);
  });

  it('is waited for when its locks were lost', async () => {
    made(await add('c1', '192.0.2.1'));
    const { db } = await openDatabase(world.databaseUrl, world.server.dataDir);
    const f = fates(world, [{ hold: 'never' }]);
    const second = add('c1', '192.0.2.2');
    await f.first;
    await db.run('DELETE FROM leases', []);
    await timeOut(clock, f.first, second);
    const answer = await proven(clock, add('c1', '192.0.2.3'));
    await f.release();
    assert.ok(answer.status !== 201 || (await atPowerdns(world, 'c1')).includes('192.0.2.3'));
  });
});

describeUnless(noPowerdns)('a write at which its process ended', () => {
  it('is waited for by the next one', async () => {
    const world = await startWorld(
      'sqlite',
      { PROVIDER_TIMEOUT_MS: '120000', UNCLEAR_AFTER_MS: '3600000' },
      'sqlite',
      startProcess,
    );
    const { admin, records } = world;
    made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
    const f = fates(world, [{ hold: 'never' }]);
    const second = admin.post(records, { host: 'www', type: 'A', value: '192.0.2.2' }).catch(() => null);
    await f.first;
    await world.server.kill();
    assert.equal(await second, null);
    const env = { DATABASE_URL: world.databaseUrl, PROVIDER_TIMEOUT_MS: '120000', UNCLEAR_AFTER_MS: '3600000' };
    const server = await ServerProcess.start(env, world.server.dataDir);
    await until('ready', async () => (await fetch(`${server.url}/health/ready`)).ok);
    const answer = await server.as(world.token).post(records, { host: 'www', type: 'A', value: '192.0.2.3' });
    await f.release();
    const holds = await atPowerdns(world, 'www');
    await server.kill();
    await world.stop();
    assert.ok(answer.status !== 201 || holds.includes('192.0.2.3'));
  });
});

describe('a vendor with ids per record', () => {
  it('does not lose a deletion to a creation that comes late', async () => {
    const cloudflare = await startCloudflare('example.com');
    const service = await startService('sqlite', long);
    const clock = stopClock();
    const { admin } = service;
    const account = await addAccount(admin, 'cloudflare', { api_token: 't', endpoint: cloudflare.url });
    const records = `/api/domains/${await addDomain(admin, account, 'example.com')}/records` as const;
    const record = { host: 'www', type: 'A', value: '192.0.2.1' };
    const held: (() => unknown)[] = [];
    const arrived = gate();
    cloudflare.fault = ({ method }, apply) => {
      if (method === 'GET') return apply();
      held.push(apply);
      arrived.open();
      return new Promise(() => undefined);
    };
    providerFailed(await timeOut(clock, arrived.opened, admin.post(records, record)), /did not answer/);
    cloudflare.fault = null;
    const { id } = made(await admin.post(records, record));
    const gone = await proven(clock, admin.delete(`${records}/${id}`));
    for (const apply of held) apply();
    const there = cloudflare.zones.get('example.com') ?? [];
    const count = there.length;
    clock.release();
    await service.stop();
    await cloudflare.stop();
    assert.ok(gone.status !== 200 || count === 0, 'it is back');
  });
});

describe('adapters', () => {
  const definition = async () => {
    const { providerOf } = await import('../../src/providers/registry.js');
    return providerOf('cloudflare') as import('../../src/providers/provider.js').ProviderDefinition;
  };
  it('load again after a failure', async () => {
    const { connectProvider } = await import('../../src/providers/connect.js');
    let n = 0;
    const kind = {
      ...(await definition()),
      load: async () => {
        if (n++ === 0) throw new Error('EMFILE: too many open files');
        return { connect: () => ({ listRecords: async () => [], check: async () => undefined }) as never };
      },
    };
    const provider = connectProvider(kind, { api_token: 't' }, connectOptions(1000));
    const tries: string[] = [];
    for (let i = 0; i < 3; i++)
      tries.push(
        await provider.listRecords({ id: 'z', name: 'z' }).then(
          () => 'ok',
          (e: Error) => `${e.constructor.name}: ${e.message}`,
        ),
      );
    const _apply = await provider.apply({ id: 'z', name: 'z' }, []).then(
      () => 'ok',
      (e: Error) => `${e.constructor.name} ${JSON.stringify((e as { data?: unknown }).data)}`,
    );
    assert.ok(tries[2] === 'ok', 'it stays broken for the life of the process');
  });
});
