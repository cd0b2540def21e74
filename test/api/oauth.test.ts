import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { Browser, type Idp, startIdp } from '../support/oidc.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused } from '../support/world.js';

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip)(`sign-in with OpenID Connect on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let idp: Idp;
    let db: Db;
    let close: () => Promise<void>;
    const browser = () => new Browser(service.server);
    /** A whole sign-in, or with a token a binding. */
    const signIn = async (login: string | null, at = browser(), token?: string) =>
      at.finish(await idp.visit(await at.authUrl({ provider: 'corp' }, token), login));
    const configure = async (more: object = {}) => {
      const { issuer, clientId: client_id, clientSecret: client_secret } = idp;
      const provider = { key: 'corp', name: 'Corp', issuer, client_id, client_secret, auto_create: true, ...more };
      done(await service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
    };
    const user = async (username: string) => {
      await addUser(db, { username, password: `${username}-secret` });
      return service.server.login({ username, password: `${username}-secret` });
    };
    const get = <P extends string>(path: P, token: string) => service.server.call('GET', path, undefined, token);
    const bound = async (token: string) => done(await get('/api/security/bind-oauth', token));
    const unbind = (token: string, key = 'corp') =>
      service.server.call('DELETE', `/api/security/bind-oauth/${key}`, undefined, token);
    const lastAudit = async (action: string) =>
      done(await service.admin.get(`/api/audit/logs?action=${action}&limit=1`)).list[0];

    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      done(await service.admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0 } }));
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const { port } = new URL(service.server.url);
      idp = await startIdp(`http://localhost:${port}/oauth/callback`, {
        ann: { preferred_username: 'Ann Lee', email: 'ann@example.com', email_verified: true, name: 'Ann Lee' },
        admin: { preferred_username: 'ADMIN', email: 'boss@example.com', email_verified: true },
        liar: { preferred_username: 'liar', email: 'Victim@Example.com', email_verified: true },
        unsure: { preferred_username: 'unsure', email: 'unsure@example.com', email_verified: false },
      });
      await configure();
    });
    afterAll(async () => {
      await idp?.stop();
      await close?.();
      await service?.stop();
    });

    it('tells the login page which providers there are', async () => {
      const status = () => service.server.call('GET', '/api/auth/oauth/status');
      assert.deepEqual(done(await status()), { enabled: true, providers: [{ key: 'corp', name: 'Corp' }] });
      done(await service.admin.put('/api/settings/oauth', { enabled: false }));
      assert.deepEqual(done(await status()), { enabled: false, providers: [] });
      refused(await browser().start({ provider: 'corp' }), 404, 404001);
      done(await service.admin.put('/api/settings/oauth', { enabled: true }));
      refused(await browser().start({ provider: 'other' }), 404, 404001);
    });

    it('asks for a code with PKCE, state and nonce, and marks the browser', async () => {
      const answer = await browser().start();
      const url = new URL(done(answer).auth_url);
      assert.equal(url.origin, idp.issuer);
      const { code_challenge, state, nonce, ...query } = Object.fromEntries(url.searchParams);
      assert.deepEqual(query, {
        client_id: idp.clientId,
        code_challenge_method: 'S256',
        redirect_uri: `http://localhost:${new URL(service.server.url).port}/oauth/callback`,
        response_type: 'code',
        scope: 'openid profile email',
      });
      assert.match(state as string, /^[0-9a-f]{64}$/);
      assert.match(code_challenge as string, /^[\w-]{43}$/);
      assert.match(nonce as string, /^[\w-]{43}$/);
      const cookie = answer.headers.getSetCookie()[0] as string;
      assert.match(
        cookie,
        /^zoneward_oauth=[0-9a-f]{64}; Max-Age=600; Path=\/api; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
      );
    });

    it('makes an account for a new person, and knows it the next time', async () => {
      const first = done(await signIn('ann'));
      assert.deepEqual(
        [first.user.username, first.user.nickname, first.user.email, first.user.role],
        ['AnnLee', 'Ann Lee', 'ann@example.com', 1],
      );
      assert.deepEqual(done(await get('/api/auth/me', first.token)), first.user);
      const sessions = done(await get('/api/auth/sessions', first.token));
      assert.deepEqual(
        sessions.map((s) => s.method),
        ['oauth'],
      );
      const second = done(await signIn('ann'));
      assert.equal(second.user.id, first.user.id);
      const [{ created_at, last_used_at, ...identity }] = await bound(second.token);
      assert.deepEqual(identity, { provider: 'corp', name: 'ann@example.com' });
      assert.ok((last_used_at ?? '') >= created_at);
      const row = await db.row<{ password_hash: string; email_verified: unknown }>(
        'SELECT password_hash, email_verified FROM users WHERE id = ?',
        [first.user.id],
      );
      assert.deepEqual({ ...row }, { password_hash: '', email_verified: null });
      const entry = await lastAudit('user.create');
      assert.deepEqual(
        [entry.target?.id, entry.after?.subject, entry.after?.issuer],
        [first.user.id, 'ann', idp.issuer],
      );
      assert.equal((await lastAudit('auth.login')).after?.method, 'oauth');
    });

    it('makes one account when a new person signs in twice at once', async () => {
      const [one, two] = [browser(), browser()];
      const queries = [await idp.visit(await one.authUrl(), 'twice'), await idp.visit(await two.authUrl(), 'twice')];
      const [a, b] = await Promise.all([one.finish(queries[0] as object), two.finish(queries[1] as object)]);
      assert.equal(done(a).user.id, done(b).user.id);
      assert.equal((await db.rows('SELECT id FROM identities WHERE subject = ?', ['twice'])).length, 1);
    });

    it('links nobody by name or e-mail', async () => {
      const boss = done(await signIn('admin')).user;
      assert.deepEqual([boss.username, boss.role], ['ADMIN-2', 1]);
      const token = await user('victim');
      await db.run('UPDATE users SET email = ?, email_key = ? WHERE username_key = ?', [
        'victim@example.com',
        'victim@example.com',
        'victim',
      ]);
      const liar = done(await signIn('liar')).user;
      assert.notEqual(liar.id, done(await get('/api/auth/me', token)).id);
      assert.deepEqual([liar.username, liar.email], ['liar', null]);
      assert.equal(done(await signIn('unsure')).user.email, null);
    });

    it('refuses people without an account, unless accounts are made', async () => {
      await configure({ auto_create: false });
      assert.match(refused(await signIn('nobody'), 401, 401001).msg, /^No account is bound to this sign-in/);
      assert.equal(await db.row('SELECT id FROM identities WHERE subject = ?', ['nobody']), undefined);
      const entry = await lastAudit('auth.login_failed');
      assert.deepEqual([entry.result, entry.error], ['failed', 'nobody is bound to no account']);
      done(await signIn('ann'));
      await configure();
    });

    it('binds a person to who is signed in, who then signs in with it', async () => {
      const token = await user('ben');
      assert.deepEqual(await bound(token), []);
      const answer = await signIn('ben-at-corp', browser(), token);
      assert.deepEqual(done(answer), { bound: true });
      const entry = await lastAudit('oauth.bind');
      assert.deepEqual([entry.actor.username, entry.after?.subject, entry.result], ['ben', 'ben-at-corp', 'ok']);
      assert.equal(done(await signIn('ben-at-corp')).user.username, 'ben');
      // the very same again is fine, another one of the provider is not
      assert.deepEqual(done(await signIn('ben-at-corp', browser(), token)), { bound: true });
      refused(await signIn('ben-elsewhere', browser(), token), 409, 409001);
      assert.equal((await bound(token)).length, 1);
      done(await unbind(token));
      assert.deepEqual(await bound(token), []);
      refused(await unbind(token), 404, 404001);
      refused(await unbind(token, 'No_Key'), 400, 400001);
    });

    it('refuses to bind an identity of another user', async () => {
      const token = await user('carl');
      refused(await signIn('ann', browser(), token), 409, 409001);
      assert.deepEqual(await bound(token), []);
      const entry = await lastAudit('oauth.bind');
      assert.deepEqual([entry.actor.username, entry.result], ['carl', 'failed']);
    });

    it('keeps the last sign-in method', async () => {
      const { token } = done(await signIn('ann'));
      refused(await unbind(token), 409, 409001);
      assert.equal((await bound(token)).length, 1);
      done(await signIn('ann'));
    });

    it('binds for no session that has ended, and for no user who was disabled', async () => {
      const token = await user('dora');
      const at = browser();
      const query = await idp.visit(await at.authUrl({ provider: 'corp' }, token), 'dora-at-corp');
      done(await service.server.call('POST', '/api/auth/logout', undefined, token));
      const other = await service.server.login({ username: 'dora', password: 'dora-secret' });
      assert.match(refused(await at.finish(query), 401, 401001).msg, /session has ended/);
      assert.deepEqual(await bound(other), []);

      const second = await idp.visit(await at.authUrl({ provider: 'corp' }, other), 'dora-at-corp');
      await db.run('UPDATE users SET status = 0 WHERE username_key = ?', ['dora']);
      refused(await at.finish(second), 401, 401001);
      assert.equal(await db.row('SELECT id FROM identities WHERE subject = ?', ['dora-at-corp']), undefined);
    });

    it('refuses disabled users', async () => {
      const { user: made } = done(await signIn('fay'));
      await db.run('UPDATE users SET status = 0 WHERE id = ?', [made.id]);
      refused(await signIn('fay'), 401, 401001);
      await db.run('UPDATE users SET status = 1 WHERE id = ?', [made.id]);
      done(await signIn('fay'));
    });

    it('says that the sign-in was denied at the provider', async () => {
      const at = browser();
      const query = await idp.visit(await at.authUrl(), null);
      assert.equal(query.error, 'access_denied');
      assert.equal(refused(await at.finish(query), 401, 401001).msg, 'The sign-in at Corp was denied');
      assert.equal((await lastAudit('auth.login_failed')).error, 'the provider answered access_denied');
      const { error: _, error_description: __, ...rest } = query;
      refused(await at.finish({ ...rest, code: 'x' }), 401, 401001);
    });

    it('accepts each answer once', async () => {
      const at = browser();
      const query = await idp.visit(await at.authUrl(), 'ann');
      const { cookie } = at;
      done(await at.finish(query));
      assert.equal(at.cookie, '', 'the cookie is cleared');
      at.cookie = cookie;
      refused(await at.finish(query), 401, 401001);
      // the same code in a flow of its own: PKCE and the provider refuse it
      const state = new URL(await at.authUrl()).searchParams.get('state');
      refused(await at.finish({ ...query, state }), 401, 401001);

      const again = await idp.visit(await at.authUrl(), 'ann');
      const copies = await Promise.all([1, 2, 3, 4].map(() => at.finish(again)));
      assert.equal(copies.filter((answer) => answer.status === 200).length, 1);
    });

    it('refuses a state that is changed, missing or too old', async () => {
      const at = browser();
      const query = await idp.visit(await at.authUrl(), 'ann');
      refused(await at.finish({ ...query, state: 'f'.repeat(64) }), 401, 401001);
      const { state: _, ...none } = query;
      refused(await at.finish(none), 400, 400001);
      const { code: __, ...noCode } = query;
      assert.match(refused(await at.finish(noCode), 400, 400001).msg, /^code: /);
      await db.run(`UPDATE challenges SET expires_at = ? WHERE kind = 'oauth'`, [now(-1000)]);
      refused(await at.finish(query), 401, 401001);
    });

    it('finishes only in the browser that began, and uses the state up elsewhere', async () => {
      for (const other of ['', `zoneward_oauth=${'0'.repeat(64)}`, 'zoneward_oauth=', 'zoneward_oauth=x']) {
        const at = browser();
        const query = await idp.visit(await at.authUrl(), 'ann');
        const { cookie } = at;
        at.cookie = other;
        assert.match(refused(await at.finish(query), 401, 401001).msg, /another browser/);
        at.cookie = cookie;
        refused(await at.finish(query), 401, 401001);
      }
    });

    it('lets two tabs of one browser sign in', async () => {
      const at = browser();
      const first = await at.authUrl();
      const { cookie } = at;
      const second = await at.authUrl();
      assert.equal(at.cookie, cookie);
      await at.authUrl({ provider: 'corp' }, service.token);
      assert.equal(at.cookie, cookie);
      const queries = [await idp.visit(first, 'ann'), await idp.visit(second, 'ann')];
      for (const query of queries) {
        at.cookie = cookie;
        done(await at.finish(query));
      }
    });

    it('does not finish with another provider than it began with', async () => {
      const at = browser();
      const query = await idp.visit(await at.authUrl(), 'ann');
      await configure({ issuer: `${idp.issuer}/moved` });
      refused(await at.finish(query), 401, 401001);
      await configure();
    });

    it('lets only signed-in users bind identities', async () => {
      refused(await service.server.call('POST', '/api/security/bind-oauth', { provider: 'corp' }), 401, 401001);
      const input = { name: 'robot' };
      const { token } = (await service.admin.post('/api/tokens', input)).data ?? {};
      assert.ok(token);
      refused(await get('/api/security/bind-oauth', token), 403, 403001);
      refused(await unbind(token), 403, 403001);
    });
  });
}
