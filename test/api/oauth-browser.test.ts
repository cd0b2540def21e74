import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { Browser } from '../support/oidc.js';
import { startService } from '../support/server.js';
import { done, refused } from '../support/world.js';

for (const { at, baseUrl, cookie } of [
  {
    at: 'on plain http',
    baseUrl: 'http://localhost:3000',
    cookie: /^zoneward_oauth=[0-9a-f]{64}; Max-Age=600; Path=\/api; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
  },
  {
    at: 'on https below a path',
    baseUrl: 'https://dns.example.com/zones',
    cookie: /^__Host-zoneward_oauth=[0-9a-f]{64}; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
  },
]) {
  describe(`the browser of a sign-in ${at}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    beforeAll(async () => {
      service = await startService('sqlite', { BASE_URL: baseUrl });
      const provider = {
        key: 'plain',
        name: 'Plain',
        client_id: 'zoneward',
        authorization_endpoint: 'https://idp.example.com/authorize',
        token_endpoint: 'https://idp.example.com/token',
        userinfo_endpoint: 'https://idp.example.com/user',
        subject_field: 'id',
      };
      done(await service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
    });
    afterAll(() => service?.stop());
    const start = (redirect?: unknown) => new Browser(service.server).start({ redirect });

    it('is marked by a cookie that scripts and other sites cannot use', async () => {
      const [first, second] = [await start(), await start()].map((answer) => answer.headers.getSetCookie());
      assert.equal(first?.length, 1);
      assert.match(first?.[0] ?? '', cookie);
      assert.notEqual(first?.[0]?.slice(0, 80), second?.[0]?.slice(0, 80));
    });

    it('keeps its mark, but takes none that is not ours', async () => {
      const browser = new Browser(service.server);
      await browser.start();
      const mine = browser.cookie;
      await browser.start();
      assert.equal(browser.cookie, mine);
      const name = mine.split('=')[0] as string;
      for (const planted of [`${name}=1`, `${name}=${'G'.repeat(64)}`, `x${name}=${'a'.repeat(64)}`]) {
        browser.cookie = planted;
        await browser.start();
        assert.match(browser.cookie, new RegExp(`^${name}=[0-9a-f]{64}$`));
        assert.ok(!browser.cookie.endsWith('a'.repeat(64)));
      }
    });

    it('is sent back to nowhere but the service', async () => {
      const { origin, host, protocol } = new URL(baseUrl);
      const other = protocol === 'http:' ? 'https:' : 'http:';
      for (const redirect of [
        'https://evil.example.com/cb',
        '//evil.example.com/cb',
        '/\\evil.example.com',
        '\\\\evil.example.com',
        '/\t/evil.example.com',
        `${baseUrl}.evil.example.com/cb`,
        `${protocol}//${host}@evil.example.com/cb`,
        `${protocol}//user:pass@${host}${new URL(baseUrl).pathname}/cb`,
        `${baseUrl.replace(protocol, other)}/cb`,
        `${protocol}//${new URL(baseUrl).hostname}:1/cb`,
        `${baseUrl}/cb?next=https://evil.example.com`,
        `${baseUrl}/cb#x`,
        `${baseUrl}/cb?`,
        ...(baseUrl === origin ? [] : [`${origin}/elsewhere`, '/../elsewhere', '/%2e%2e/elsewhere']),
        'javascript:alert(1)',
        'cb',
        '',
        5,
        ['/cb'],
      ]) {
        const answer = refused(await start(redirect), 400, 400001);
        assert.equal(answer.data.errors[0].path, 'redirect', String(redirect));
      }
      for (const [redirect, sent] of [
        [undefined, `${baseUrl}/oauth/callback`],
        ['/login/back', `${baseUrl}/login/back`],
        [`${baseUrl}/login/back`, `${baseUrl}/login/back`],
      ]) {
        const url = new URL(done(await start(redirect)).auth_url);
        assert.equal(url.searchParams.get('redirect_uri'), sent);
      }
    });

    it('is asked for a provider only when there are several', async () => {
      const { providers } = done(await service.admin.get('/api/settings/oauth'));
      const both = [providers[0], { ...providers[0], key: 'second' }];
      done(await service.admin.put('/api/settings/oauth', { providers: both }));
      assert.match(refused(await start(), 400, 400001).msg, /^provider: must be one of plain, second$/);
      for (const provider of ['Second', '../x', 'x'.repeat(33), 1]) {
        refused(await new Browser(service.server).start({ provider }), 400, 400001);
      }
      done(await new Browser(service.server).start({ provider: 'second' }));
    });

    it('leaves nothing in the audit log by beginning', async () => {
      assert.equal(done(await service.admin.get('/api/audit/logs?action=oauth.*')).total, 0);
      done(await new Browser(service.server).start({ provider: 'plain' }, service.token));
      assert.equal(done(await service.admin.get('/api/audit/logs?action=oauth.bind_start')).total, 1);
    });
  });
}
