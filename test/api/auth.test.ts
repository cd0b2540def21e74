import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, it, jest } from '@jest/globals';
import bcrypt from 'bcrypt';
import { now } from '../../src/platform/common/clock.js';
import { loadKeys, secretBox } from '../../src/platform/config/secret-box.js';
import type { Db } from '../../src/platform/database/db.js';
import { passwordHash } from '../../src/users/passwords.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { ADMIN, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused } from '../support/world.js';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = (header: object, payload: object, key: string | Buffer) => {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
};
const claims = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] as string, 'base64url').toString());

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`login on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let network = 1;
    /** An attempt from this address, as the trusted proxy tells it. */
    const attempt = (username: string, password: string, ip: string) =>
      service.server.call('POST', '/api/auth/login', { username, password }, undefined, { 'x-forwarded-for': ip });
    /** An address that nobody used. */
    const elsewhere = () => `198.51.100.${network++}`;
    const me = (token: string) => service.server.call('GET', '/api/auth/me', undefined, token);
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

    it('gives a JWT and the user, as me does', async () => {
      const { token, user } = done(await attempt(' ADA ', 'ada-secret', elsewhere()));
      assert.deepEqual(Object.keys(user).sort(), [
        'created_at',
        'email',
        'id',
        'language',
        'last_login_at',
        'nickname',
        'role',
        'status',
        'totp_enabled',
        'username',
      ]);
      assert.deepEqual([user.username, user.role, user.status, user.totp_enabled], ['ada', 1, 1, false]);
      assert.match(user.last_login_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.deepEqual(done(await me(token)), user);
      const { exp, iat, sub, sid } = claims(token);
      assert.equal(exp - iat, 12 * 3600);
      assert.equal(sub, String(user.id));
      assert.ok(sid);
    });

    it('ends at logout, this session only', async () => {
      const first = done(await attempt('ada', 'ada-secret', elsewhere())).token;
      const second = done(await attempt('ada', 'ada-secret', elsewhere())).token;
      done(await service.server.call('POST', '/api/auth/logout', undefined, first));
      assert.equal(refused(await me(first), 401, 401001).msg, 'Invalid token');
      done(await me(second));
    });

    it('answers the same to a wrong name, a wrong password and a disabled user', async () => {
      await db.run('UPDATE users SET status = 0 WHERE username_key = ?', ['ben']);
      const answers = [
        await attempt('nobody', 'ada-secret', elsewhere()),
        await attempt('ada', 'wrong', elsewhere()),
        await attempt('ben', 'ben-secret', elsewhere()),
      ];
      for (const answer of answers) refused(answer, 401, 401001);
      assert.equal(new Set(answers.map(({ msg, data }) => JSON.stringify({ msg, data }))).size, 1);
      assert.match(answers[0]?.msg ?? '', /username or password is wrong/i);
    });

    it('counts every byte of a long password', async () => {
      const long = `${'x'.repeat(100)}end`;
      await addUser(db, { username: 'longcut', password: '-' });
      await db.run('UPDATE users SET password_hash = ? WHERE username_key = ?', [await passwordHash(long), 'longcut']);
      done(await attempt('longcut', long, elsewhere()));
      refused(await attempt('longcut', `${'x'.repeat(100)}END`, elsewhere()), 401, 401001);
    });

    it('accepts the password only, not a digest of it', async () => {
      const long = 'the quick brown fox of 1958 jumps over nineteen lazy dogs near the harbour wall';
      const plain = createHash('sha256').update(long).digest('base64');
      const stored = async (name: string, hash: string) => {
        await addUser(db, { username: name, password: '-' });
        await db.run('UPDATE users SET password_hash = ? WHERE username_key = ?', [hash, name]);
      };
      const hashOf = async (name: string) =>
        (await db.row<{ h: string }>('SELECT password_hash AS h FROM users WHERE username_key = ?', [name]))?.h ?? '';
      await stored('fresh', await passwordHash(long));
      // as an older version stored it
      await stored('older', await bcrypt.hash(plain, 4));
      for (const digest of [plain, createHash('sha256').update(long).digest('hex')])
        refused(await attempt('fresh', digest, elsewhere()), 401, 401001);
      // an older hash may be of that very text, as `openssl rand -base64 32` prints such: it opens, but does not take
      // the place of the longer password
      done(await attempt('older', plain, elsewhere()));
      assert.match(await hashOf('older'), /^\$2b\$04/);
      const hash = jest.spyOn(bcrypt, 'hash');
      for (const name of ['fresh', 'older']) done(await attempt(name, long, elsewhere()));
      const costs = hash.mock.calls.map(([, cost]) => cost);
      hash.mockRestore();
      assert.match(await hashOf('older'), /^v2:\$2b\$/, 'hashed anew by the login');
      assert.deepEqual(costs, [12], 'in earnest');
      for (const name of ['fresh', 'older']) {
        refused(await attempt(name, plain, elsewhere()), 401, 401001);
        done(await attempt(name, long, elsewhere()));
      }
      await stored('shorter', await bcrypt.hash('violet-harbour-92', 4));
      refused(await attempt('shorter', 'violet-harbour-93', elsewhere()), 401, 401001);
      assert.match(await hashOf('shorter'), /^\$2b\$04/, 'a failure changes nothing');
      done(await attempt('shorter', 'violet-harbour-92', elsewhere()));
      assert.match(await hashOf('shorter'), /^v2:/);
      done(await attempt('shorter', 'violet-harbour-92', elsewhere()));
      // what opens the new hash at bcrypt is no password either
      const inner = createHmac('sha256', 'zoneward password 2').update(long).digest('base64');
      refused(await attempt('fresh', inner, elsewhere()), 401, 401001);
    });

    it('acts on disabling and demotion at the very next request', async () => {
      const { token } = done(await attempt('cleo', 'cleo-secret', elsewhere()));
      refused(await service.server.call('GET', '/api/accounts', undefined, token), 403, 403001);
      await db.run('UPDATE users SET role = 2 WHERE username_key = ?', ['cleo']);
      done(await service.server.call('GET', '/api/accounts', undefined, token));
      await db.run('UPDATE users SET role = 1 WHERE username_key = ?', ['cleo']);
      refused(await service.server.call('GET', '/api/accounts', undefined, token), 403, 403001);
      await db.run('UPDATE users SET status = 0 WHERE username_key = ?', ['cleo']);
      refused(await me(token), 401, 401001);
      await db.run('UPDATE users SET status = 1 WHERE username_key = ?', ['cleo']);
      done(await me(token));
    });

    it('ends with the session, whatever the JWT says', async () => {
      const { token } = done(await attempt('cleo', 'cleo-secret', elsewhere()));
      await db.run('UPDATE sessions SET expires_at = ? WHERE sid = ?', [now(-1000), claims(token).sid]);
      refused(await me(token), 401, 401001);
    });

    it('accepts only JWTs that it signed', async () => {
      const good = claims(service.token);
      const hs256 = { alg: 'HS256', typ: 'JWT' };
      const [header, payload, signature] = service.token.split('.') as [string, string, string];
      const forged = [
        signed(hs256, good, 'another key'),
        signed(hs256, good, ''),
        `${part({ alg: 'none', typ: 'JWT' })}.${payload}.`,
        `${part({ alg: 'none', typ: 'JWT' })}.${payload}.${signature}`,
        `${header}.${part({ ...good, sub: '2' })}.${signature}`,
        `${header}.${part({ ...good, exp: good.exp + 9999 })}.${signature}`,
        `${header}.${payload}`,
        'x.y.z',
        'garbage',
      ];
      for (const token of forged) assert.equal(refused(await me(token), 401, 401001).msg, 'Invalid token', token);
    });

    it('refuses an expired JWT, although our own key signed it', async () => {
      const row = await db.row<{ content: string }>("SELECT content FROM settings WHERE name = 'signing_secret'");
      const box = secretBox(loadKeys([], service.server.dataDir));
      const key = Buffer.from(box.decrypt(row?.content ?? '', 'settings.signing_secret'), 'hex');
      const seconds = Math.floor(Date.now() / 1000);
      const own = (exp: number) => signed({ alg: 'HS256', typ: 'JWT' }, { ...claims(service.token), exp }, key);
      done(await me(own(seconds + 60)));
      assert.equal(refused(await me(own(seconds - 1)), 401, 401001).msg, 'Invalid token');
      // nor one for another user's session, nor one without a session
      const { sid: _sid, ...rest } = claims(service.token);
      refused(await me(signed({ alg: 'HS256' }, { ...claims(service.token), sub: '2' }, key)), 401, 401001);
      refused(await me(signed({ alg: 'HS256' }, rest, key)), 401, 401001);
      refused(await me(signed({ alg: 'HS512' }, claims(service.token), key)), 401, 401001);
    });

    it('says what is wrong with a credential', async () => {
      const { server } = service;
      assert.equal(refused(await server.call('GET', '/api/auth/me'), 401, 401001).msg, 'No token provided');
      for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic YTpi', service.token]) {
        const answer = await server.call('GET', '/api/auth/me', undefined, undefined, { authorization });
        assert.equal(refused(answer, 401, 401001).msg, 'No token provided', authorization);
      }
      for (const token of ['svc_', 'svc_123', `svc_${'0'.repeat(64)}`, `svc_${'G'.repeat(64)}`]) {
        assert.equal(refused(await me(token), 401, 401001).msg, 'Invalid or expired token');
      }
      const bearer = await server.call('GET', '/api/auth/me', undefined, undefined, {
        authorization: `bearer ${service.token}`,
      });
      done(bearer);
    });

    it('locks a name in a network after five failures, and no other name', async () => {
      const [attacker, owner] = [elsewhere(), elsewhere()];
      for (let i = 0; i < 5; i++) refused(await attempt('dora', 'wrong', attacker), 401, 401001);
      const locked = refused(await attempt('dora', 'dora-secret', attacker), 423, 423001);
      const seconds = Number(locked.headers.get('retry-after'));
      assert.ok(seconds > 14 * 60 && seconds <= 15 * 60, `${seconds} s`);
      refused(await attempt(' DORA', 'dora-secret', attacker), 423, 423001);
      done(await attempt('dora', 'dora-secret', owner));
      done(await attempt('ada', 'ada-secret', attacker));
    });

    it('locks unknown names in the same way', async () => {
      const ip = elsewhere();
      for (let i = 0; i < 5; i++) refused(await attempt('no-such-name', 'wrong', ip), 401, 401001);
      refused(await attempt('no-such-name', 'wrong', ip), 423, 423001);
    });

    it('counts an IPv6 /64 as one network', async () => {
      for (let i = 0; i < 5; i++) refused(await attempt('dora', 'wrong', `2001:db8:7:7::${i + 1}`), 401, 401001);
      refused(await attempt('dora', 'dora-secret', '2001:db8:7:7:ffff::1'), 423, 423001);
      done(await attempt('dora', 'dora-secret', '2001:db8:7:8::1'));
    });

    it('forgets failures after a good login', async () => {
      const ip = elsewhere();
      for (let i = 0; i < 4; i++) refused(await attempt('dora', 'wrong', ip), 401, 401001);
      done(await attempt('dora', 'dora-secret', ip));
      for (let i = 0; i < 4; i++) refused(await attempt('dora', 'wrong', ip), 401, 401001);
      done(await attempt('dora', 'dora-secret', ip));
    });

    it('counts parallel guesses before they are checked', async () => {
      const ip = elsewhere();
      const answers = await Promise.all(Array.from({ length: 9 }, () => attempt('dora', 'wrong', ip)));
      const guesses = answers.filter((answer) => answer.status === 401).length;
      assert.ok(guesses <= 5, `${guesses} guesses`);
    });

    it('lets a network try twenty times a minute', async () => {
      const ip = elsewhere();
      // what is no login counts, too
      for (let i = 0; i < 20; i++) refused(await attempt('ada', '', ip), 400, 400001);
      const answer = refused(await attempt('ada', 'ada-secret', ip), 429, 429001);
      const seconds = Number(answer.headers.get('retry-after'));
      assert.ok(seconds > 0 && seconds <= 60, `${seconds} s`);
      done(await attempt('ada', 'ada-secret', elsewhere()));
    });

    it('refuses malformed logins', async () => {
      for (const body of [
        undefined,
        {},
        { username: 'ada' },
        { username: 'ada', password: 5 },
        { username: ['ada'], password: 'x' },
      ]) {
        refused(await service.server.call('POST', '/api/auth/login', body), 400, 400001);
      }
      refused(await service.server.call('POST', '/api/auth/login', { ...ADMIN, extra: 1 }), 400, 400001);
    });
  });
}
