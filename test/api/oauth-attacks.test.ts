import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { ACCESS_TOKEN, CLIENT, json, startIssuer } from '../support/issuer.js';
import { Browser } from '../support/oidc.js';
import { type Answer, startService } from '../support/server.js';
import { done, refused } from '../support/world.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** How an issuer that is not honest, or somebody between it and the service, could sign somebody in. */
describe('sign-in with a malicious issuer', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let at: Browser;
  let flows = 0;
  const provider = { key: 'odd', name: 'Odd', client_id: CLIENT.id, client_secret: CLIENT.secret, auto_create: true };
  const configure = async (more: object = {}) =>
    done(
      await service.admin.put('/api/settings/oauth', {
        enabled: true,
        // another name each time, so that nothing that was discovered before is used
        providers: [{ ...provider, issuer: issuer.url, name: `Odd ${++flows}`, ...more }],
      }),
    );
  /** A flow up to the code. @returns its state and nonce */
  const begin = async () => {
    const { searchParams } = new URL(await at.authUrl());
    const [state, nonce] = [searchParams.get('state') as string, searchParams.get('nonce') as string];
    return { state, nonce, code: `code-${state.slice(0, 16)}` };
  };
  /** A whole flow that ends with this id_token. */
  const withToken = async (make: (nonce: string) => Promise<string> | string, query: object = {}) => {
    const { nonce, ...callback } = await begin();
    issuer.idToken = await make(nonce);
    return at.finish({ ...callback, ...query });
  };
  const good = (nonce: string) => issuer.sign(issuer.claims(nonce));
  const people = async () => done(await service.admin.get('/api/audit/logs?action=user.create')).total;

  beforeAll(async () => {
    service = await startService('sqlite', { PROVIDER_TIMEOUT_MS: '1000', LOG_LEVEL: 'trace' });
    done(await service.admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0 } }));
    issuer = await startIssuer();
  });
  afterAll(async () => {
    await issuer?.stop();
    await service?.stop();
  });
  beforeEach(async () => {
    at = new Browser(service.server);
    issuer.reset();
    await configure();
  });

  describe('id_token', () => {
    const later = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
    const attacks: Record<string, (nonce: string) => Promise<string> | string> = {
      'of another issuer': (nonce) => issuer.sign(issuer.claims(nonce, { iss: 'https://accounts.example.com' })),
      'for another client': (nonce) => issuer.sign(issuer.claims(nonce, { aud: 'somebody-else' })),
      'for another client as well': (nonce) =>
        issuer.sign(issuer.claims(nonce, { aud: [CLIENT.id, 'b'], azp: 'somebody-else' })),
      'of another flow': () => issuer.sign(issuer.claims('another-nonce')),
      'without nonce': (nonce) => issuer.sign(issuer.claims(nonce, { nonce: undefined })),
      'that is over': (nonce) => issuer.sign(issuer.claims(nonce, { iat: later(-900), exp: later(-600) })),
      'that never ends': (nonce) => issuer.sign(issuer.claims(nonce, { exp: undefined })),
      'of the future': (nonce) => issuer.sign(issuer.claims(nonce, { nbf: later(600) })),
      'without subject': (nonce) => issuer.sign(issuer.claims(nonce, { sub: undefined })),
      'with an empty subject': (nonce) => issuer.sign(issuer.claims(nonce, { sub: '' })),
      'with a subject that is too long': (nonce) => issuer.sign(issuer.claims(nonce, { sub: 's'.repeat(256) })),
      'signed by a stranger': (nonce) => issuer.sign(issuer.claims(nonce), issuer.strangersKey),
      'signed by a stranger with a key of their own name': (nonce) =>
        issuer.sign(issuer.claims(nonce), issuer.strangersKey, { kid: 'second' }),
      'with a broken signature': async (nonce) => {
        const [head, payload, signature] = (await good(nonce)).split('.') as [string, string, string];
        const middle = signature[100] === 'A' ? 'B' : 'A';
        return `${head}.${payload}.${signature.slice(0, 100)}${middle}${signature.slice(101)}`;
      },
      'with other claims than were signed': async (nonce) => {
        const [head, , signature] = (await good(nonce)).split('.');
        return `${head}.${part(issuer.claims(nonce, { sub: 'admin' }))}.${signature}`;
      },
      'without signature': async (nonce) => `${(await good(nonce)).split('.').slice(0, 2).join('.')}.`,
      'with alg none': (nonce) => `${part({ alg: 'none', kid: 'first' })}.${part(issuer.claims(nonce))}.`,
      'with HS256 and the client secret': (nonce) =>
        issuer.sign(issuer.claims(nonce), createSecretKey(Buffer.from(CLIENT.secret)), { alg: 'HS256' }),
      'with HS256 and the public key': (nonce) =>
        issuer.sign(issuer.claims(nonce), createSecretKey(Buffer.from(issuer.publicKeyText)), { alg: 'HS256' }),
      'that is none': () => 'nonsense',
      'that is missing': () => undefined as never,
    };
    it('that is valid is accepted', async () => {
      const answer = await withToken(good);
      assert.equal(done(answer).user.username, 'somebody');
      const sent = issuer.sent.findLast(({ path }) => path === '/token');
      const form = new URLSearchParams(sent?.body);
      assert.equal(form.get('redirect_uri'), `http://localhost:${new URL(service.server.url).port}/oauth/callback`);
      assert.match(form.get('code_verifier') ?? '', /^[\w-]{43}$/);
    });
    for (const [name, make] of Object.entries(attacks)) {
      it(`${name} is refused`, async () => {
        const before = await people();
        const answer = refused(await withToken(make), 401, 401001);
        assert.deepEqual(
          [answer.msg, answer.data],
          ['The sign-in could not be verified; start again', { reason: 'sign_in_unverified' }],
        );
        assert.equal(await people(), before);
        const { list } = done(await service.admin.get('/api/audit/logs?action=auth.login_failed&limit=1'));
        assert.equal(list[0].target?.name, 'odd');
        assert.ok(list[0].error);
      });
    }
    it('of another subject than userinfo is refused', async () => {
      issuer.routes['/userinfo'] = (_, response) => json(response, { sub: 'another' });
      refused(await withToken(good), 401, 401001);
    });
    it('is refused when the answer came from another issuer (RFC 9207)', async () => {
      refused(await withToken(good, { iss: 'https://accounts.example.com' }), 401, 401001);
      done(await withToken(good, { iss: issuer.url, session_state: 'x', scope: 'openid' }));
    });
  });

  describe('discovery document', () => {
    const fails = async (words: RegExp) => assert.match(refused(await at.start(), 500, 500002).msg, words);
    const documented = (more: object) => {
      issuer.routes[issuer.discovery] = (_, response) => json(response, { ...issuer.document(), ...more });
    };

    it('of another issuer is refused', async () => {
      documented({ issuer: 'https://accounts.example.com' });
      await fails(/discovery of the identity provider failed/);
    });
    it('of another issuer is refused at an address that names the document itself, too', async () => {
      documented({ issuer: 'https://accounts.example.com' });
      await configure({ issuer: issuer.url + issuer.discovery });
      await fails(/discovery document is of another issuer/);
    });
    it('may name no address that is not allowed', async () => {
      for (const field of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint']) {
        for (const [url, words] of [
          ['http://169.254.169.254/latest', /169\.254\.169\.254 are not allowed/],
          ['https://[fe80::1]/x', /fe80::1 are not allowed/],
          ['http://192.0.2.1/x', /must use https/],
          ['javascript:alert(1)', /must be an http or https URL/],
          ['file:///etc/passwd', /must be an http or https URL/],
        ] as const) {
          documented({ [field]: url });
          await fails(words);
        }
      }
    });
    it('must name the endpoints', async () => {
      documented({ jwks_uri: undefined });
      await fails(/lacks endpoints/);
    });
    it('that is no JSON, too large, elsewhere or late is a failure of the provider', async () => {
      issuer.routes[issuer.discovery] = (_, response) => void response.writeHead(200).end('<html>');
      await fails(/discovery of the identity provider failed/);
      documented({ padding: 'x'.repeat(1024 * 1024) });
      await fails(/larger than 1 MiB/);
      issuer.routes[issuer.discovery] = (_, response) =>
        void response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end();
      await fails(/discovery of the identity provider failed/);
      assert.equal(issuer.sent.filter(({ path }) => path === '/elsewhere').length, 0);
      issuer.routes[issuer.discovery] = () => undefined;
      await fails(/took too long/);
    });
    it('is fetched from no address that is not allowed, and its absence is told', async () => {
      await configure({ issuer: 'https://169.254.169.254' });
      await fails(/169\.254\.169\.254 are not allowed/);
      await configure({ issuer: 'http://127.0.0.1:1' });
      await fails(/does not answer \(ECONNREFUSED\)/);
      // as an older version may have stored it
      await configure({ issuer: 'https://192.0.2.1' });
      const sql = `UPDATE settings SET content = REPLACE(content, 'https://192.0.2.1', 'http://192.0.2.1') WHERE name = 'oauth'`;
      const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
      await db.run(sql).finally(close);
      await fails(/http:\/\/192\.0\.2\.1 must use https/);
    });
  });

  describe('token endpoint', () => {
    it('is not followed elsewhere with the code', async () => {
      issuer.routes['/token'] = (_, response) =>
        void response.writeHead(307, { location: `${issuer.url}/elsewhere` }).end();
      refused(await withToken(good), 500, 500002);
      assert.equal(issuer.sent.filter(({ path }) => path === '/elsewhere').length, 0);
    });
    it('that hangs, floods or talks nonsense is a failure of the provider', async () => {
      issuer.routes['/token'] = () => undefined;
      assert.match(refused(await withToken(good), 500, 500002).msg, /took too long/);
      issuer.routes['/token'] = (_, response) => json(response, { access_token: 'x'.repeat(2 * 1024 * 1024) });
      assert.match(refused(await withToken(good), 500, 500002).msg, /larger than 1 MiB/);
      issuer.routes['/token'] = (_, response) => void response.writeHead(200).end('nonsense');
      refused(await withToken(good), 500, 500002);
    });
    it('that hangs while its answer comes is a failure of the provider', async () => {
      issuer.routes['/token'] = (_, response) => void response.writeHead(200, JSON_TYPE).write('{');
      assert.match(refused(await withToken(good), 500, 500002).msg, /took too long/);
    });
    it('that says no is a refusal', async () => {
      issuer.routes['/token'] = (_, response) =>
        json(response, { error: 'invalid_grant', error_description: 'secret-in-description' }, 400);
      refused(await withToken(good), 401, 401001);
    });
  });

  it('shows no secret in the log, in answers or in the audit log', async () => {
    const { nonce, ...callback } = await begin();
    const { cookie } = at;
    issuer.idToken = await good(nonce);
    const answers: Answer[] = [await at.finish(callback)];
    done(answers[0]);
    const form = new URLSearchParams(issuer.sent.findLast(({ path }) => path === '/token')?.body);
    answers.push(await withToken(() => issuer.sign(issuer.claims(nonce), issuer.strangersKey)));
    // parsers tell a part of what they could not read
    issuer.routes['/token'] = (_, response) => void response.writeHead(200, JSON_TYPE).end('unreadable-4d');
    answers.push(await withToken(good));
    answers.push(await service.admin.get('/api/audit/logs?limit=500'), await service.admin.get('/api/settings/oauth'));
    const shown = JSON.stringify(answers.map(({ headers: _, ...answer }) => answer)) + service.server.log;
    const secrets = {
      code: callback.code,
      state: callback.state,
      nonce,
      verifier: form.get('code_verifier') as string,
      cookie: cookie.split('=')[1] as string,
      clientSecret: CLIENT.secret,
      accessToken: ACCESS_TOKEN,
      idToken: issuer.idToken,
    };
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(secret?.length > 8, name);
      assert.ok(!shown.includes(secret), name);
    }
    assert.match(service.server.log, /a sign-in was not verified/);
    for (const text of ['secret-in-description', 'unreadable-4d']) assert.ok(!shown.includes(text), text);
  });
});
