import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { type Answer, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const PATHS = ['/api/settings', '/api/settings/security', '/api/settings/smtp', '/api/settings/oauth'] as const;
const OIDC = {
  key: 'corp',
  name: 'Corp',
  issuer: 'https://id.example.com',
  client_id: 'zoneward',
  client_secret: 'oidc-secret-1',
};
const GITHUB = {
  key: 'github',
  name: 'GitHub',
  client_id: 'gh',
  authorization_endpoint: 'https://github.example/login/oauth/authorize',
  token_endpoint: 'https://github.example/login/oauth/access_token',
  userinfo_endpoint: 'https://api.github.example/user',
  subject_field: 'id',
};

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`settings on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    const put = <P extends string>(path: P, body: object) => service.admin.put(path, body);
    const wrong = async (path: string, body: object, field: string) => {
      const before = done(await service.admin.get(path));
      const answer = refused(await put(path, body), 400, 400001);
      assert.ok(
        answer.data.errors.some((e) => e.path === field),
        `${field}: ${answer.msg}`,
      );
      assert.deepEqual(done(await service.admin.get(path)), before, 'nothing changed');
    };
    beforeAll(async () => {
      service = await startService(kind, { TRUSTED_PROXIES: '127.0.0.1/32' });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      await addUser(db, { username: 'ada', password: 'ada-secret' });
      await addUser(db, { username: 'root2', password: 'root2-secret' }, 2);
    });
    afterAll(async () => {
      await close();
      await service.stop();
    });

    it('keep all of several parallel changes, also of the very first ones', async () => {
      const parts = [{ site_name: 'At once' }, { default_ttl: 77 }, { timezone: 'Asia/Shanghai' }, { language: 'zh' }];
      for (let round = 0; round < 4; round++) {
        await db.run("DELETE FROM settings WHERE name = 'general'");
        const answers = await Promise.all(parts.map((part) => service.admin.put('/api/settings', part)));
        for (const answer of answers) done(answer);
        const { site_name, default_ttl, timezone, language } = done(await service.admin.get('/api/settings'));
        assert.deepEqual({ site_name, default_ttl, timezone, language }, Object.assign({}, ...parts));
      }
      await db.run("DELETE FROM settings WHERE name = 'general'");
    });

    it('accept in a PUT what a GET returned', async () => {
      for (const path of PATHS) {
        const shown = done(await service.admin.get(path));
        assert.deepEqual(done(await put(path, shown)), shown, path);
        assert.deepEqual(done(await service.admin.get(path)), shown, path);
      }
    });

    it('are for administrators', async () => {
      const ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
      const root2 = service.server.as(await service.server.login({ username: 'root2', password: 'root2-secret' }));
      for (const path of PATHS) {
        refused(await ada.get(path), 403, 403001);
        refused(await ada.put(path, {}), 403, 403001);
        done(await root2.get(path));
        done(await root2.put(path, {}));
      }
    });

    it('keep omitted fields, inside objects, too', async () => {
      const before = done(await service.admin.get('/api/settings/security'));
      const changed = done(await put('/api/settings/security', { login_limit: { max_failures: 7 } }));
      assert.deepEqual(changed, { ...before, login_limit: { ...before.login_limit, max_failures: 7 } });
      done(await put('/api/settings', { site_name: 'Names' }));
      const general = done(await put('/api/settings', { timezone: 'Europe/Berlin' }));
      assert.deepEqual([general.site_name, general.timezone], ['Names', 'Europe/Berlin']);
    });

    it('refuse invalid values, naming the field, and change nothing', async () => {
      await wrong('/api/settings', { site_name: 'a\r\nBcc: x@example.com' }, 'site_name');
      await wrong('/api/settings', { base_url: 'javascript:alert(1)' }, 'base_url');
      await wrong('/api/settings', { timezone: 'Mars/Base' }, 'timezone');
      for (const picture of [
        'javascript:alert(1)',
        '//evil.example/x.png',
        '/\\evil.example',
        'sea.jpg',
        'data:,x',
        'data:text/html,x',
        'http://cdn.example.com/sea.jpg',
        ...[...';,$&+=!*'].map((character) => `https://a${character}sandbox/sea.jpg`),
        'https://user@cdn.example.com/sea.jpg',
        ...[...`"'\`()[]{}<> \t\n`].map((character) => `https://cdn.example.com/a${character}b.jpg`),
        ...[...`"'()[]{}<> `].map((character) => `data:image/svg+xml,a${character}b`),
        ...[...`"'() `].map((character) => `/pictures/a${character}b`),
        '',
      ])
        await wrong('/api/settings', { background_image: picture }, 'background_image');
      for (const picture of [
        '/pictures/sea.jpg',
        'https://cdn.example.com/sea.jpg?w=1',
        'data:image/png;base64,iVBORw0KGgo=',
        null,
      ])
        done(await put('/api/settings', { background_image: picture }));
      const { background_image } = done(
        await put('/api/settings', { background_image: 'HTTPS://CDN.example.com:443/a/../b' }),
      );
      assert.equal(background_image, 'https://cdn.example.com/b');
      await wrong('/api/settings', { language: 'xx' }, 'language');
      await wrong('/api/settings', { default_ttl: -1 }, 'default_ttl');
      await wrong('/api/settings', { dns_resolvers: ['resolver.example'] }, 'dns_resolvers');
      await wrong('/api/settings', { unknown: 1 }, 'unknown');
      await wrong('/api/settings', { site_name: null }, 'site_name');
      await wrong('/api/settings/security', { session: { idle_minutes: null } }, 'session.idle_minutes');
      await wrong('/api/settings/security', { allowed_cidrs: null }, 'allowed_cidrs');
      await wrong('/api/settings/smtp', { from: null }, 'from');
      await wrong('/api/settings/security', { login_limit: { max_failures: 0 } }, 'login_limit.max_failures');
      for (const login_limit of [{ max_failures: 2 }, { max_failures: 21 }])
        await wrong('/api/settings/security', { login_limit }, 'login_limit.max_failures');
      for (const rate_limits of [{ login: 0 }, { login: 101 }])
        await wrong('/api/settings/security', { rate_limits }, 'rate_limits.login');
      await wrong('/api/settings', { confirmed: false }, 'confirmed');
      await wrong('/api/settings', { waiting: ['base_url'] }, 'waiting');
      await wrong('/api/settings/security', { session: { idle_minutes: 'x' } }, 'session.idle_minutes');
      await wrong('/api/settings/security', { password_policy: { min_length: 4 } }, 'password_policy.min_length');
      await wrong('/api/settings/security', { require_2fa_role: 4 }, 'require_2fa_role');
      await wrong('/api/settings/security', { allowed_cidrs: ['10.0.0.0/99'] }, 'allowed_cidrs');
      await wrong('/api/settings/smtp', { enabled: true }, 'host');
      await wrong('/api/settings/smtp', { port: 70_000 }, 'port');
      await wrong('/api/settings/smtp', { security: 'ssl' }, 'security');
      for (const from of ['x', 'a@b, c@d', 'A <a@b>\r\nBcc: x@y', 'A\n<a@b>', 'a@b\0'])
        await wrong('/api/settings/smtp', { from }, 'from');
      await wrong('/api/settings/smtp', { host: 'mail.example\r\nX: y' }, 'host');
      await wrong('/api/settings/oauth', { providers: [{ ...OIDC, key: 'No Key' }] }, 'providers.0.key');
      await wrong('/api/settings/oauth', { providers: [OIDC, OIDC] }, 'providers');
      await wrong(
        '/api/settings/oauth',
        { providers: [{ key: 'x', name: 'x', client_id: 'x' }] },
        'providers.0.issuer',
      );
      await wrong(
        '/api/settings/oauth',
        { providers: [{ ...GITHUB, subject_field: undefined }] },
        'providers.0.subject_field',
      );
      await wrong(
        '/api/settings/oauth',
        { providers: [{ ...GITHUB, issuer: OIDC.issuer }] },
        'providers.0.authorization_endpoint',
      );
      await wrong(
        '/api/settings/oauth',
        { providers: [{ ...OIDC, issuer: 'http://id.example.com' }] },
        'providers.0.issuer',
      );
      await wrong(
        '/api/settings/oauth',
        { providers: [{ ...OIDC, issuer: 'https://id.example.com/?x=1' }] },
        'providers.0.issuer',
      );
    });

    it('never show secrets: they are kept, replaced, cleared, and required again when they would be sent elsewhere', async () => {
      const smtp = { host: 'mail.example.com', username: 'me', from: 'Zoneward <dns@example.com>' };
      const password = 'smtp-secret-1';
      const shown = done(await put('/api/settings/smtp', { ...smtp, password }));
      assert.equal(shown.password_set, true);
      assert.ok(!('password' in shown));
      assert.equal(done(await put('/api/settings/smtp', { ...shown, host: 'MAIL.example.com.' })).password_set, true);
      await wrong('/api/settings/smtp', { port: 2525 }, 'password');
      await wrong('/api/settings/smtp', { security: 'none' }, 'password');
      await wrong('/api/settings/smtp', { host: 'elsewhere.example' }, 'password');
      assert.equal(done(await put('/api/settings/smtp', { password: null })).password_set, false);
      assert.equal(done(await put('/api/settings/smtp', { ...smtp, password })).password_set, true);

      const first = done(await put('/api/settings/oauth', { enabled: true, providers: [OIDC, GITHUB] }));
      assert.deepEqual(
        first.providers.map((p) => p.client_secret_set),
        [true, false],
      );
      const again = done(await put('/api/settings/oauth', first));
      assert.deepEqual(again, first);
      const { client_secret: _gone, ...bare } = OIDC;
      await wrong(
        '/api/settings/oauth',
        { providers: [{ ...bare, issuer: 'https://evil.example' }] },
        'providers.0.client_secret',
      );
      const cleared = done(await put('/api/settings/oauth', { providers: [{ ...bare, client_secret: null }] }));
      assert.equal(cleared.providers[0].client_secret_set, false);
      done(await put('/api/settings/oauth', { enabled: false, providers: [OIDC] }));

      const rows = JSON.stringify(await db.rows("SELECT content FROM settings WHERE name IN ('smtp', 'oauth')"));
      const log = JSON.stringify(done(await service.admin.get('/api/audit/logs?action=settings.update&limit=500')));
      for (const secret of [password, OIDC.client_secret])
        for (const text of [rows, log, service.server.log]) assert.ok(!text.includes(secret), secret);
    });

    it('are logged with their states before and after', async () => {
      done(await put('/api/settings', { site_name: 'Before' }));
      done(await put('/api/settings', { site_name: 'After' }));
      const [entry] = done(await service.admin.get('/api/audit/logs?action=settings.update&limit=1')).list;
      assert.deepEqual(
        [entry.target?.name, entry.before?.site_name, entry.after?.site_name],
        ['general', 'Before', 'After'],
      );
    });

    it('are logged with which secrets changed, never with their values', async () => {
      const newest = async () =>
        done(await service.admin.get('/api/audit/logs?action=settings.update&limit=1')).list[0];
      const smtp = { host: 'mail.example.com', from: 'Zoneward <dns@example.com>' };
      const changed = async (body: object) => {
        done(await put('/api/settings/smtp', body));
        const { before, after } = await newest();
        return [before, after].map((state) => [state?.password_set, state?.password_changed]);
      };
      done(await put('/api/settings/smtp', { password: null }));
      assert.deepEqual(await changed({ ...smtp, password: 'one' }), [
        [false, undefined],
        [true, true],
      ]);
      assert.deepEqual(await changed({ password: 'two' }), [
        [true, undefined],
        [true, true],
      ]);
      assert.deepEqual(await changed({ password: 'two', username: 'two' }), [
        [true, undefined],
        [true, undefined],
      ]);
      const { id } = await newest();
      assert.ok(!('password_changed' in done(await put('/api/settings/smtp', { password: 'two' }))));
      assert.equal((await newest()).id, id, 'nothing has changed');

      done(await put('/api/settings/oauth', { providers: [OIDC, GITHUB] }));
      const providers = [{ ...OIDC, client_secret: 'oidc-secret-2' }, GITHUB];
      done(await put('/api/settings/oauth', { providers }));
      const { before, after } = await newest();
      const changes = [before, after].map((state) => {
        const told = state?.providers as { client_secret_changed?: true }[] | undefined;
        return told?.map((provider) => provider.client_secret_changed);
      });
      assert.deepEqual(changes, [
        [undefined, undefined],
        [true, undefined],
      ]);
    });

    it('keep both of two parallel changes', async () => {
      await Promise.all([put('/api/settings', { site_name: 'Both' }), put('/api/settings', { default_ttl: 900 })]);
      const { site_name, default_ttl } = done(await service.admin.get('/api/settings'));
      assert.deepEqual([site_name, default_ttl], ['Both', 900]);
    });

    it('give records their default TTL', async () => {
      done(await put('/api/settings', { default_ttl: 1234 }));
      const domain = await addDomain(
        service.admin,
        await addAccount(service.admin, 'zonefile', {}),
        'ttl.example',
        true,
      );
      const records = `/api/domains/${domain}/records` as const;
      const { id } = made(await service.admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
      assert.equal(done(await service.admin.get(`${records}/${id}`)).ttl, 1234);
      done(await put('/api/settings', { default_ttl: 600 }));
    });

    it('restrict the networks of sign-ins, and lock out nobody by mistake', async () => {
      const from = (ip: string) => ({ 'x-forwarded-for': ip });
      const set = (allowed_cidrs: string[], ip: string) =>
        service.server.call('PUT', '/api/settings/security', { allowed_cidrs }, service.token, from(ip));
      await refused(await set(['192.0.2.0/24'], '203.0.113.1'), 400, 400001);
      done(await set(['192.0.2.0/24'], '192.0.2.1'));
      const list = (ip: string, token = service.token) =>
        service.server.call('GET', '/api/domains', undefined, token, from(ip));
      done(await list('192.0.2.9'));
      assert.equal(refused(await list('203.0.113.1'), 403, 403001).data.required, 'network');
      const login = (ip: string) =>
        service.server.call(
          'POST',
          '/api/auth/login',
          { username: 'ada', password: 'ada-secret' },
          undefined,
          from(ip),
        );
      refused(await login('203.0.113.1'), 403, 403001);
      done(await login('192.0.2.7'));
      // pipelines come from elsewhere: tokens are not people
      const { token } = made(
        await service.server.call('POST', '/api/tokens', { name: 'ci' }, service.token, from('192.0.2.1')),
      );
      done(await list('203.0.113.1', token));
      done(await set([], '192.0.2.1'));
    });

    it('limit requests of users and tokens', async () => {
      const { token } = made(await service.admin.post('/api/tokens', { name: 'busy' }));
      const ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
      done(await put('/api/settings/security', { rate_limits: { token: 3, user: 4 } }));
      const busy = service.server.as(token);
      // draft-ietf-httpapi-ratelimit-headers: the policy, and what is left of it
      const left = (answer: Answer, name: string, limit: number, remaining: number) => {
        assert.equal(answer.headers.get('ratelimit-policy'), `"${name}";q=${limit};w=60`);
        const [, r, t] = new RegExp(`^"${name}";r=(\\d+);t=(\\d+)$`).exec(answer.headers.get('ratelimit') ?? '') ?? [];
        const old = ['limit', 'remaining', 'reset'].map((key) => Number(answer.headers.get(`x-ratelimit-${key}`)));
        assert.deepEqual([Number(r), old], [remaining, [limit, remaining, Number(t)]]);
        assert.ok(Number(t) >= 1 && Number(t) <= 60, t);
      };
      for (let i = 0; i < 3; i++) {
        const answer = await busy.get('/api/domains');
        done(answer);
        left(answer, 'token', 3, 2 - i);
      }
      const answer = refused(await busy.get('/api/domains'), 429, 429001);
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
      left(answer, 'token', 3, 0);
      assert.equal(answer.headers.get('retry-after'), answer.headers.get('x-ratelimit-reset'));
      left(await ada.get('/api/auth/me'), 'user', 4, 3);
      done(await put('/api/settings/security', { rate_limits: { user: 5 } }));
      for (let i = 0; i < 4; i++) done(await ada.get('/api/domains'));
      refused(await ada.get('/api/domains'), 429, 429001);
      done(await put('/api/settings/security', { rate_limits: { token: 0, user: 0 } }));
      done(await busy.get('/api/domains'));
    });
  });
}
