import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { databases } from '../support/databases.js';
import { BASE_URL, enrolled, type Passkeys, refusedLogin, startPasskeys } from '../support/passkeys.js';
import { ADMIN, type Client } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { enrol } from '../support/totp.js';
import { done, made, refused } from '../support/world.js';

const PASSWORD = 'seven-green-lamps-42';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`credentials of an account on ${kind}`, () => {
    let world: Passkeys;
    beforeAll(async () => {
      world = await startPasskeys(kind, { BASE_URL });
    });
    afterAll(() => world?.stop());

    const bind = (id: number, subject: string) =>
      world.db.run(
        `INSERT INTO identities (user_id, provider, issuer, subject, name, created_at) VALUES (?, 'corp', 'https://id', ?, 'ada@corp', ?)`,
        [id, subject, now()],
      );
    const challenge = (id: number, kind: string) =>
      world.db.run(
        `INSERT INTO challenges (id, kind, user_id, content, tries, expires_at) VALUES (?, ?, ?, 'x', 0, ?)`,
        [`${kind}-${id}`, kind, id, now(60_000)],
      );
    const challenges = async (id: number) =>
      (await world.db.rows('SELECT id FROM challenges WHERE user_id = ?', [id])).length;
    /** Somebody with one of each, who is signed in with password and passkey. */
    const rich = async () => {
      const person = await enrolled(world);
      const { token, tokenData } = made(await person.client.post('/api/tokens', { name: 'ci' }));
      await bind(person.id, person.username);
      for (const kind of ['second-factor', 'reset']) await challenge(person.id, kind);
      const passkey = done(await person.client.get(world.path))[0];
      const byPasskey = world.server.as(done(await world.login(person.key)).token);
      return {
        ...person,
        path: `/api/users/${person.id}` as const,
        ci: world.server.as(token),
        tokenData,
        passkey,
        byPasskey,
      };
    };
    const gone = async (...clients: Client[]) => {
      for (const client of clients) refused(await client.get('/api/auth/me'), 401, 401001);
    };

    it('are listed after a new password, which ends every session and open challenge', async () => {
      const { id, path, client, byPasskey, ci, tokenData, passkey, key } = await rich();
      const answer = done(await world.admin.put(path, { password: PASSWORD }));
      assert.deepEqual(answer.holds, {
        tokens: [{ id: tokenData.id, name: 'ci', is_active: true }],
        passkeys: [{ id: passkey.id, name: passkey.name }],
        identities: [{ provider: 'corp', name: 'ada@corp' }],
      });
      await gone(client, byPasskey);
      assert.equal(await challenges(id), 0);
      // they open it still, until they are taken away
      done(await ci.get('/api/auth/me'));
      done(await world.login(key));
      assert.equal('holds' in done(await world.admin.put(path, { nickname: 'x' })), false);
    });

    it('are deleted by one call', async () => {
      const { id, username, path, client, byPasskey, ci, key } = await rich();
      const bystander = await rich();
      await enrol(client);
      const said = { sessions: 2, tokens: 1, passkeys: 1, identities: 1, second_factor: false };
      assert.deepEqual(done(await world.admin.post(`${path}/revoke-all`, {})), said);
      await gone(client, byPasskey, ci);
      refusedLogin(await world.login(key));
      for (const table of ['sessions', 'api_tokens', 'passkeys', 'identities', 'challenges'])
        assert.deepEqual(await world.db.rows(`SELECT id FROM ${table} WHERE user_id = ?`, [id]), [], table);
      // the password opens it, and the app is asked for
      const login = () => world.server.call('POST', '/api/auth/login', { username, password: `${username}-secret` });
      assert.equal((await login()).code, -2);
      const all = done(await world.admin.post(`${path}/revoke-all`, { second_factor: true }));
      assert.deepEqual(all, { sessions: 0, tokens: 0, passkeys: 0, identities: 0, second_factor: true });
      assert.equal(done(await login()).user.totp_enabled, false);
      // nobody else loses anything
      for (const other of [bystander.client, bystander.byPasskey, bystander.ci, world.admin])
        done(await other.get('/api/auth/me'));
      assert.equal(await challenges(bystander.id), 2);
      const entry = done(await world.admin.get('/api/audit/logs?action=user.revoke_all&sort=created_at')).list[0];
      assert.deepEqual([entry.target?.name, entry.after, entry.result], [username, said, 'ok']);
    });

    it('are managed by super administrators, signed in', async () => {
      const { path, client, ci } = await rich();
      const deputy = await world.person(2);
      const pipeline = made(await world.admin.post('/api/tokens', { name: 'ci' })).token;
      for (const caller of [client, ci, deputy.client, world.server.as(pipeline)])
        refused(await caller.post(`${path}/revoke-all`, {}), 403, 403001);
      refused(await world.admin.post('/api/users/999999/revoke-all', {}), 404, 404001);
      refused(await world.admin.post(`${path}/revoke-all`, { second_factor: 'yes' }), 400, 400001);
      done(await world.admin.post(`${path}/revoke-all`));
    });

    it('are all deleted, also those being created at that moment', async () => {
      const { path, client } = await rich();
      const secrets: string[] = [];
      const first = made(await client.post('/api/tokens', { name: 'first' }));
      secrets.push(first.token);
      const making = Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 10; i++) {
          const answer = await client.post('/api/tokens', { name: 'another' });
          if (answer.status !== 201) return refused(answer, 401, 401001);
          secrets.push(answer.data.token);
        }
      });
      // some of them are under way
      while (secrets.length < 4) await new Promise((resolve) => setImmediate(resolve));
      done(await world.admin.post(`${path}/revoke-all`, {}));
      await Promise.all(making);
      await gone(...secrets.map((secret) => world.server.as(secret)));
    });

    it('are not extended by a sign-in with the old password while a new one is set', async () => {
      const person = await world.person();
      const login = () =>
        world.server.call('POST', '/api/auth/login', {
          username: person.username,
          password: `${person.username}-secret`,
        });
      const [, ...logins] = await Promise.all([
        world.admin.put(`/api/users/${person.id}`, { password: PASSWORD }),
        ...Array.from({ length: 5 }, login),
      ]);
      await gone(...logins.filter((a) => a.status === 200).map((a) => world.server.as(a.data.token)));
    });

    it('are never all deleted for the last super administrator who can sign in', async () => {
      const [{ id, password_hash }] = (await world.db.rows<{ id: number; password_hash: string }>(
        'SELECT id, password_hash FROM users WHERE role = 3',
      )) as [{ id: number; password_hash: string }];
      await bind(id, 'boss');
      await world.db.run("UPDATE users SET password_hash = '' WHERE id = ?", [id]);
      refused(await world.admin.post(`/api/users/${id}/revoke-all`, {}), 409, 409001);
      assert.equal((await world.db.rows('SELECT id FROM identities WHERE user_id = ?', [id])).length, 1);
      done(await world.admin.get('/api/auth/me'));
      await world.db.run('UPDATE users SET password_hash = ? WHERE id = ?', [password_hash, id]);
      done(await world.admin.post(`/api/users/${id}/revoke-all`, {}));
      await gone(world.admin);
      await world.server.login(ADMIN);
    });
  });
}
