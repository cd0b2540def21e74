import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { LoginResult } from '../../src/auth/sessions/sessions.dto.js';
import { now } from '../../src/platform/common/clock.js';
import { listen } from '../support/bind.js';
import { type Browser, type Kept, noChromium, startChromium } from '../support/chromium.js';
import { databases } from '../support/databases.js';
import { type Passkeys, refusedLogin, startPasskeys } from '../support/passkeys.js';
import type { Answer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, until } from '../support/world.js';

const is =
  (...names: string[]) =>
  ({ name }: Error) =>
    names.includes(name);

describeUnless(noChromium)('passkeys in a real browser', () => {
  let browser: Browser;
  const stranger = createServer((_request, response) => response.end('<!doctype html><title>elsewhere</title>'));
  let otherSite: string;
  beforeAll(async () => {
    otherSite = `http://localhost:${await listen(stranger)}/`;
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.stop();
    stranger.closeAllConnections();
    stranger.close();
  });

  for (const { kind, skip } of databases('sqlite')) {
    describeUnless(skip)(`on ${kind}`, () => {
      let world: Passkeys;
      let site: string;
      const me = async (answer: Answer<Required<LoginResult>>) =>
        done(await world.server.as(done(answer).token).get('/api/auth/me')).username;
      /** A user, a browser on our page, and a passkey of that user in it. */
      const enrolled = async () => {
        const person = await world.person();
        const authenticator = await browser.open(site);
        const passkey = await world.register(person.client, authenticator);
        return { ...person, authenticator, passkey };
      };
      beforeAll(async () => {
        world = await startPasskeys(kind);
        site = `${world.server.url.replace('127.0.0.1', 'localhost')}/health/live`;
      });
      afterAll(() => world.stop());

      it('are added, listed, and sign in without a name and with it', async () => {
        const { client, username, authenticator, passkey } = await enrolled();
        assert.equal(passkey.name, 'Passkey 1');
        const [listed, ...others] = done(await client.get(world.path));
        assert.deepEqual(others, []);
        const { created_at, ...known } = listed;
        assert.deepEqual(known, {
          id: passkey.id,
          name: 'Passkey 1',
          transports: ['internal'],
          backed_up: false,
          last_used_at: null,
        });
        assert.ok(created_at <= now());

        assert.equal(await me(await world.login(authenticator)), username);
        const named = await world.login(authenticator, ` ${username.toUpperCase()} `);
        assert.equal(await me(named), username);
        const [{ last_used_at }] = done(await client.get(world.path));
        assert.ok(last_used_at && last_used_at >= created_at && last_used_at <= now(), String(last_used_at));
        const [{ method, current }] = done(await world.server.as(named.data.token).get('/api/auth/sessions'));
        assert.deepEqual([method, current], ['passkey', true]);
        const entry = done(await world.admin.get('/api/audit/logs?action=auth.login&limit=1')).list[0];
        assert.deepEqual([entry.actor.username, entry.after], [username, { method: 'passkey', amr: ['passkey'] }]);
        await authenticator.close();
      });

      it("do not sign in under another user's name", async () => {
        const { username, authenticator } = await enrolled();
        const other = await enrolled();
        for (const name of [other.username, 'nobody-of-that-name']) {
          const answer = await world.login(authenticator, name);
          refusedLogin(answer);
          assert.equal(await world.reason(answer), 'passkey of another user than named');
        }
        assert.equal(await me(await world.login(authenticator, username)), username);
        await authenticator.close();
        await other.authenticator.close();
      });

      it('leave nothing behind when the ceremony is cancelled', async () => {
        const { client } = await world.person();
        const authenticator = await browser.open(site);
        const begun = await world.registerStart(client);
        assert.ok(is('AbortError', 'TimeoutError')(await authenticator.cancelled('create', begun.options)));
        assert.deepEqual(done(await client.get(world.path)), []);
        // the user tries again, and cancels a login
        await world.register(client, authenticator);
        const login = await world.loginStart();
        assert.ok(is('AbortError', 'TimeoutError')(await authenticator.cancelled('get', login.options)));
        // what the first challenge was worth has not gone over to the second
        const late = await authenticator.get({ ...login.options, challenge: begun.options.challenge });
        refusedLogin(await world.loginFinish(login.challenge_id, late));
        done(await world.login(authenticator));
        assert.equal(done(await client.get(world.path)).length, 1);
        await authenticator.close();
      });

      it('are refused without the user being verified', async () => {
        const { client, authenticator } = await enrolled();
        await authenticator.verifiesUser(false);
        const login = await world.loginStart();
        await assert.rejects(authenticator.get(login.options), is('NotAllowedError'));
        // a page that asks for less than we did
        const less = await authenticator.get({ ...login.options, userVerification: 'discouraged' });
        const answer = await world.loginFinish(login.challenge_id, less);
        refusedLogin(answer);
        assert.match((await world.reason(answer)) ?? '', /user could not be verified/i);

        const other = await browser.open(site, false);
        const { challenge_id, options } = await world.registerStart(client);
        const authenticatorSelection = { residentKey: 'discouraged', userVerification: 'discouraged' };
        const response = await other.create({ ...options, excludeCredentials: [], authenticatorSelection });
        refused(await client.post(`${world.path}/register/finish`, { challenge_id, response }), 400, 400001);
        assert.equal(done(await client.get(world.path)).length, 1);
        await other.close();
        await authenticator.close();
      });

      it('are refused when they come from a page of another origin', async () => {
        const { client, authenticator } = await enrolled();
        const credential = (await authenticator.kept())[0] as Kept;
        const elsewhere = await browser.open(otherSite);
        await elsewhere.put(credential);
        const login = await world.loginStart();
        const answer = await world.loginFinish(login.challenge_id, await elsewhere.get(login.options));
        refusedLogin(answer);
        assert.match((await world.reason(answer)) ?? '', /origin/);

        const { challenge_id, options } = await world.registerStart(client);
        const response = await elsewhere.create({ ...options, excludeCredentials: [] });
        refused(await client.post(`${world.path}/register/finish`, { challenge_id, response }), 400, 400001);
        assert.equal(done(await client.get(world.path)).length, 1);
        await elsewhere.close();
        await authenticator.close();
      });

      it('can be several of one user; a deleted one is refused', async () => {
        const { client, authenticator, passkey, id } = await enrolled();
        const start = await world.registerStart(client);
        assert.deepEqual(
          (start.options.excludeCredentials as { id: string }[]).map((credential) => credential.id),
          (await authenticator.kept()).map((kept) => Buffer.from(kept.credentialId, 'base64').toString('base64url')),
        );
        await assert.rejects(authenticator.create(start.options), is('InvalidStateError'));
        const phone = await browser.open(site);
        const second = await world.register(client, phone, 'Phone of Ada');
        assert.equal(second.name, 'Phone of Ada');
        const handles = [...(await authenticator.kept()), ...(await phone.kept())].map((kept) => kept.userHandle);
        assert.equal(new Set(handles).size, 1);

        const renamed = done(await client.patch(`${world.path}/${passkey.id}`, { name: 'Laptop' }));
        assert.deepEqual([renamed.id, renamed.name], [passkey.id, 'Laptop']);
        const names = async () => done(await client.get(world.path)).map(({ name }) => name);
        assert.deepEqual(await names(), ['Laptop', 'Phone of Ada']);

        const stranger = await world.person();
        refused(await stranger.client.patch(`${world.path}/${passkey.id}`, { name: 'Mine' }), 404, 404001);
        refused(await stranger.client.delete(`${world.path}/${passkey.id}`), 404, 404001);
        assert.deepEqual(done(await stranger.client.get(world.path)), []);

        done(await client.delete(`${world.path}/${passkey.id}`));
        refused(await client.delete(`${world.path}/${passkey.id}`), 404, 404001);
        assert.deepEqual(await names(), ['Phone of Ada']);
        refusedLogin(await world.login(authenticator));
        done(await world.login(phone));

        // no password, one passkey: the last sign-in method
        await world.db.run("UPDATE users SET password_hash = '' WHERE id = ?", [id]);
        refused(await client.delete(`${world.path}/${second.id}`), 409, 409001);
        done(await world.login(phone));
        await authenticator.close();
        await phone.close();
      });

      it('are refused when the signature counter went backwards', async () => {
        const { authenticator, username } = await enrolled();
        const copy = (await authenticator.kept())[0] as Kept;
        done(await world.login(authenticator));
        done(await world.login(authenticator));
        await authenticator.put(copy);
        const answer = await world.login(authenticator);
        refusedLogin(answer);
        assert.equal(await world.reason(answer), 'signature counter went backwards');
        await until('the log tells it', async () => /"signature counter went backwards"/.test(world.server.log));
        await authenticator.put({ ...copy, signCount: 1000 });
        assert.equal(await me(await world.login(authenticator)), username);
        await authenticator.close();
      });

      it('answer a challenge once, and only while it lives', async () => {
        const { client, authenticator } = await enrolled();
        const login = await world.loginStart();
        const response = await authenticator.get(login.options);
        done(await world.loginFinish(login.challenge_id, response));
        const replayed = await world.loginFinish(login.challenge_id, response);
        refusedLogin(replayed);
        assert.equal(await world.reason(replayed), 'unknown, used or expired challenge');

        const late = await world.loginStart();
        const lateResponse = await authenticator.get(late.options);
        const expire = () => world.db.run('UPDATE challenges SET expires_at = ?', [now(-1)]);
        await expire();
        refusedLogin(await world.loginFinish(late.challenge_id, lateResponse));

        const phone = await browser.open(site);
        const adding = await world.registerStart(client);
        const body = { challenge_id: adding.challenge_id, response: await phone.create(adding.options) };
        await expire();
        refused(await client.post(`${world.path}/register/finish`, body), 400, 400001);
        assert.equal(done(await client.get(world.path)).length, 1);
        await phone.close();
        await authenticator.close();
      });

      it('are refused of a disabled user', async () => {
        const { authenticator, id, username } = await enrolled();
        await world.db.run('UPDATE users SET status = 0 WHERE id = ?', [id]);
        const answer = await world.login(authenticator, username);
        refusedLogin(answer);
        assert.equal(await world.reason(answer), 'disabled');
        await world.db.run('UPDATE users SET status = 1 WHERE id = ?', [id]);
        done(await world.login(authenticator, username));
        await authenticator.close();
      });

      it('are a second factor: the first one lets its session through, further ones need it', async () => {
        const { client, again } = await world.person();
        done(await client.get('/api/domains'));
        done(await world.admin.put('/api/settings/security', { require_2fa_role: 1 }));
        try {
          const stopped = refused(await client.get('/api/domains'), 403, 403001);
          assert.deepEqual(stopped.data.required, '2fa');
          const authenticator = await browser.open(site);
          await world.register(client, authenticator);
          done(await client.get('/api/domains'));
          const { token } = done(await world.login(authenticator));
          done(await world.server.as(token).get('/api/domains'));

          // who knows the password only neither gets in nor adds a second factor of their own
          const guessed = await again();
          const ways = ['/api/auth/2fa/setup', '/api/auth/2fa/verify', `${world.path}/register/start`];
          const tries = await Promise.all(
            ways.map((path) => guessed.post(path, path.endsWith('verify') ? { code: '123456' } : {})),
          );
          for (const answer of [await guessed.get('/api/domains'), ...tries])
            assert.deepEqual(refused(answer, 403, 403001).data.required, '2fa');
          refused(await guessed.delete(`${world.path}/${done(await guessed.get(world.path))[0].id}`), 403, 403001);
          await authenticator.close();
        } finally {
          await world.unlimited();
        }
      });
    });
  }
});
