import assert from 'node:assert/strict';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { ADMIN, LocalServer, type Service, startService } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { done, made, refused } from '../support/world.js';

const WANTS = { 'x-zoneward-session': 'cookie' };

/** The cookie that an answer sets, as a browser would send it back; null: none. */
const setBy = (headers: Headers): string | null => headers.getSetCookie()[0]?.split(';')[0] ?? null;

describe('the session of a page, in a cookie', () => {
  let service: Service;
  let server: Service['server'];
  beforeAll(async () => {
    service = await startService('sqlite');
    ({ server } = service);
  });
  afterAll(() => service?.stop());

  const signIn = async (headers: Record<string, string> = {}) => {
    const answer = await server.call('POST', '/api/auth/login', ADMIN, undefined, { ...WANTS, ...headers });
    return { answer, cookie: setBy(answer.headers) as string };
  };
  const ask = <M extends string, P extends string>(
    method: M,
    path: P,
    headers: Record<string, string>,
    body?: unknown,
  ) => server.call(method, path, body, undefined, headers);

  it('is set by a sign-in that asks for it, which then answers no token', async () => {
    const { answer, cookie } = await signIn();
    const data = done(answer);
    assert.deepEqual(Object.keys(data).toSorted(), ['expires_at', 'user']);
    assert.match(cookie, /^zoneward_session=eyJ/);
    const attributes = answer.headers.getSetCookie()[0] as string;
    for (const part of [/; HttpOnly/, /; SameSite=Strict/, /; Path=\/api(;|$)/, /; Max-Age=\d+/])
      assert.match(attributes, part);
    assert.doesNotMatch(attributes, /Secure/);
    const left = Date.parse(data.expires_at) - Date.now();
    assert.ok(left > 11.9 * 3_600_000 && left <= 12 * 3_600_000, data.expires_at);
  });

  it('signs in with the header, and is nobody without it', async () => {
    const { cookie } = await signIn();
    assert.equal(done(await ask('GET', '/api/auth/me', { cookie, ...WANTS })).username, ADMIN.username);
    assert.equal(refused(await ask('GET', '/api/auth/me', { cookie }), 401, 401001).data.reason, 'no_token');
    refused(await ask('GET', '/api/auth/me', { cookie, 'x-zoneward-session': 'yes' }), 401, 401001);
    refused(await ask('GET', '/api/auth/me', WANTS), 401, 401001);
  });

  it('leaves who signs in without the header as before', async () => {
    const answer = await server.call('POST', '/api/auth/login', ADMIN);
    assert.deepEqual(Object.keys(done(answer)).toSorted(), ['token', 'user']);
    assert.deepEqual(answer.headers.getSetCookie(), []);
  });

  it('stands behind a token in Authorization', async () => {
    const { cookie } = await signIn();
    const headers = { cookie, ...WANTS };
    assert.equal(done(await server.call('GET', '/api/auth/me', undefined, service.token, headers)).role, 3);
    refused(await server.call('GET', '/api/auth/me', undefined, `${service.token}x`, headers), 401, 401001);
  });

  it('is of no use to pages of other addresses, be it to read, to change or to sign in', async () => {
    const { cookie } = await signIn();
    const { host } = new URL(server.url);
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: server.url.replace(/\d+$/, '1') },
      { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const headers of foreign) {
      const from = { cookie, ...WANTS, ...headers };
      assert.equal(refused(await ask('GET', '/api/auth/me', from), 403, 403001).data.reason, 'foreign_page');
      refused(await ask('PUT', '/api/security/profile', from, { nickname: 'x' }), 403, 403001);
      const sent = await signIn(headers);
      refused(sent.answer, 403, 403001);
      assert.equal(sent.cookie, null);
    }
    for (const headers of [{ origin: `http://${host}` }, { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }])
      done(await ask('GET', '/api/auth/me', { cookie, ...WANTS, ...headers }));
  });

  it('is renewed where tokens are', async () => {
    const { cookie } = await signIn();
    const answer = await ask('POST', '/api/auth/refresh', { cookie, ...WANTS }, {});
    assert.deepEqual(Object.keys(done(answer)), ['expires_at']);
    const next = setBy(answer.headers) as string;
    assert.match(next, /^zoneward_session=eyJ/);
    done(await ask('GET', '/api/auth/me', { cookie: next, ...WANTS }));
  });

  it('is removed at the sign-out, and by the answer that the session has ended', async () => {
    const { cookie } = await signIn();
    const removed = /^zoneward_session=; Path=\/api; Expires=Thu, 01 Jan 1970/;
    const out = await ask('POST', '/api/auth/logout', { cookie, ...WANTS });
    done(out);
    assert.match(out.headers.getSetCookie()[0] ?? '', removed);
    const after = await ask('GET', '/api/auth/me', { cookie, ...WANTS });
    assert.equal(refused(after, 401, 401001).data.reason, 'session_ended');
    assert.match(after.headers.getSetCookie()[0] ?? '', removed);
  });

  it('outlives the late answer to a request that was sent before there was a session', async () => {
    const answer = await ask('GET', '/api/auth/me', WANTS);
    assert.equal(refused(answer, 401, 401001).data.reason, 'no_token');
    assert.deepEqual(answer.headers.getSetCookie(), []);
  });

  it('does nothing for a page that was opened for somebody else, and stays', async () => {
    const bob = { username: 'bob', password: 'violet-harbour-92' };
    const { id } = made(await service.admin.post('/api/users', { ...bob, role: 3 }));
    const answer = await server.call('POST', '/api/auth/login', bob, undefined, WANTS);
    const headers = { cookie: setBy(answer.headers) as string, ...WANTS };
    const me = done(await ask('GET', '/api/auth/me', { ...headers, 'x-zoneward-user': `${id}` }));
    assert.equal(me.username, 'bob');
    const admin = done(await service.admin.get('/api/auth/me')).id;
    const calls = [
      ['GET', '/api/domains'],
      ['PUT', '/api/security/profile', { nickname: 'of bob' }],
      ['POST', '/api/auth/logout'],
      ['POST', '/api/auth/refresh'],
    ] as const;
    for (const opened of [`${admin}`, '', 'bob', `0${id}`])
      for (const [method, path, body] of calls) {
        const refusal = await ask(method, path, { ...headers, 'x-zoneward-user': opened }, body);
        assert.equal(refused(refusal, 401, 401001).data.reason, 'session_of_another', `${path} ${opened}`);
        assert.deepEqual(refusal.headers.getSetCookie(), []);
      }
    assert.equal(done(await ask('GET', '/api/auth/me', headers)).nickname, 'bob');
  });

  it('outlives a wrong password, which is 401, too', async () => {
    const { cookie } = await signIn();
    const wrong = { old_password: 'not-the-password', new_password: 'amber-lantern-208' };
    const answer = await ask('POST', '/api/auth/password', { cookie, ...WANTS }, wrong);
    refused(answer, 401, 401001);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    done(await ask('GET', '/api/auth/me', { cookie, ...WANTS }));
  });
});

