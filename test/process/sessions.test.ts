import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { cuttable } from '../support/jobs.js';
import { noRedis, REDIS_URL } from '../support/redis.js';
import { ADMIN, type Server, ServerProcess, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused, until } from '../support/world.js';

const MINUTE = 60_000;
const claims = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] as string, 'base64url').toString());

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`sessions on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let network = 1;
    const login = async (username: string, password = `${username}-secret`, userAgent = 'a browser') =>
      done(
        await service.server.call('POST', '/api/auth/login', { username, password }, undefined, {
          'x-forwarded-for': `198.51.100.${network++}`,
          'user-agent': userAgent,
        }),
      ).token as string;
    const me = (token: string) => service.server.call('GET', '/api/auth/me', undefined, token);
    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      for (const username of ['ada', 'ben', 'cleo']) await addUser(db, { username, password: `${username}-secret` });
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('are listed with where they came from, and ended one by one', async () => {
      const first = await login('ada', undefined, 'first/1.0');
      const second = await login('ada', undefined, 'second/1.0');
      const list = done(await service.server.as(second).get('/api/auth/sessions'));
      assert.deepEqual(
        list.map((s) => [s.user_agent, s.method, s.current]),
        [
          ['second/1.0', 'password', true],
          ['first/1.0', 'password', false],
        ],
      );
      assert.deepEqual(Object.keys(list[0]).sort(), [
        'amr',
        'created_at',
        'current',
        'expires_at',
        'id',
        'ip',
        'last_active_at',
        'method',
        'user_agent',
      ]);
      assert.match(list[0].ip, /^198\.51\.100\./);
      const [, { id }] = list;
      const ben = service.server.as(await login('ben'));
      refused(await ben.delete(`/api/auth/sessions/${id}`), 404, 404001);
      done(await me(first));
      done(await service.server.as(second).delete(`/api/auth/sessions/${id}`));
      refused(await me(first), 401, 401001);
      refused(await service.server.as(second).delete(`/api/auth/sessions/${id}`), 404, 404001);
      refused(await service.server.as(second).delete('/api/auth/sessions/x'), 400, 400001);
      done(await me(second));
    });

    it('are ended, all but the current one', async () => {
      const tokens = [await login('ben'), await login('ben'), await login('ben')] as const;
      const other = await login('ada');
      const { ended } = done(await service.server.as(tokens[1]).delete('/api/auth/sessions/others'));
      assert.ok(ended >= 2);
      for (const [i, token] of tokens.entries()) {
        if (i === 1) done(await me(token));
        else refused(await me(token), 401, 401001);
      }
      done(await me(other));
    });

    it('are refreshed until their absolute lifetime ends', async () => {
      const token = await login('cleo');
      const cleo = service.server.as(token);
      const next = done(await cleo.post('/api/auth/refresh', {})).token;
      assert.equal(claims(next).sid, claims(token).sid);
      done(await me(next));
      // one hour is left: the JWT does not outlive it
      await db.run('UPDATE sessions SET expires_at = ? WHERE sid = ?', [now(60 * MINUTE), claims(token).sid]);
      const short = claims(done(await cleo.post('/api/auth/refresh', {})).token);
      assert.ok(short.exp - short.iat <= 3600, `${short.exp - short.iat} s`);
      await db.run('UPDATE sessions SET expires_at = ? WHERE sid = ?', [now(-1), claims(token).sid]);
      refused(await cleo.post('/api/auth/refresh', {}), 401, 401001);
      refused(await me(next), 401, 401001);
    });

    it('expire as the settings say', async () => {
      const session = { token_minutes: 30, idle_minutes: 10, absolute_days: 2 };
      done(await service.admin.put('/api/settings/security', { session }));
      const token = await login('cleo');
      const { exp, iat, sid } = claims(token);
      assert.equal(exp - iat, 30 * 60);
      const days = (at: string) => (Date.parse(at) - Date.now()) / 86_400_000;
      const row = await db.row<{ expires_at: string }>('SELECT expires_at FROM sessions WHERE sid = ?', [sid]);
      assert.ok(Math.abs(days(row?.expires_at ?? '') - 2) < 0.01);
      await db.run('UPDATE sessions SET last_active_at = ? WHERE sid = ?', [now(-9 * MINUTE), sid]);
      done(await me(token));
      await db.run('UPDATE sessions SET last_active_at = ? WHERE sid = ?', [now(-11 * MINUTE), sid]);
      refused(await me(token), 401, 401001);
      // an idle one comes back to life for nobody, and is listed no more
      const again = service.server.as(await login('cleo'));
      assert.ok(!done(await again.get('/api/auth/sessions')).some((s) => !s.current));
      await db.run("DELETE FROM settings WHERE name = 'security'");
    });

    it('store their last activity once a minute at most', async () => {
      const token = await login('ada');
      const read = async () =>
        (
          await db.row<{ last_active_at: string }>('SELECT last_active_at FROM sessions WHERE sid = ?', [
            claims(token).sid,
          ])
        )?.last_active_at;
      const before = await read();
      done(await me(token));
      assert.equal(await read(), before);
      await db.run('UPDATE sessions SET last_active_at = ? WHERE sid = ?', [now(-61_000), claims(token).sid]);
      done(await me(token));
      assert.notEqual(await read(), before);
    });

    it('end with a changed password, all but the current one', async () => {
      const tokens = [await login('ada'), await login('ada')] as const;
      const ada = service.server.as(tokens[0]);
      const change = (old_password: string, new_password: string) =>
        ada.post('/api/auth/password', { old_password, new_password });
      assert.equal(
        refused(await change('wrong', 'violet-harbour-92'), 401, 401001).data.errors[0].path,
        'old_password',
      );
      assert.equal(refused(await change('ada-secret', 'short'), 400, 400001).data.errors[0].path, 'new_password');
      refused(await change('ada-secret', 'password1234'), 400, 400001);
      done(await me(tokens[1]));
      done(await change('ada-secret', 'violet-harbour-92'));
      done(await me(tokens[0]));
      refused(await me(tokens[1]), 401, 401001);
      await login('ada', 'violet-harbour-92');
    });

    it('are not accessible to API tokens', async () => {
      const { token } = made(await service.admin.post('/api/tokens', { name: 'ci' }));
      const ci = service.server.as(token);
      for (const path of ['sessions', 'webauthn']) refused(await ci.get(`/api/auth/${path}`), 403, 403001);
      for (const path of ['refresh', 'logout', '2fa/setup'])
        refused(await ci.post(`/api/auth/${path}`, {}), 403, 403001);
      refused(await ci.delete('/api/auth/sessions/others'), 403, 403001);
      refused(await ci.get('/api/security/profile'), 403, 403001);
      refused(await ci.put('/api/settings', { site_name: 'x' }), 403, 403001);
      refused(await ci.post('/api/system/unlock-account', { username: 'x' }), 403, 403001);
      done(await ci.get('/api/auth/me'));
    });
  });
}

// the second replica is a process of its own: replicas share nothing but the database and Redis
const [postgresql] = databases('postgresql');
/** Attempts to sign in that an address has in a minute. */
const LIMIT = 20;

describeUnless(postgresql?.skip || noRedis)('two replicas on one PostgreSQL and Redis', () => {
  const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
  const env = { SECRET_KEY, REDIS_URL, TRUSTED_PROXIES: '127.0.0.1/32' };
  let service: Awaited<ReturnType<typeof startService>>;
  let second: Server;
  beforeAll(async () => {
    service = await startService('postgresql', env);
    const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-replica-'));
    second = await ServerProcess.start({ DATABASE_URL: service.databaseUrl, ...env }, dataDir);
  });
  afterAll(async () => {
    await second?.kill();
    if (second) rmSync(second.dataDir, { recursive: true, force: true });
    await service?.stop();
  });

  it('refuse a session that was ended on another replica at the next request', async () => {
    for (const [one, other] of [
      [service.server, second],
      [second, service.server],
    ] as const) {
      const token = await one.login();
      done(await other.as(token).get('/api/auth/me'));
      done(await one.as(token).post('/api/auth/logout'));
      refused(await other.as(token).get('/api/auth/me'), 401, 401001);
    }
  });

  it('count rates together', async () => {
    // an address of this run alone: what Redis counted lives for a minute
    const ip = `2001:db8:${process.pid.toString(16).slice(-4)}:${(Date.now() % 65_536).toString(16)}::1`;
    const attempt = (server: Server) =>
      server.call('POST', '/api/auth/login', { username: 'x', password: '' }, undefined, { 'x-forwarded-for': ip });
    // a replica counts by itself while Redis is slow to answer, so it may accept some more
    let attempts = 0;
    for (const server of [service.server, second])
      await until('a replica rejects the address', async () => {
        attempts++;
        const answer = await attempt(server);
        return answer.status === 429 && Number(answer.headers.get('retry-after')) > 0;
      });
    assert.ok(attempts > LIMIT && attempts < 2 * LIMIT, `${attempts} attempts`);
  });

  it('lock together, and are unlocked together', async () => {
    const ip = '203.0.113.77';
    const attempt = (server: Server, password: string) =>
      server.call('POST', '/api/auth/login', { ...ADMIN, password }, undefined, { 'x-forwarded-for': ip });
    for (let i = 0; i < 5; i++) refused(await attempt(i % 2 ? service.server : second, 'wrong'), 401, 401001);
    for (const server of [service.server, second]) refused(await attempt(server, ADMIN.password), 423, 423001);
    done(await second.as(service.token).post('/api/system/unlock-account', { username: ADMIN.username }));
    done(await attempt(service.server, ADMIN.password));
  });

  it('notice that Redis froze, report it, and work without it until it is back', async () => {
    const way = await cuttable(REDIS_URL);
    const alone = await startService('sqlite', { REDIS_URL: way.url });
    const is = async () => (await alone.admin.get('/health/ready')).data.redis;
    try {
      await until('it is there', async () => (await is()) === 'up');
      way.freeze();
      done(await alone.admin.get('/api/site'));
      await until('it is away', async () => (await is()) === 'away');
      assert.equal(done(await alone.admin.get('/api/system/status')).redis, 'away');
      way.mend();
      await until('it is back', async () => (await is()) === 'up');
    } finally {
      await alone.stop();
      way.close();
    }
  });

  it('count each for itself while Redis is unavailable', async () => {
    const alone = await startService('sqlite', { REDIS_URL: 'redis://127.0.0.1:1', TRUSTED_PROXIES: '127.0.0.1/32' });
    try {
      const attempt = () =>
        alone.server.call('POST', '/api/auth/login', { username: 'x', password: '' }, undefined, {
          'x-forwarded-for': '203.0.113.5',
        });
      for (let i = 0; i < 20; i++) refused(await attempt(), 400, 400001);
      refused(await attempt(), 429, 429001);
      assert.match(alone.server.log, /Redis does not answer/);
    } finally {
      await alone.stop();
    }
  });
});
