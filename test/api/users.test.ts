import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { atOnce } from '../support/at-once.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, type Client, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const PASSWORD = 'seven-green-lamps-42';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`users on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let admin: Client;
    beforeAll(async () => {
      service = await startService(kind);
      ({ admin } = service);
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const rate_limits = { login: 100, public: 0, user: 0, token: 0 };
      done(await admin.put('/api/settings/security', { rate_limits }));
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    /** Somebody new with this role, signed in. */
    const person = async (username: string, role = 1) => {
      const user = { username, password: `${username}-secret` };
      const id = await addUser(db, user, role);
      const login = () => service.server.login(user);
      return { id, path: `/api/users/${id}` as const, login, client: service.server.as(await login()) };
    };
    const tokenOf = async (client: Client) =>
      service.server.as(made(await client.post('/api/tokens', { name: 'ci' })).token);
    const unauthenticated = async (client: Client) => refused(await client.get('/api/domains'), 401, 401001);
    const newest = async (action: string) => done(await admin.get(`/api/audit/logs?action=${action}&limit=1`)).list[0];
    const fields = (answer: Answer) => refused(answer, 400, 400001).data.errors.map((e) => e.path);

    it('are created, read, changed and deleted', async () => {
      const body = { username: ' Ada ', nickname: 'Countess', email: 'Ada@example.com', password: PASSWORD, role: 2 };
      const user = made(await admin.post('/api/users', body));
      assert.match(user.created_at, /^\d{4}-.*Z$/);
      const { id, created_at } = user;
      const stored = {
        id,
        username: 'Ada',
        nickname: 'Countess',
        email: 'Ada@example.com',
        role: 2,
        status: 1,
        totp_enabled: false,
        language: 'en',
        created_at,
        last_login_at: null,
      };
      assert.deepEqual(user, stored);
      assert.deepEqual(done(await admin.get(`/api/users/${id}`)), stored);
      await service.server.login({ username: 'ada', password: PASSWORD });
      const changed = done(await admin.put(`/api/users/${id}`, { nickname: ' Lady ', role: 1 }));
      const { last_login_at } = changed;
      assert.deepEqual(changed, { ...stored, nickname: 'Lady', role: 1, last_login_at });
      assert.deepEqual(done(await admin.get(`/api/users/${id}`)), changed);
      assert.deepEqual(done(await admin.put(`/api/users/${id}`, {})), changed);
      done(await admin.delete(`/api/users/${id}`));
      for (const answer of [
        await admin.get(`/api/users/${id}`),
        await admin.put(`/api/users/${id}`, { nickname: 'x' }),
        await admin.delete(`/api/users/${id}`),
      ]) {
        refused(answer, 404, 404001);
      }
      const plain = made(await admin.post('/api/users', { username: 'plain', password: PASSWORD }));
      assert.deepEqual([plain.role, plain.nickname, plain.email], [1, 'plain', null]);
      const entry = await newest('user.create');
      assert.deepEqual([entry.target?.name, entry.after], ['plain', { username: 'plain', email: null, role: 1 }]);
    });

    it('are for administrators to read, and for super administrators to change', async () => {
      const plain = await person('plain-reader');
      const reader = await person('reader', 2);
      const sup = await person('sup', 3);
      refused(await plain.client.get('/api/users'), 403, 403001);
      refused(await plain.client.get(plain.path), 403, 403001);
      done(await reader.client.get('/api/users'));
      done(await reader.client.get(plain.path));
      const supToken = await tokenOf(sup.client);
      done(await supToken.get('/api/users'));
      for (const client of [plain.client, reader.client, supToken]) {
        refused(await client.post('/api/users', { username: 'x', password: PASSWORD }), 403, 403001);
        refused(await client.put(plain.path, { role: 3 }), 403, 403001);
        refused(await client.delete(plain.path), 403, 403001);
      }
      const { list } = done(await admin.get('/api/audit/logs?action=user.update&result=failed'));
      assert.deepEqual(
        list.slice(0, 3).map((e) => [e.actor.type, e.actor.username, String(e.target?.id)]),
        [
          ['token', 'sup', String(plain.id)],
          ['user', 'reader', String(plain.id)],
          ['user', 'plain-reader', String(plain.id)],
        ],
      );
      assert.equal(done(await admin.get(plain.path)).role, 1);
    });

    it('refuse what they do not know', async () => {
      const { path } = await person('checked');
      const WRONG: [object, string][] = [
        [{ username: '' }, 'username'],
        [{ username: 'two words' }, 'username'],
        [{ username: undefined }, 'username'],
        [{ username: 'x'.repeat(65) }, 'username'],
        // two letters each in lower case
        [{ username: 'İ'.repeat(40) }, 'username'],
        [{ password: '12345678901' }, 'password'],
        [{ password: 'short' }, 'password'],
        [{ password: 'newcomer-9' }, 'password'],
        [{ email: 'nobody' }, 'email'],
        [{ email: `${'İ'.repeat(60)}@${'İ'.repeat(100)}` }, 'email'],
        [{ role: 0 }, 'role'],
        [{ role: 4 }, 'role'],
        [{ role: '2' }, 'role'],
        [{ role: null }, 'role'],
        [{ nickname: 'two\nlines' }, 'nickname'],
        [{ status: 1 }, 'status'],
        [{ id: 7 }, 'id'],
      ];
      for (const [more, field] of WRONG) {
        const body = { username: 'newcomer', password: PASSWORD, ...more };
        assert.ok(fields(await admin.post('/api/users', body)).includes(field), JSON.stringify(more));
      }
      const WRONG_CHANGES: [object, string][] = [
        [{ username: 'other' }, 'username'],
        [{ totp_enabled: true }, 'totp_enabled'],
        [{ nickname: '  ' }, 'nickname'],
        [{ nickname: null }, 'nickname'],
        [{ email: '' }, 'email'],
        [{ role: null }, 'role'],
        [{ role: 4 }, 'role'],
        [{ status: 2 }, 'status'],
        [{ status: true }, 'status'],
        [{ status: null }, 'status'],
        [{ password: 'short' }, 'password'],
        [{ password: 'checked-11' }, 'password'],
        [{ password: null }, 'password'],
      ];
      for (const [body, field] of WRONG_CHANGES) {
        assert.ok(fields(await admin.put(path, body)).includes(field), JSON.stringify(body));
      }
      for (const id of ['0', '-1', 'x', '1e3', '99999999999']) {
        refused(await admin.get(`/api/users/${id}`), 400, 400001);
      }
      refused(await admin.get('/api/users/2147483647'), 404, 404001);
    });

    it('are listed in pages, sorted and searched', async () => {
      for (const [username, nickname, email] of [
        ['list-one', '100% Ä', 'first@list.example'],
        ['list-two', '1000 b', 'second@list.example'],
        ['list-three', 'c', null],
      ]) {
        made(await admin.post('/api/users', { username, nickname, email, password: PASSWORD }));
      }
      const names = async (query: string) => {
        const answer = await admin.get(`/api/users?${query}`);
        return [done(answer).map((u) => u.username), answer.headers.get('x-total-count')];
      };
      assert.deepEqual(await names('keyword=LIST-&sort=username&limit=2'), [['list-one', 'list-three'], '3']);
      assert.deepEqual(await names('keyword=list-&sort=username&limit=2&page=2'), [['list-two'], '3']);
      assert.deepEqual(await names('keyword=list-&sort=-created_at'), [['list-three', 'list-two', 'list-one'], '3']);
      assert.deepEqual(await names('keyword=100%25'), [['list-one'], '1']);
      assert.deepEqual(await names('keyword=@LIST.example&sort=-id'), [['list-two', 'list-one'], '2']);
      await service.server.login({ username: 'list-two', password: PASSWORD });
      assert.deepEqual((await names('keyword=list-&sort=-last_login_at'))[0]?.[0], 'list-two');
      const { headers } = await admin.get('/api/users?keyword=list-&limit=1&page=2');
      assert.match(headers.get('link') ?? '', /page=1&limit=1>; rel="prev".*page=3&limit=1>; rel="next"/);
      refused(await admin.get('/api/users?sort=password_hash'), 400, 400001);
      const disabled = made(await admin.post('/api/users', { username: 'list-off', password: PASSWORD, role: 2 })).id;
      done(await admin.put(`/api/users/${disabled}`, { status: 0 }));
      assert.deepEqual(await names('keyword=list-&status=0'), [['list-off'], '1']);
      assert.deepEqual(await names('keyword=list-&status=1&role=2'), [[], '0']);
      assert.deepEqual(await names('keyword=list-&role=2&limit=5'), [['list-off'], '1']);
      assert.deepEqual(await names('keyword=list-&role=1&sort=id'), [['list-one', 'list-two', 'list-three'], '3']);
      for (const query of ['role=0', 'role=x', 'role=', 'status=2', 'status=true', 'role=1&role=2'])
        refused(await admin.get(`/api/users?${query}`), 400, 400001);
      assert.equal(JSON.stringify(done(await admin.get('/api/users'))).includes('$2b$'), false);
    });

    it('have a unique name and address, in any case', async () => {
      const create = (username: string, email?: string) =>
        admin.post('/api/users', { username, email, password: PASSWORD });
      made(await create('ÄDA', 'Größe@example.com'));
      assert.match(refused(await create('äda'), 409, 409001).msg, /^username/);
      assert.match(refused(await create('other', 'GRÖßE@EXAMPLE.COM'), 409, 409001).msg, /^email/);
      const { id } = made(await create('other', 'other@example.com'));
      const path = `/api/users/${id}` as const;
      assert.match(refused(await admin.put(path, { email: 'größe@example.com' }), 409, 409001).msg, /^email/);
      assert.equal(done(await admin.put(path, { email: 'OTHER@example.com' })).email, 'OTHER@example.com');
      const names = ['Straße', 'STRAßE', 'straße', 'StrAßE'];
      const twins = await Promise.all(names.map((name) => create(name)));
      assert.deepEqual(twins.map((a) => a.status).toSorted(), [201, 409, 409, 409]);
      const people = [await person('mail-a'), await person('mail-b'), await person('mail-c')];
      const moves = await atOnce(
        db,
        kind,
        people.map((p, i) => () => admin.put(p.path, { email: ['x@y.example', 'X@y.example', 'x@Y.example'][i] })),
      );
      assert.deepEqual(moves.map((a) => a.status).toSorted(), [200, 409, 409]);
    });

    it('that are disabled are refused at the very next request, and so are their tokens', async () => {
      const { client, path, login } = await person('gone');
      const token = await tokenOf(client);
      done(await client.get('/api/domains'));
      done(await token.get('/api/domains'));
      assert.equal(done(await admin.put(path, { status: 0 })).status, 0);
      await unauthenticated(client);
      await unauthenticated(token);
      await assert.rejects(login(), /401/);
      done(await admin.put(path, { status: 1 }));
      await unauthenticated(client);
      done(await token.get('/api/domains'));
      await login();
      const { before: was, after: is } = await newest('user.update');
      assert.deepEqual([was?.status, is?.status], [0, 1]);
    });

    it('that are demoted are ordinary at the very next request, and so are their tokens', async () => {
      const { client, path } = await person('falling', 3);
      const token = await tokenOf(client);
      done(await client.get('/api/users'));
      done(await client.put(path, { nickname: 'still' }));
      done(await token.get('/api/accounts'));
      done(await admin.put(path, { role: 2 }));
      done(await client.get('/api/users'));
      refused(await client.put(path, { role: 3 }), 403, 403001);
      done(await admin.put(path, { role: 1 }));
      refused(await client.get('/api/users'), 403, 403001);
      refused(await token.get('/api/accounts'), 403, 403001);
      done(await admin.put(path, { role: 2 }));
      done(await token.get('/api/accounts'));
    });

    it('leave their domains and their history, and nothing else, when they are deleted', async () => {
      const { id, client, path } = await person('leaver', 2);
      const token = await tokenOf(client);
      const account = await addAccount(client, 'zonefile', {});
      const domain = await addDomain(client, account, 'left.example', true);
      done(await admin.delete(path));
      await unauthenticated(client);
      await unauthenticated(token);
      for (const table of ['sessions', 'api_tokens']) {
        assert.equal(await db.row(`SELECT id FROM ${table} WHERE user_id = ?`, [id]), undefined);
      }
      assert.equal(done(await admin.get(`/api/domains/${domain}`)).owner_id, null);
      assert.equal(done(await admin.get(`/api/accounts/${account}`)).owner_id, null);
      const { list } = done(await admin.get('/api/audit/logs?action=domain.create&domain=left.example'));
      assert.deepEqual([list[0].actor.user_id, list[0].actor.username], [id, 'leaver']);
      const entry = await newest('user.delete');
      assert.deepEqual([entry.target?.name, entry.before?.role, entry.after], ['leaver', 2, null]);
    });

    it('get a new password, which ends their sessions and appears nowhere', async () => {
      const { client, path } = await person('forgetful');
      done(await admin.put(path, { password: PASSWORD, nickname: 'again' }));
      await unauthenticated(client);
      await assert.rejects(service.server.login({ username: 'forgetful', password: 'forgetful-secret' }), /401/);
      await service.server.login({ username: 'forgetful', password: PASSWORD });
      const entry = await newest('user.update');
      assert.equal(entry.after?.password_changed, true);
      assert.equal(entry.after?.nickname, 'again');
      const everything = JSON.stringify(done(await admin.get('/api/audit/logs?limit=500')));
      assert.equal(everything.includes(PASSWORD) || everything.includes('$2b$'), false);
    });

    it('have to verify another address, and mailed links end', async () => {
      const { id, path } = await person('moved');
      const open = async () => Boolean(await db.row('SELECT id FROM challenges WHERE user_id = ?', [id]));
      const reset = () =>
        db.run(
          `INSERT INTO challenges (id, kind, user_id, content, tries, expires_at) VALUES (?, 'reset', ?, 'x', 0, ?)`,
          [`reset-${id}`, id, now(60_000)],
        );
      const verified = async () =>
        Boolean((await db.row<{ v: boolean }>('SELECT email_verified AS v FROM users WHERE id = ?', [id]))?.v);
      done(await admin.put(path, { email: 'one@moved.example' }));
      await db.run('UPDATE users SET email_verified = ? WHERE id = ?', [true, id]);
      await reset();
      done(await admin.put(path, { email: 'ONE@moved.example', nickname: 'moved on' }));
      assert.deepEqual([await verified(), await open()], [true, true]);
      done(await admin.put(path, { email: 'two@moved.example' }));
      assert.deepEqual([await verified(), await open()], [false, false]);
      await reset();
      assert.equal(done(await admin.put(path, { email: null })).email, null);
      assert.equal(await open(), false);
      for (const change of [{ password: PASSWORD }, { status: 0 }]) {
        await reset();
        done(await admin.put(path, change));
        assert.equal(await open(), false);
      }
    });
  });
}
