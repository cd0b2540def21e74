import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import bcrypt from 'bcrypt';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, each, refused } from '../support/world.js';

// no limit depends on what a hash costs; for unknown names the service goes on comparing with its own, costly one
const { hash } = bcrypt;
const cheap = jest.spyOn(bcrypt, 'hash').mockImplementation((text: string | Buffer) => hash(text, 4));
afterAll(() => cheap.mockRestore());

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`lockout on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let network = 1;
    const elsewhere = () => `198.51.100.${network++}`;
    const attempt = (username: string, password: string, ip: string) =>
      service.server.call('POST', '/api/auth/login', { username, password }, undefined, { 'x-forwarded-for': ip });
    const stats = async () => done(await service.admin.get('/api/system/login-stats'));
    const fail = async (username: string, ip: string, times = 5) => {
      for (let i = 0; i < times; i++) refused(await attempt(username, 'wrong', ip), 401, 401001);
    };
    const seconds = (answer: Answer) => Number(answer.headers.get('retry-after'));

    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      for (const username of ['ada', 'ben', 'cleo', 'dora'])
        await addUser(db, { username, password: `${username}-secret` });
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('is shown with its network, and removed by a super administrator', async () => {
      const [one, two] = [elsewhere(), '2001:db8:5:5::9'];
      await fail('ada', one);
      await fail('ada', two);
      const { locked } = await stats();
      const mine = locked.filter((lock) => lock.username === 'ada');
      assert.deepEqual(mine.map((lock) => lock.network).sort(), [one, '2001:db8:5:5::/64'].sort());
      for (const lock of mine) assert.ok(lock.locked_until > now());
      const unlock = (username: string) => service.admin.post('/api/system/unlock-account', { username });
      refused(await unlock('nobody'), 404, 404001);
      refused(await unlock(''), 400, 400001);
      assert.deepEqual(done(await unlock(' Ada ')), { unlocked: 2 });
      refused(await unlock('ada'), 404, 404001);
      done(await attempt('ada', 'ada-secret', one));
      assert.ok(!(await stats()).locked.some((lock) => lock.username === 'ada'));
      const ordinary = service.server.as(done(await attempt('ben', 'ben-secret', elsewhere())).token);
      refused(await ordinary.post('/api/system/unlock-account', { username: 'ada' }), 403, 403001);
      refused(await ordinary.get('/api/system/login-stats'), 403, 403001);
    });

    it('lasts twice as long each time, and a day at most', async () => {
      done(await service.admin.put('/api/settings/security', { rate_limits: { login: 100 } }));
      const ip = elsewhere();
      const minutes: number[] = [];
      for (let i = 0; i < 9; i++) {
        await fail('ben', ip, 5);
        minutes.push(Math.round(seconds(refused(await attempt('ben', 'ben-secret', ip), 423, 423001)) / 60));
        await db.run('UPDATE limits SET blocked_until = ? WHERE username = ? AND network = ?', [now(-1000), 'ben', ip]);
      }
      assert.deepEqual(minutes, [15, 30, 60, 120, 240, 480, 960, 1440, 1440]);
    });

    it('follows the settings', async () => {
      const login_limit = { max_failures: 3, lock_minutes: 3, network_failures: 5 };
      done(await service.admin.put('/api/settings/security', { login_limit }));
      const ip = elsewhere();
      await fail('cleo', ip, 3);
      assert.ok(seconds(refused(await attempt('cleo', 'cleo-secret', ip), 423, 423001)) <= 180);
      await fail('somebody', ip, 2);
      // five failures on any names: the network has to wait, whatever the name
      refused(await attempt('dora', 'dora-secret', ip), 429, 429001);
      done(await attempt('dora', 'dora-secret', elsewhere()));
      await db.run("DELETE FROM settings WHERE name = 'security'");
    });

    it('counts logins and failures of a day and of thirty', async () => {
      const before = await stats();
      const ip = elsewhere();
      await fail('dora', ip, 3);
      done(await attempt('dora', 'dora-secret', ip));
      const after = await stats();
      assert.deepEqual(
        [after.last_24h.ok - before.last_24h.ok, after.last_24h.failed - before.last_24h.failed],
        [1, 3],
      );
      assert.equal(after.top_networks.find((n) => n.network === ip)?.failed ?? 3, 3);
      assert.match(after.by_day[0].day, /^\d{4}-\d\d-\d\d$/);
      assert.equal(
        after.by_day.reduce((sum, day) => sum + day.ok, 0),
        after.last_24h.ok,
      );
    });

    it('is logged: failures, the lock, and its end', async () => {
      const { list } = done(await service.admin.get('/api/audit/logs?action=auth.*&limit=500'));
      const seen = new Set(list.map((entry) => entry.action));
      for (const action of ['auth.login', 'auth.login_failed', 'auth.lock', 'auth.unlock'])
        assert.ok(seen.has(action), action);
    });
  });
}

describe('attacks on the login', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let db: Db;
  let close: () => Promise<void>;
  const attempt = (username: string, password: string, ip: string) =>
    service.server.call('POST', '/api/auth/login', { username, password }, undefined, { 'x-forwarded-for': ip });
  beforeAll(async () => {
    service = await startService('sqlite', {
      TRUSTED_PROXIES: '127.0.0.1/32',
      LOG_LEVEL: 'error',
    });
    ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
    // what a power failure would leave is not asked here
    await db.run('PRAGMA synchronous = OFF');
    for (const username of ['ada', 'ben']) await addUser(db, { username, password: `${username}-secret` });
  });
  afterAll(async () => {
    await close();
    await service.stop();
  });

  it('500 attempts on one name from many networks do not lock its owner out elsewhere', async () => {
    done(await attempt('ada', 'ada-secret', '203.0.113.9'));
    const networks = Array.from({ length: 500 }, (_none, i) => `10.${1 + (i % 40)}.${Math.floor(i / 40)}.1`);
    const seen = new Map<number, number>();
    let inBetween: Answer | undefined;
    await each(networks, 16, async (ip, i) => {
      const { status } = await attempt('ada', 'wrong', ip);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      // during the attack the owner signs in from a known network
      if (i === 250) inBetween = await attempt('ada', 'ada-secret', '203.0.113.9');
    });
    const counts = JSON.stringify([...seen]);
    assert.ok(
      [...seen.keys()].every((status) => [401, 429].includes(status)),
      counts,
    );
    // more failures than fill any limit: 5 of a name, 100 of a network
    assert.ok((seen.get(401) ?? 0) > 100, counts);
    done(inBetween as Answer);
    done(await attempt('ada', 'ada-secret', '203.0.113.9'));
    done(await attempt('ada', 'ada-secret', '192.0.2.44'));
  });

  it('the answer and the work are the same for names that exist and names that do not', async () => {
    await db.run('UPDATE users SET status = 0 WHERE username_key = ?', ['ben']);
    const compare = jest.spyOn(bcrypt, 'compare');
    const compared = () => compare.mock.calls.length;
    // linked or not yet
    const written = `SELECT id FROM audit_logs WHERE action = 'auth.login_failed' UNION ALL
      SELECT id FROM audit_pending WHERE action = 'auth.login_failed'`;
    const rows = async () => (await db.rows(written)).length;
    const answers: string[] = [];
    for (const [i, name] of ['ada', 'nobody', 'ben', 'no one at all', 'ADA', 'Nobody'].entries()) {
      const [before, logged] = [compared(), await rows()];
      const { status, code, msg, data } = await attempt(name, 'wrong', `203.0.113.${100 + i}`);
      assert.equal(compared() - before, 1, name);
      assert.equal((await rows()) - logged, 1, name);
      answers.push(JSON.stringify({ status, code, msg, data }));
    }
    compare.mockRestore();
    assert.equal(new Set(answers).size, 1, answers.join('\n'));
  });

  it('surplus logins are refused at once instead of waiting for seconds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_none, i) => attempt('nobody', 'wrong', `10.200.${i}.1`)),
    );
    const turned = answers.filter((answer) => answer.status === 429);
    assert.ok(turned.length > 0 && turned.length < 30, `${turned.length} of 30`);
    for (const answer of turned) assert.ok(Number(refused(answer, 429, 429001).headers.get('retry-after')) > 0);
    // a refused attempt is no failure, and locks nobody
    done(await attempt('ada', 'ada-secret', '10.200.0.1'));
  });

  it('passwords of 200 characters, of 4-byte characters, and of 72 bytes are accepted or refused as a whole', async () => {
    const { token } = service;
    const change = (old_password: string, new_password: string) =>
      service.server.as(token).post('/api/auth/password', { old_password, new_password });
    const words = 'violet harbour ninety two ';
    const first = 'correct-horse-battery-9';
    refused(await change(first, `${words.repeat(8)}`.slice(0, 200)), 400, 400001);
    // 128 characters of four bytes each: 512 bytes
    const faces = ['😀', '🐎', '🔋', '📎', '🌊', '🍋', '🎻', '🧭'];
    const long = Array.from({ length: 128 }, (_none, i) => faces[(i * i + (i >> 2)) % faces.length]).join('');
    done(await change(first, long));
    const admin = (password: string) => attempt('admin', password, '203.0.113.200');
    done(await admin(long));
    refused(await admin(long.slice(0, -2)), 401, 401001);
    refused(await admin([...long].slice(0, 18).join('')), 401, 401001);
    refused(await change(long, `${long}😀`), 400, 400001);
    refused(await change(long, '😀😀😀😀😀'), 400, 400001);
    done(await change(long, first));
    refused(await admin('x'.repeat(1025)), 400, 400001);
  });
});

describe('a forged X-Forwarded-For', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  afterAll(() => service.stop());

  it('is ignored without a trusted proxy: all attempts count for the socket', async () => {
    service = await startService('sqlite');
    const attempt = (i: number) =>
      service.server.call('POST', '/api/auth/login', { username: 'admin', password: 'wrong' }, undefined, {
        'x-forwarded-for': `192.0.2.${i}`,
        'x-real-ip': `192.0.2.${i}`,
        forwarded: `for=192.0.2.${i}`,
      });
    for (let i = 1; i <= 5; i++) refused(await attempt(i), 401, 401001);
    refused(await attempt(6), 423, 423001);
    const { list } = done(await service.admin.get('/api/audit/logs?action=auth.login_failed'));
    assert.deepEqual([...new Set(list.map((entry) => entry.ip))], ['127.0.0.1']);
  });
});
