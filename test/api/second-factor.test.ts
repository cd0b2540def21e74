import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { type SteeredClock, stopClock } from '../support/clock.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { codeOf, enrol, wrongCode } from '../support/totp.js';
import { done, made, refused } from '../support/world.js';

const NO_FACTOR = 'The creator of the token must have a second factor and has none';

for (const { kind, skip } of databases('sqlite')) {
  describeUnless(skip)(`second factor on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let network = 1;
    /** No step of 30 s ends while a code is on its way. */
    let clock: SteeredClock;
    const elsewhere = () => `198.51.100.${network++}`;
    const password = (name: string) => `${name}-secret`;
    const login = (username: string, more: object = {}, ip = elsewhere()) =>
      service.server.call('POST', '/api/auth/login', { username, password: password(username), ...more }, undefined, {
        'x-forwarded-for': ip,
      });
    /** A fresh user who is signed in. */
    const person = async (username: string, role = 1) => {
      await addUser(db, { username, password: password(username) }, role);
      return service.server.as(done(await login(username)).token);
    };
    /** All codes count anew: a test needs more of them than time gives. */
    const forgetSteps = () => db.run('UPDATE second_factors SET last_step = NULL');

    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      clock = stopClock();
    });
    afterAll(async () => {
      clock?.release();
      await close();
      await service.stop();
    });

    it('is set up with a seed for an app, and waits for the first code', async () => {
      const ada = await person('ada');
      const setup = done(await ada.post('/api/auth/2fa/setup'));
      assert.match(setup.secret, /^[A-Z2-7]{32}$/, '160 bits');
      const url = new URL(setup.otpauth_url);
      assert.equal(url.searchParams.get('secret'), setup.secret);
      assert.equal(url.searchParams.get('issuer'), 'Zoneward');
      assert.match(setup.qr_code, /^data:image\/png;base64,/);
      // nothing is on yet
      assert.equal(done(await login('ada')).user.totp_enabled, false);
      assert.equal(
        refused(await ada.post('/api/auth/2fa/verify', { code: await wrongCode(setup.secret) }), 401, 401001).data
          .errors[0].path,
        'code',
      );
      // a newer seed replaces the pending one
      const { secret } = done(await ada.post('/api/auth/2fa/setup'));
      refused(await ada.post('/api/auth/2fa/verify', { code: await codeOf(setup.secret) }), 401, 401001);
      const { recovery_codes } = done(await ada.post('/api/auth/2fa/verify', { code: await codeOf(secret, -1) }));
      assert.equal(new Set(recovery_codes).size, 10);
      assert.equal(done(await ada.get('/api/auth/me')).totp_enabled, true);
      refused(await ada.post('/api/auth/2fa/setup'), 409, 409001);
      refused(await ada.post('/api/auth/2fa/verify', { code: await codeOf(secret) }), 409, 409001);
      for (const body of [{}, { code: 5 }, { code: '1' }, { code: 'x'.repeat(17) }])
        refused(await ada.post('/api/auth/2fa/verify', body), 400, 400001);
    });

    it('is asked for after the password, and never before it', async () => {
      const { secret } = await enrol(await person('ben'));
      const asked = await login('ben');
      assert.deepEqual(
        [asked.status, asked.code, asked.data],
        [200, -2, { types: ['totp', 'recovery'], reason: 'second_factor_needed' }],
      );
      assert.ok(asked.msg);
      refused(await login('ben', { password: 'wrong' }), 401, 401001);
      refused(await login('ben', { password: 'wrong', totpCode: await codeOf(secret) }), 401, 401001);
      const { token, user } = done(await login('ben', { totpCode: await codeOf(secret) }));
      assert.deepEqual([user.username, user.totp_enabled], ['ben', true]);
      done(await service.server.as(token).get('/api/auth/me'));
    });

    it('accepts each code once, also of two at once, and no older ones', async () => {
      const { secret } = await enrol(await person('cleo'));
      const totpCode = await codeOf(secret);
      const answers = await Promise.all([1, 2, 3].map(() => login('cleo', { totpCode })));
      assert.deepEqual(answers.map((a) => a.status).sort(), [200, 401, 401]);
      for (const answer of answers.filter((a) => a.status === 401)) refused(answer, 401, 401001);
      refused(await login('cleo', { totpCode }), 401, 401001);
      refused(await login('cleo', { totpCode: await codeOf(secret, -1) }), 401, 401001);
      await forgetSteps();
      for (const steps of [-3, 3]) refused(await login('cleo', { totpCode: await codeOf(secret, steps) }), 401, 401001);
    });

    it("refuses another user's code", async () => {
      const theirs = await enrol(await person('dora'));
      await enrol(await person('emil'));
      refused(await login('emil', { totpCode: await codeOf(theirs.secret) }), 401, 401001);
      refused(await login('emil', { recoveryCode: theirs.recovery[0] }), 401, 401001);
      done(await login('dora', { totpCode: await codeOf(theirs.secret) }));
    });

    it('accepts each recovery code once, however it is typed', async () => {
      const { recovery } = await enrol(await person('finn'));
      const typed = (recovery[0] as string).toUpperCase().replaceAll('-', ' ');
      done(await login('finn', { recoveryCode: typed }));
      refused(await login('finn', { recoveryCode: recovery[0] }), 401, 401001);
      const both = await Promise.all([1, 2].map(() => login('finn', { recoveryCode: recovery[1] })));
      assert.deepEqual(both.map((a) => a.status).sort(), [200, 401]);
      refused(await login('finn', { recoveryCode: 'aaaaa-aaaaa-aaaaa-aaaaa' }), 401, 401001);
    });

    it('locks after wrong codes as after wrong passwords; a missing code does not count', async () => {
      const { secret } = await enrol(await person('gina'));
      const ip = elsewhere();
      const wrong = await wrongCode(secret);
      for (let i = 0; i < 8; i++) assert.equal((await login('gina', {}, ip)).code, -2);
      for (let i = 0; i < 5; i++) {
        refused(await login('gina', { totpCode: wrong }, ip), 401, 401001);
        // asking for the code in between forgives nothing
        if (i < 4) assert.equal((await login('gina', {}, ip)).code, -2);
      }
      refused(await login('gina', { totpCode: await codeOf(secret) }, ip), 423, 423001);
      done(await login('gina', { totpCode: await codeOf(secret) }));
    });

    it('stops guesses from many networks, but not the owner from a known one', async () => {
      const home = elsewhere();
      const hana = await person('hana');
      const { secret, recovery } = await enrol(hana);
      done(await login('hana', { recoveryCode: recovery[0] }, home));
      const wrong = await wrongCode(secret);
      for (let i = 0; i < 21; i++) refused(await login('hana', { totpCode: wrong }), 401, 401001);
      const stopped = refused(await login('hana', { totpCode: await codeOf(secret) }), 423, 423001);
      assert.ok(Number(stopped.headers.get('retry-after')) > 0);
      done(await login('hana', { totpCode: await codeOf(secret) }, home));
    });

    it('is turned off with password and code only', async () => {
      const ivan = await person('ivan');
      const { secret, recovery } = await enrol(ivan);
      const off = (body: object) => ivan.post('/api/auth/2fa/disable', body);
      const code = await codeOf(secret);
      assert.equal(refused(await off({ password: 'wrong', code }), 401, 401001).data.errors[0].path, 'password');
      assert.equal(
        refused(await off({ password: password('ivan'), code: await wrongCode(secret) }), 401, 401001).data.errors[0]
          .path,
        'code',
      );
      refused(await off({ code }), 400, 400001);
      assert.equal((await login('ivan')).code, -2);
      done(await off({ password: password('ivan'), code }));
      done(await login('ivan'));
      refused(await off({ password: password('ivan'), code: recovery[1] }), 409, 409001);
      // switched on again, old recovery codes are worth nothing
      await enrol(ivan);
      refused(await login('ivan', { recoveryCode: recovery[1] }), 401, 401001);
    });

    it('limits guesses of the code with a stolen session', async () => {
      const jana = await person('jana');
      const { secret } = await enrol(jana);
      const wrong = await wrongCode(secret);
      const off = () => jana.post('/api/auth/2fa/disable', { password: password('jana'), code: wrong });
      for (let i = 0; i < 5; i++) refused(await off(), 401, 401001);
      refused(await off(), 423, 423001);
      await db.run('DELETE FROM limits');
    });

    it('can be required for a role', async () => {
      const karl = await person('karl', 2);
      const lea = await person('lea', 1);
      const rule = (require_2fa_role: number | null) =>
        service.admin.put('/api/settings/security', { require_2fa_role });
      done(await rule(2));
      // the administrator who set it has none either
      const stuck = refused(await service.admin.get('/api/domains'), 403, 403001);
      assert.equal(stuck.data.required, '2fa');
      for (const path of [
        '/api/domains',
        '/api/accounts',
        '/api/tokens',
        '/api/security/profile',
        '/api/auth/sessions',
      ])
        assert.equal(refused(await karl.get(path), 403, 403001).data.required, '2fa', path);
      refused(await karl.post('/api/tokens', { name: 'way round' }), 403, 403001);
      done(await lea.get('/api/domains'));
      done(await karl.get('/api/auth/me'));
      const again = service.server.as(done(await login('karl')).token);
      refused(await again.get('/api/domains'), 403, 403001);
      const { secret, recovery } = await enrol(again);
      done(await again.get('/api/domains'));
      // to own one is not to have shown it: the older session signs in again
      refused(await karl.get('/api/domains'), 403, 403001);
      const shown = service.server.as(done(await login('karl', { totpCode: await codeOf(secret) })).token);
      done(await shown.get('/api/domains'));
      // switched off, it closes every session at once
      const off = { password: password('karl'), code: recovery[0] };
      done(await again.post('/api/auth/2fa/disable', off));
      for (const client of [again, shown, karl])
        for (const path of ['/api/accounts', '/api/auth/sessions', '/api/tokens'])
          assert.equal(refused(await client.get(path), 403, 403001).data.required, '2fa', path);
      // a new one opens the session that shows it, and no other
      await enrol(shown);
      done(await shown.get('/api/accounts'));
      refused(await again.get('/api/accounts'), 403, 403001);
      await db.run("DELETE FROM settings WHERE name = 'security'");
      done(await service.admin.get('/api/domains'));
    });

    it('is listed with each session in which it was shown', async () => {
      const { secret, recovery } = await enrol(await person('mona'));
      const shown = async (token: string) => {
        const list = done(await service.server.as(token).get('/api/auth/sessions'));
        return list.find((s) => s.current)?.amr;
      };
      const { token } = done(await login('mona', { totpCode: await codeOf(secret) }));
      assert.deepEqual(await shown(token), ['password', 'totp']);
      const other = done(await login('mona', { recoveryCode: recovery[0] })).token;
      assert.deepEqual(await shown(other), ['password', 'recovery']);
      const list = done(await service.server.as(token).get('/api/auth/sessions'));
      // the one that it was set up in has shown the first code
      assert.deepEqual(list.at(-1)?.amr, ['password', 'totp']);
      done(
        await service.server.as(token).post('/api/auth/2fa/disable', { password: password('mona'), code: recovery[1] }),
      );
      for (const one of [token, other]) assert.deepEqual(await shown(one), ['password']);
      const entries = done(await service.admin.get('/api/audit/logs?action=auth.login&limit=2')).list;
      assert.deepEqual(entries[0].after, { method: 'password', amr: ['password', 'recovery'] });
    });

    it('is required of the creators of API tokens, too', async () => {
      const nora = await person('nora', 2);
      const { token, tokenData } = made(await nora.post('/api/tokens', { name: 'ci' }));
      const ci = service.server.as(token);
      const shown = service.server.as(done(await login('nora')).token);
      await enrol(shown);
      await db.run('UPDATE users SET totp_enabled = ? WHERE username_key = ?', [false, 'nora']);
      const explain = async () =>
        done(
          await shown.post(`/api/tokens/${tokenData.id}/explain`, {
            domain_id: 1,
            action: 'read',
            host: 'www',
            type: 'A',
          }),
        );
      const settings = (require_2fa_role: number | null) =>
        db.run('INSERT INTO settings (name, content) VALUES (?, ?)', [
          'security',
          JSON.stringify({ values: { require_2fa_role }, by_role: 3 }),
        ]);
      await db.run("DELETE FROM settings WHERE name = 'security'");
      done(await ci.get('/api/accounts'));
      await settings(2);
      const answer = refused(await ci.get('/api/accounts'), 403, 403001);
      assert.deepEqual(
        [answer.msg, answer.data],
        [NO_FACTOR, { required: '2fa', reason: 'creator_lacks_second_factor' }],
      );
      assert.deepEqual(await explain(), { allowed: false, reason: NO_FACTOR, rule: null, source: 'creator' });
      const me = done(await shown.get('/api/auth/me')).id;
      const user = { domain_id: 1, action: 'read', host: 'www', type: 'A' };
      const { reason } = done(await shown.post(`/api/users/${me}/explain`, user));
      assert.equal(reason, 'The user must have a second factor and has none');
      // a passkey does as well, and a role below is not asked
      await db.run(
        `INSERT INTO passkeys (user_id, name, credential_key, credential_id, public_key, counter, transports, backed_up, created_at)
         VALUES (?, 'k', 'k', 'k', 'k', '0', '[]', ?, 'x')`,
        [me, false],
      );
      done(await ci.get('/api/accounts'));
      assert.notEqual((await explain()).reason, NO_FACTOR);
      await db.run('DELETE FROM passkeys');
      refused(await ci.get('/api/accounts'), 403, 403001);
      await db.run("DELETE FROM settings WHERE name = 'security'");
      await settings(3);
      done(await ci.get('/api/accounts'));
      await db.run("DELETE FROM settings WHERE name = 'security'");
      // of a disabled creator nothing is told
      await db.run('UPDATE users SET status = 0 WHERE id = ?', [me]);
      await settings(2);
      refused(await ci.get('/api/accounts'), 401, 401001);
      await db.run("DELETE FROM settings WHERE name = 'security'");
    });

    it('is logged without a secret', async () => {
      const { list } = done(await service.admin.get('/api/audit/logs?action=auth.2fa_*&limit=200'));
      const seen = new Set(list.map((e) => `${e.action} ${e.result}`));
      for (const entry of [
        'auth.2fa_setup ok',
        'auth.2fa_enable ok',
        'auth.2fa_enable failed',
        'auth.2fa_disable ok',
        'auth.2fa_disable failed',
      ])
        assert.ok(seen.has(entry), entry);
      const secrets = await db.rows<{ secret: string }>('SELECT secret FROM second_factors WHERE secret IS NOT NULL');
      for (const { secret } of secrets) assert.match(secret, /^v1\./, 'encrypted');
      const text = JSON.stringify(list) + service.server.log;
      for (const word of ['otpauth', 'recovery_codes', '"secret"']) assert.ok(!text.includes(word), word);
    });
  });
}
