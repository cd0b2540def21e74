import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { Browser, type Idp, startIdp } from '../support/oidc.js';
import { type Answer, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { codeOf, enrol, wrongCode } from '../support/totp.js';
import { done, refused } from '../support/world.js';

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip)(`second factor after a sign-in at a provider on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let idp: Idp;
    let db: Db;
    let close: () => Promise<void>;
    const signIn = async (login: string, token?: string) => {
      const at = new Browser(service.server);
      return at.finish(await idp.visit(await at.authUrl({ provider: 'corp' }, token), login));
    };
    const configure = async (more: object = {}) => {
      const { issuer, clientId: client_id, clientSecret: client_secret } = idp;
      const provider = { key: 'corp', name: 'Corp', issuer, client_id, client_secret, auto_create: true, ...more };
      done(await service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
    };
    let network = 1;
    const prove = (challenge_id: string, codes: object, ip = `198.51.100.${network++}`) =>
      service.server.call('POST', '/api/auth/second-factor', { challenge_id, ...codes }, undefined, {
        'x-forwarded-for': ip,
      });
    const login = (username: string, more: object = {}) => ({ username, password: `${username}-secret`, ...more });
    /** Somebody with an authenticator app, who is bound to the name at the provider. */
    const enrolled = async (username: string, role = 1) => {
      const id = await addUser(db, login(username), role);
      const token = await service.server.login(login(username));
      assert.deepEqual(done(await signIn(username, token)), { bound: true });
      return { id, token, client: service.server.as(token), ...(await enrol(service.server.as(token))) };
    };
    const asked = (answer: Answer): string => {
      assert.deepEqual([answer.status, answer.code], [200, -2], answer.msg);
      const { challenge_id, ...rest } = answer.data as { challenge_id: string };
      assert.deepEqual(rest, { types: ['totp', 'recovery'], reason: 'second_factor_needed' });
      assert.match(challenge_id, /^[0-9a-f]{64}$/);
      return challenge_id;
    };
    const amr = async (token: string) => {
      const list = done(await service.server.as(token).get('/api/auth/sessions'));
      return list.find((s) => s.current)?.amr;
    };
    const demand = async (require_2fa_role: number) =>
      done(await service.admin.put('/api/settings/security', { require_2fa_role }));
    const demandNone = () => db.run("DELETE FROM settings WHERE name = 'security'");

    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      const { port } = new URL(service.server.url);
      idp = await startIdp(`http://localhost:${port}/oauth/callback`, {});
      await configure();
    });
    afterAll(async () => {
      await idp?.stop();
      await close?.();
      await service?.stop();
    });

    it('is asked for, and ends the sign-in once', async () => {
      const { secret, recovery, id } = await enrolled('ada');
      const challenge = asked(await signIn('ada'));
      assert.equal(
        (await db.rows('SELECT id FROM sessions WHERE user_id = ? AND method = ?', [id, 'oauth'])).length,
        0,
      );
      refused(await prove(challenge, {}), 400, 400001);
      refused(await prove('x', { totpCode: '123456' }), 400, 400001);
      refused(await prove('0'.repeat(64), { totpCode: await codeOf(secret) }), 401, 401001);
      const wrong = refused(await prove(challenge, { totpCode: await wrongCode(secret) }), 401, 401001);
      assert.equal(wrong.data.errors[0].path, 'totpCode');
      refused(await prove(challenge, { recoveryCode: 'aaaaa-aaaaa-aaaaa-aaaaa' }), 401, 401001);
      const { token, user } = done(await prove(challenge, { totpCode: await codeOf(secret) }));
      assert.deepEqual([user.username, await amr(token)], ['ada', ['oauth', 'totp']]);
      refused(await prove(challenge, { recoveryCode: recovery[0] }), 401, 401001);
      const again = done(await prove(asked(await signIn('ada')), { recoveryCode: recovery[1] }));
      assert.deepEqual(await amr(again.token), ['oauth', 'recovery']);
      // of two at once one comes in
      const both = asked(await signIn('ada'));
      const answers = await Promise.all([2, 3].map((i) => prove(both, { recoveryCode: recovery[i] })));
      assert.deepEqual(answers.map((a) => a.status).toSorted(), [200, 401]);
    });

    it('is asked of nobody who has none', async () => {
      assert.deepEqual(await amr(done(await signIn('plain')).token), ['oauth']);
    });

    it('locks after wrong codes as the login does, and is worth nothing later, or unbound, or disabled', async () => {
      const { secret, id, client } = await enrolled('ben');
      const challenge = asked(await signIn('ben'));
      const ip = `198.51.100.${network++}`;
      const wrong = await wrongCode(secret);
      for (let i = 0; i < 5; i++) refused(await prove(challenge, { totpCode: wrong }, ip), 401, 401001);
      refused(await prove(challenge, { totpCode: await codeOf(secret) }, ip), 423, 423001);
      const password = { ...login('ben'), totpCode: await codeOf(secret) };
      const there = { 'x-forwarded-for': ip };
      refused(await service.server.call('POST', '/api/auth/login', password, undefined, there), 423, 423001);

      const code = async () => ({ totpCode: await codeOf(secret) });
      await db.run('UPDATE challenges SET expires_at = ?', [now(-1)]);
      refused(await prove(challenge, await code()), 401, 401001);
      const unbound = asked(await signIn('ben'));
      done(await client.delete('/api/security/bind-oauth/corp'));
      refused(await prove(unbound, await code()), 401, 401001);
      await db.run(
        `INSERT INTO identities (user_id, provider, issuer, subject, name, created_at) VALUES (?, 'corp', ?, 'ben', '', '')`,
        [id, idp.issuer],
      );
      const disabled = asked(await signIn('ben'));
      await db.run('UPDATE users SET status = 0 WHERE id = ?', [id]);
      refused(await prove(disabled, await code()), 401, 401001);
      refused(await signIn('ben'), 401, 401001);
      await db.run('UPDATE users SET status = 1 WHERE id = ?', [id]);
      done(await service.admin.put('/api/settings/oauth', { enabled: false }));
      refused(await prove(disabled, await code()), 401, 401001);
      done(await service.admin.put('/api/settings/oauth', { enabled: true }));
      done(await prove(disabled, await code()));
    });

    it('may be the business of a provider that is trusted with it', async () => {
      await enrolled('cleo', 2);
      asked(await signIn('cleo'));
      await configure({ trusted_2fa: true });
      const { providers } = done(await service.admin.get('/api/settings/oauth'));
      assert.equal(providers[0].trusted_2fa, true);
      const { token } = done(await signIn('cleo'));
      assert.deepEqual(await amr(token), ['oauth', 'mfa']);
      await demand(2);
      done(await service.server.as(token).get('/api/accounts'));
      await demandNone();
      // bound in a session that is old, a sign-in would be permanent access
      await addUser(db, login('carl'));
      const carl = await service.server.login(login('carl'));
      await db.run('UPDATE sessions SET created_at = ?', [now(-6 * 60_000)]);
      const begun = await service.server.as(carl).post('/api/security/bind-oauth', { provider: providers[0].key });
      assert.equal(refused(begun, 403, 403001).data.required, 'fresh');
      await configure();
      asked(await signIn('cleo'));
    });

    it('must be shown where the role must, and only setting one up is left without', async () => {
      const { secret } = await enrolled('dora', 2);
      await addUser(db, login('dirk'), 2);
      assert.deepEqual(done(await signIn('dirk', await service.server.login(login('dirk')))), { bound: true });
      await demand(2);
      const dirk = service.server.as(done(await signIn('dirk')).token);
      assert.equal(refused(await dirk.get('/api/accounts'), 403, 403001).data.required, '2fa');
      await enrol(dirk);
      done(await dirk.get('/api/accounts'));
      const { token } = done(await prove(asked(await signIn('dora')), { totpCode: await codeOf(secret) }));
      done(await service.server.as(token).get('/api/accounts'));
      await demandNone();
    });
  });
}
