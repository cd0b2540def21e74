import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Buckets, sizeOf } from '../../src/platform/rates/buckets.js';
import { RedisLink } from '../../src/platform/redis/redis-link.js';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { noRedis, REDIS_URL } from '../support/redis.js';
import { ADMIN, type Answer, type Client, LocalServer } from '../support/server.js';
import { SILENT } from '../support/silent.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

describe('a fresh installation', () => {
  let server: LocalServer;
  let admin: Client;
  let domain: number;
  /** The buckets empty only when the test lets the time pass. */
  let clock: SteeredClock;

  beforeAll(async () => {
    server = await LocalServer.start({ ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password });
    admin = server.as(await server.login());
    domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'rates.example', true);
    clock = stopClock();
  });
  afterAll(async () => {
    clock?.release();
    await server?.stop();
    if (server) rmSync(server.dataDir, { recursive: true, force: true });
  });

  const changes = (count: number, name: string) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ op: 'create' as const, host: `${name}-${i}`, type: 'A', value: `192.0.2.${i % 250}` },
    }));
  const waits = (answer: Answer) => {
    const seconds = Number(refused(answer, 429, 429001).headers.get('retry-after'));
    assert.ok(seconds >= 1 && seconds <= 61, String(seconds));
  };

  it('allows users and tokens 3000 requests a minute, 200 at once', async () => {
    const { rate_limits } = done(await admin.get('/api/settings/security'));
    assert.deepEqual([rate_limits.user, rate_limits.token], [3000, 3000]);
    assert.deepEqual(sizeOf(3000), { perSecond: 50, burst: 200, most: 3200 });
    const answer = await admin.get('/api/auth/me');
    assert.equal(answer.headers.get('ratelimit-policy'), '"user";q=3000;w=60');
    assert.ok(Number(answer.headers.get('x-ratelimit-remaining')) < 200);
    const more = await Promise.all(Array.from({ length: 200 }, () => admin.get('/api/auth/me')));
    const refusals = more.filter(({ status }) => status !== 200);
    assert.ok(refusals.length > 0);
    refusals.forEach(waits);
    await clock.advance(2000);
    const later = await Promise.all(Array.from({ length: 101 }, () => admin.get('/api/auth/me')));
    assert.deepEqual(later.map(({ status }) => status).sort(), [...Array(100).fill(200), 429]);
    // the probes are nobody's
    assert.equal((await server.call('GET', '/health/live')).status, 200);
  });

  it('accepts a list of 5 000 changes, which delays the next change, not reading', async () => {
    await clock.advance(60_000);
    const accepted = await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes(5000, 'long') });
    assert.ok(accepted.status < 300, accepted.msg);
    waits(await admin.post(`/api/domains/${domain}/records`, { host: 'next', type: 'A', value: '192.0.2.1' }));
    waits(await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes(2, 'next') }));
    done(await admin.get(`/api/domains/${domain}/records`));
  });

  it('counts the changes of a plan, which delays the next plan, not applying it', async () => {
    await clock.advance(120_000);
    const plan = (host: string) =>
      admin.post('/api/plans', { domains: [{ domain_id: domain, changes: changes(300, host) }] });
    const { id } = made(await plan('planned'));
    waits(await plan('again'));
    const document = { format: 'csv' as const, text: 'host,type,value\nsingle,A,192.0.2.1\n' };
    waits(await admin.post(`/api/domains/${domain}/plans`, { document }));
    const applied = await admin.post(`/api/plans/${id}/apply?wait=50`, { force: ['many_updates'] });
    assert.ok(applied.status < 300, applied.msg);
    await clock.advance(120_000);
    made(await plan('later'));
  });

  it('counts a list by its changes, a set by its values, and nothing where the limit is 0', async () => {
    await clock.advance(120_000);
    done(await admin.put('/api/settings/security', { rate_limits: { token: 60, user: 0 } }));
    done(await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes(2, 'free') }));
    const { token } = made(await admin.post('/api/tokens', { name: 'pipeline', allowed_services: ['*'] }));
    const pipeline = server.as(token);
    done(await pipeline.post(`/api/domains/${domain}/records/batch`, { changes: changes(30, 'first') }));
    const values = Array.from({ length: 40 }, (_, i) => `192.0.2.${i}`);
    done(await pipeline.put(`/api/domains/${domain}/rrsets/set/A`, { values }));
    waits(await pipeline.put(`/api/domains/${domain}/rrsets/set/A`, { values: ['192.0.2.1'] }));
    done(await pipeline.get('/api/domains'));
  });
});

describeUnless(noRedis)('buckets of two replicas', () => {
  it('are shared where there is Redis', async () => {
    const links = [new RedisLink({ redisUrl: REDIS_URL }, SILENT), new RedisLink({ redisUrl: REDIS_URL }, SILENT)];
    try {
      for (const link of links) link.start();
      await until('both are there', async () => links.every(({ client }) => client));
      const [first, second] = links.map((link) => new Buckets(link)) as [Buckets, Buckets];
      const key = `test-${process.pid}-${Date.now()}`;
      const size = sizeOf(2);
      const begin = performance.now();
      assert.deepEqual(await first.fill(key, 1, size), { taken: true, used: 1 });
      assert.equal((await second.fill(key, 1000, size)).taken, true);
      const { taken, used } = await first.fill(key, 1, size);
      const seconds = (performance.now() - begin) / 1000;
      // at most the requests of one minute: the bucket empties while the test runs
      assert.ok(used <= size.most && used >= size.most - seconds * size.perSecond - 0.01, `${used} after ${seconds} s`);
      assert.equal(taken, used + 1 <= size.burst);
      assert.ok(!taken || seconds > 30);
    } finally {
      for (const link of links) link.onApplicationShutdown();
    }
  });
});
