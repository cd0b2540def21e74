import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { addUser } from '../support/database.js';
import { databases } from '../support/databases.js';
import { linkToken, MAIL_PASSWORD, type MailWorld, startMailWorld } from '../support/mail.js';
import { Browser, type Idp, startIdp } from '../support/oidc.js';
import type { Client } from '../support/server.js';
import { type Smtp, startSmtp } from '../support/smtp.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, until } from '../support/world.js';

const SECURITY = '/api/settings/security';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`confirmation of settings on ${kind}`, () => {
    let world: MailWorld;
    let admin: Client;
    let deputy: Client;
    let idp: Idp;
    let honest: Smtp;
    let evil: Smtp;
    beforeAll(async () => {
      world = await startMailWorld(kind);
      admin = world.service.admin;
      await addUser(world.db, { username: 'deputy', password: 'deputy-secret' }, 2);
      deputy = world.current.as(await world.current.login({ username: 'deputy', password: 'deputy-secret' }));
      const { port } = new URL(world.current.url);
      idp = await startIdp(`http://localhost:${port}/oauth/callback`, { ann: {} });
      honest = await world.up();
      evil = await startSmtp();
    });
    afterAll(async () => {
      await evil?.stop();
      await idp?.stop();
      await world?.stop();
    });

    const confirmation = (section: { confirmed: boolean; waiting: string[] }) => [section.confirmed, section.waiting];
    const confirm = async (section: string) => done(await admin.post(`/api/settings/${section}/confirm`)).fields;
    const lastMailTo = async (smtp: Smtp, username: string) => {
      await until(`mail to ${username}`, async () => smtp.mails.some((m) => m.to[0] === `${username}@example.com`));
      return smtp.mails.findLast((m) => m.to[0] === `${username}@example.com`)?.text ?? '';
    };
    const reset = async (smtp: Smtp) => {
      const username = await world.person();
      await world.ask(username);
      return lastMailTo(smtp, username);
    };
    const news = async (smtp: Smtp) => {
      const username = await world.person();
      const login = (userAgent: string) =>
        world.current.call('POST', '/api/auth/login', { username, password: 'old-secret' }, undefined, {
          'user-agent': userAgent,
          'x-forwarded-for': '198.51.100.251',
        });
      done(await login('one'));
      done(await login('another'));
      assert.equal(linkToken(await lastMailTo(smtp, username)), '');
    };

    it('uses a new base_url in no mail, passkey or OAuth redirect before it is confirmed', async () => {
      const rpId = async () =>
        done(await world.current.call('POST', '/api/auth/webauthn/login/start', {})).options.rpId;
      const set = done(await deputy.put('/api/settings', { base_url: 'https://evil.example' }));
      assert.deepEqual([set.base_url, ...confirmation(set)], ['https://evil.example', false, ['base_url']]);
      assert.match(await reset(honest), /http:\/\/localhost:\d+\/reset#token=/);
      assert.equal(await rpId(), 'localhost');
      // another field, saved by a super administrator, confirms nothing
      assert.deepEqual(confirmation(done(await admin.put('/api/settings', { site_name: 'Names' }))), [
        false,
        ['base_url'],
      ]);
      assert.equal(await rpId(), 'localhost');
      refused(await deputy.post('/api/settings/general/confirm'), 403, 403001);
      assert.equal(await rpId(), 'localhost');
      assert.deepEqual(await confirm('general'), ['base_url']);
      assert.equal(await rpId(), 'evil.example');
      assert.match(await reset(honest), /https:\/\/evil\.example\/reset#token=/);
      const [entry] = done(await admin.get('/api/audit/logs?action=settings.confirm&limit=1')).list;
      assert.deepEqual(
        [entry.target?.name, entry.before?.waiting, entry.after?.confirmed],
        ['general', ['base_url'], true],
      );

      // sending back what was shown changes nothing; a super administrator confirms by saving
      const shown = done(await deputy.get('/api/settings'));
      assert.deepEqual(done(await deputy.put('/api/settings', shown)), shown);
      done(await deputy.put('/api/settings', { base_url: null }));
      assert.equal(await rpId(), 'evil.example');
      assert.deepEqual(confirmation(done(await admin.put('/api/settings', { base_url: null }))), [true, []]);
      assert.equal(await rpId(), 'localhost');
    });

    it('uses a new mail server for tests and notices, but for no link and no code, until it is confirmed', async () => {
      const { port } = evil;
      refused(await deputy.put('/api/settings/smtp', { port, username: '' }), 400, 400001);
      const set = done(await deputy.put('/api/settings/smtp', { port, username: '', password: null }));
      assert.deepEqual(confirmation(set), [false, ['port', 'username']]);
      await news(evil);
      assert.equal(done(await deputy.post('/api/settings/smtp/test', { to: 'test@example.com' })).success, true);
      assert.notEqual(linkToken(await reset(honest)), '');
      const codes = honest.mails.length;
      done(await deputy.post('/api/security/email-code', { email: 'deputy@example.com' }));
      await until('code', async () => honest.mails.length > codes);
      assert.deepEqual(
        evil.mails.filter((m) => linkToken(m.text) || m.to[0] === 'deputy@example.com'),
        [],
      );
      // confirming one field of two does not send the old password to a mixture of both servers
      assert.deepEqual(confirmation(done(await admin.put('/api/settings/smtp', { port }))), [false, ['username']]);
      assert.notEqual(linkToken(await reset(honest)), '');
      assert.deepEqual(await confirm('smtp'), ['username']);
      assert.notEqual(linkToken(await reset(evil)), '');
      assert.deepEqual(await confirm('smtp'), []);
      const back = { port: world.port, username: 'mailer', password: MAIL_PASSWORD };
      assert.deepEqual(confirmation(done(await admin.put('/api/settings/smtp', back))), [true, []]);
    });

    it('sends no link through a first mail server that is not confirmed', async () => {
      await world.db.run("DELETE FROM settings WHERE name = 'smtp'");
      const { port } = evil;
      const smtp = { host: '127.0.0.1', port, security: 'none', from: 'dns@example.com', enabled: true };
      done(await deputy.put('/api/settings/smtp', smtp));
      await news(evil);
      const username = await world.person();
      await world.ask(username);
      refused(await deputy.post('/api/security/email-code', { email: 'x@example.com' }), 501, 501001);
      assert.equal(await world.rowTo(username), undefined);
      await confirm('smtp');
      assert.notEqual(linkToken(await reset(evil)), '');
    });

    it('offers a new sign-in provider only once it is confirmed', async () => {
      const { issuer, clientId: client_id, clientSecret: client_secret } = idp;
      const corp = { key: 'corp', name: 'Corp', issuer, client_id, client_secret, auto_create: true };
      const { client_secret: _secret, ...bare } = corp;
      const put = async (client: Client, body: object) => done(await client.put('/api/settings/oauth', body));
      const offered = async () =>
        done(await world.current.call('GET', '/api/auth/oauth/status')).providers.map((p) => p.key);
      const begin = async () => {
        const browser = new Browser(world.current);
        return { browser, query: await idp.visit(await browser.authUrl({ provider: 'corp' }), 'ann') };
      };
      const set = await put(deputy, { enabled: true, providers: [corp] });
      assert.deepEqual(confirmation(set), [false, ['corp.issuer', 'corp.client_id']]);
      assert.equal(set.providers[0].confirmed, false);
      assert.deepEqual(await offered(), []);
      refused(await new Browser(world.current).start({ provider: 'corp' }), 404, 404001);
      await put(admin, { enabled: true });
      assert.deepEqual(await offered(), []);
      assert.deepEqual(await confirm('oauth'), ['corp.issuer', 'corp.client_id']);
      assert.deepEqual(await offered(), ['corp']);
      const { browser, query } = await begin();
      done(await browser.finish(query));

      // unguarded fields do not wait; guarded ones end a pending sign-in
      assert.equal((await put(deputy, { providers: [{ ...bare, name: 'Company' }] })).confirmed, true);
      const under = await begin();
      const changed = await put(deputy, { providers: [{ ...bare, client_id: 'another' }] });
      assert.deepEqual(confirmation(changed), [false, ['corp.client_id']]);
      refused(await under.browser.finish(under.query), 401, 401001);
      assert.deepEqual(await offered(), []);
      // a provider that is removed and added again is new
      await put(deputy, { providers: [] });
      assert.deepEqual((await put(deputy, { providers: [corp] })).waiting, ['corp.issuer', 'corp.client_id']);
      assert.deepEqual(confirmation(await put(admin, { providers: [bare] })), [true, []]);
      assert.deepEqual(await offered(), ['corp']);
    });

    it('does not bind super administrators under security', async () => {
      const from = (ip: string) => ({ 'x-forwarded-for': ip });
      const as = async <M extends string, P extends string>(
        method: M,
        path: P,
        body: unknown,
        client: 'admin' | 'deputy',
        ip: string,
      ) => {
        const user = { admin: ['admin', 'correct-horse-battery-9'], deputy: ['deputy', 'deputy-secret'] }[client];
        const login = { username: user[0], password: user[1] };
        const { token } = done(await world.current.call('POST', '/api/auth/login', login, undefined, from(ip)));
        return world.current.call(method, path, body, token, from(ip));
      };
      const limits = { login_limit: { max_failures: 3, window_minutes: 60, network_failures: 1 } };
      const session = { token_minutes: 5, idle_minutes: 5, absolute_days: 1 };
      const tight = {
        ...limits,
        session,
        require_2fa_role: 3,
        allowed_cidrs: ['192.0.2.0/24'],
        rate_limits: { user: 1 },
      };
      const set = done(await as('PUT', SECURITY, tight, 'deputy', '192.0.2.1'));
      assert.equal(set.confirmed, false);
      for (const path of ['allowed_cidrs', 'require_2fa_role', 'login_limit.max_failures', 'session.idle_minutes'])
        assert.ok(set.waiting.includes(path), path);

      const wrong = { username: 'admin', password: 'wrong' };
      const fail = () => world.current.call('POST', '/api/auth/login', wrong, undefined, from('203.0.113.1'));
      for (let i = 0; i < 4; i++) refused(await fail(), 401, 401001);
      for (let i = 0; i < 3; i++) done(await as('GET', '/api/users', undefined, 'admin', '203.0.113.1'));
      const stats = done(await as('GET', '/api/auth/sessions', undefined, 'admin', '203.0.113.1'));
      const [mine] = stats.filter((s) => s.current);
      assert.ok(Date.parse(mine.expires_at) - Date.parse(mine.created_at) > 2 * 86_400_000);
      // the deputy is bound
      const deputyLogin = { username: 'deputy', password: 'deputy-secret' };
      const outside = await world.current.call('POST', '/api/auth/login', deputyLogin, undefined, from('203.0.113.1'));
      assert.equal(refused(outside, 403, 403001).data.required, 'network');

      // saved by a super administrator it binds both; other fields still do not
      done(await as('PUT', SECURITY, { rate_limits: { user: 2 } }, 'admin', '203.0.113.1'));
      const { token } = done(
        await world.current.call('POST', '/api/auth/login', { ...wrong, password: 'correct-horse-battery-9' }),
      );
      const client = world.current.as(token);
      const codes = [await client.get('/api/users'), await client.get('/api/users'), await client.get('/api/users')];
      assert.ok(codes.some((answer) => answer.status === 429));
      await world.db.run("DELETE FROM settings WHERE name = 'security'");
    });

    it('exists for three sections only', async () => {
      for (const section of ['security', 'nonsense'])
        refused(await admin.post(`/api/settings/${section}/confirm`), 404, 404001);
    });
  });
}