describe('the cookie of a session elsewhere', () => {
  const afterTest = atEndOfTest();

  it('cannot be asked for by a page that CORS lets in', async () => {
    const origin = 'https://friend.example';
    const other = await LocalServer.start({ CORS_ORIGINS: origin });
    afterTest(() => other.stop());
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-zoneward-session',
    };
    const answer = await other.call('OPTIONS', '/api/auth/login', undefined, undefined, asked);
    assert.equal(answer.headers.get('access-control-allow-origin'), origin);
    assert.doesNotMatch(answer.headers.get('access-control-allow-headers') ?? '', /session/i);
  });

  it('is on https of this host and of TLS alone, and no other one counts there', async () => {
    const service = await startService('sqlite', { BASE_URL: 'https://dns.example.com/tools' });
    afterTest(() => service.stop());
    const { server } = service;
    const ours = { ...WANTS, origin: 'https://dns.example.com', host: 'dns.example.com' };
    const answer = await server.call('POST', '/api/auth/login', ADMIN, undefined, ours);
    const cookie = setBy(answer.headers) as string;
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-zoneward_session=eyJ.*; Path=\/; .*; Secure/);
    done(await server.call('GET', '/api/auth/me', undefined, undefined, { ...ours, cookie }));
    const plain = cookie.replace('__Host-', '');
    refused(await server.call('GET', '/api/auth/me', undefined, undefined, { ...ours, cookie: plain }), 401, 401001);
    const { origin: _, ...withoutOrigin } = ours;
    refused(
      await server.call('GET', '/api/auth/me', undefined, undefined, { ...withoutOrigin, cookie: plain }),
      401,
      401001,
    );
    // opened by its address without TLS, where a browser would drop a secure one
    // without BASE_URL, or at another name, whatever hints at https is enough
    const other = await startService('sqlite');
    afterTest(() => other.stop());
    const plainly = other.server;
    const signed = await plainly.call('POST', '/api/auth/login', ADMIN, undefined, WANTS);
    const headers = { cookie: setBy(signed.headers) as string, ...WANTS };
    const asked = (more: Record<string, string>) =>
      plainly.call('GET', '/api/auth/me', undefined, undefined, { ...headers, ...more });
    done(await asked({}));
    done(await asked({ 'sec-fetch-site': 'same-origin' }));
    for (const hint of [
      { 'x-forwarded-proto': 'https' },
      { 'sec-fetch-site': 'same-origin', host: 'dns.example.com' },
      { origin: 'https://dns.example.com', host: 'dns.example.com' },
    ])
      assert.equal(refused(await asked(hint), 401, 401001).data.reason, 'no_token');
    const both = `${headers.cookie}; __Host-${headers.cookie.replace(/.$/, 'x')}`;
    const removed = await asked({ 'sec-fetch-site': 'same-origin', cookie: both });
    refused(removed, 401, 401001);
    assert.deepEqual(
      removed.headers.getSetCookie().map((one) => one.split('=')[0]),
      ['zoneward_session', '__Host-zoneward_session'],
    );
    const near = await server.call('POST', '/api/auth/login', ADMIN, undefined, { ...WANTS, origin: server.url });
    assert.match(near.headers.getSetCookie()[0] ?? '', /^zoneward_session=eyJ.*; Path=\/tools\/api; /);
  });
});
