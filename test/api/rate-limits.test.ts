import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Buckets, sizeOf } from '../../src/auth/guard/buckets.js';
import { RedisLink } from '../../src/platform/redis/redis-link.js';
import { noRedis, REDIS_URL } from '../support/redis.js';
import { ADMIN, type Answer, type Client, LocalServer } from '../support/server.js';
import { SILENT } from '../support/silent.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, refused, until } from '../support/world.js';

describe('a fresh installation', () => {
  let server: LocalServer;
  let admin: Client;
  let domain: number;

  beforeAll(async () => {
    server = await LocalServer.start({ ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password });
    admin = server.as(await server.login());
    domain = await addDomain(admin, await addAccount(admin, 'zonefile', {}), 'rates.example', true);
  });
  afterAll(async () => {
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
    let last: Answer = answer;
    // faster than the bucket empties, however slow this machine is
    while (last.status === 200)
      for (const one of await Promise.all(Array.from({ length: 100 }, () => admin.get('/api/auth/me'))))
        if (one.status !== 200) last = one;
    waits(last);
    // the probes are nobody's
    assert.equal((await server.call('GET', '/health/live')).status, 200);
  });

  it('accepts a list of 5 000 changes, which delays the next change, not reading', async () => {
    const left = (answer: Answer) => Number(answer.headers.get('x-ratelimit-remaining'));
    await until('there is room for more than this question', async () => left(await admin.get('/api/auth/me')) >= 10);
    const accepted = await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes(5000, 'long') });
    assert.ok(accepted.status < 300, accepted.msg);
    waits(await admin.post(`/api/domains/${domain}/records`, { host: 'next', type: 'A', value: '192.0.2.1' }));
    waits(await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes(2, 'next') }));
    done(await admin.get(`/api/domains/${domain}/records`));
  });

  it('counts a list by its changes, a set by its values, and nothing where the limit is 0', async () => {
    done(await admin.put('/api/settings/security', { rate_limits: { token: 60, user: 0 } }));
    done(await admin.post(`/api/domains/${domain}/records/batch`, { changes: changes(2, 'free') }));
    const made = await admin.post('/api/tokens', { name: 'pipeline', allowed_services: ['*'] });
    const pipeline = server.as((made.data as { token: string }).token);
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
      assert.deepEqual(await first.fill(key, 1, size), { taken: true, used: 1 });
      assert.equal((await second.fill(key, 1000, size)).taken, true);
      const { taken, used } = await first.fill(key, 1, size);
      assert.equal(taken, false);
      // never more than a minute's worth
      assert.ok(used > 3 && used <= 4, String(used));
    } finally {
      for (const link of links) link.onApplicationShutdown();
    }
  });
});
