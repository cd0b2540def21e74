import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { json, startStandIn } from '../support/issuer.js';
import { Browser } from '../support/oidc.js';
import { startService } from '../support/server.js';
import { done, refused } from '../support/world.js';

const CLIENT = { client_id: 'Iv1.8a61f9b3a7aba766', client_secret: 'plain-client-secret-2c9e' };
const TOKEN = 'gho_16C7e42F292c6912E7710c838347Ae178B4a';

/**
 * Answers as GitHub gives them: a form unless it is asked for JSON, errors with status 200, numbers as ids, nobody
 * without a user agent.
 */
describe('sign-in with plain OAuth 2.0', () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let github: Awaited<ReturnType<typeof startStandIn>>;
  let person: Record<string, unknown>;
  let asForm: boolean;
  let challenge = '';
  const configure = async (more: object = {}) => {
    const provider = {
      key: 'github',
      name: 'GitHub',
      ...CLIENT,
      scopes: ['read:user'],
      auto_create: true,
      authorization_endpoint: `${github.url}/login/oauth/authorize`,
      token_endpoint: `${github.url}/login/oauth/access_token`,
      userinfo_endpoint: `${github.url}/user`,
      subject_field: 'id',
      ...more,
    };
    return done(await service.admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
  };
  const signIn = async (query: object = {}) => {
    const at = new Browser(service.server);
    const { searchParams } = new URL(await at.authUrl());
    challenge = searchParams.get('code_challenge') as string;
    return at.finish({ code: 'good-code', state: searchParams.get('state'), ...query });
  };

  beforeAll(async () => {
    service = await startService('sqlite');
    done(await service.admin.put('/api/settings/security', { rate_limits: { login: 100, public: 0 } }));
    github = await startStandIn();
    const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');
    github.routes['/login/oauth/access_token'] = ({ headers, body }, response) => {
      const form = Object.fromEntries(new URLSearchParams(body));
      const right =
        form.code === 'good-code' &&
        form.client_id === CLIENT.client_id &&
        form.client_secret === CLIENT.client_secret &&
        sha256(form.code_verifier ?? '') === challenge;
      const answer: Record<string, string> = right
        ? { access_token: TOKEN, scope: 'read:user', token_type: 'bearer' }
        : { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' };
      if (!asForm && headers.accept?.includes('application/json')) return json(response, answer);
      const type = 'application/x-www-form-urlencoded; charset=utf-8';
      response.writeHead(200, { 'content-type': type }).end(String(new URLSearchParams(answer)));
    };
    github.routes['/user'] = ({ headers }, response) =>
      headers.authorization?.toLowerCase() === `bearer ${TOKEN.toLowerCase()}` && headers['user-agent']
        ? json(response, person)
        : json(response, { message: 'Bad credentials' }, 401);
  });
  afterAll(async () => {
    await github?.stop();
    await service?.stop();
  });
  beforeEach(async () => {
    person = { id: 583231, login: 'octocat', name: 'The Octocat', email: null };
    asForm = false;
    await configure();
  });

  it('asks for a code with PKCE and state, without nonce', async () => {
    const url = new URL(await new Browser(service.server).authUrl());
    assert.equal(url.pathname, '/login/oauth/authorize');
    assert.deepEqual(
      [...url.searchParams.keys()].sort(),
      [
        'client_id',
        'code_challenge',
        'code_challenge_method',
        'redirect_uri',
        'response_type',
        'scope',
        'state',
      ].sort(),
    );
    assert.equal(url.searchParams.get('scope'), 'read:user');
  });

  it('signs in whom the number names, however the token is answered and whatever the login is', async () => {
    const first = done(await signIn());
    assert.deepEqual([first.user.username, first.user.nickname, first.user.email], ['octocat', 'The Octocat', null]);
    asForm = true;
    person = { ...person, login: 'renamed' };
    assert.equal(done(await signIn()).user.id, first.user.id);
    // somebody else who took the name over
    person = { ...person, id: 583232, login: 'octocat' };
    const other = done(await signIn()).user;
    assert.deepEqual([other.id === first.user.id, other.username], [false, 'octocat-2']);
  });

  it('takes an issuer along that the provider adds', async () => {
    done(await signIn({ iss: `${github.url}/login/oauth` }));
  });

  it('refuses a code that the provider refuses', async () => {
    for (asForm of [false, true]) refused(await signIn({ code: 'stolen' }), 401, 401001);
  });

  it('finds the subject inside of objects', async () => {
    await configure({ subject_field: 'data.user.id' });
    person = { data: { user: { id: 'u-1' } }, login: 'nested' };
    const { id } = done(await signIn()).user;
    assert.equal(done(await signIn()).user.id, id);
  });

  it('refuses persons without a subject that names one', async () => {
    for (const id of [undefined, null, '', 0.5, 2 ** 53, true, ['1'], { a: 1 }, 'x\ny', 's'.repeat(256)]) {
      person = { id, login: 'nobody' };
      refused(await signIn(), 401, 401001);
    }
    person = { login: 'nobody' };
    await configure({ subject_field: 'constructor.name' });
    refused(await signIn(), 401, 401001);
  });

  it('knows nobody any more when the provider is pointed elsewhere', async () => {
    const { id } = done(await signIn()).user;
    github.routes['/elsewhere'] = github.routes['/user'];
    await configure({ userinfo_endpoint: `${github.url}/elsewhere` });
    assert.notEqual(done(await signIn()).user.id, id);
    person = { ...person, bio: '583231' };
    await configure({ subject_field: 'bio' });
    assert.notEqual(done(await signIn()).user.id, id);
    await configure({ key: 'other-key' });
    person = { ...person, id: 583231 };
    assert.equal(done(await signIn()).user.id, id);
  });

  it('asks nobody at addresses that are not allowed', async () => {
    for (const field of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint']) {
      await configure({ [field]: 'https://169.254.169.254/latest/meta-data' });
      assert.match(refused(await new Browser(service.server).start(), 500, 500002).msg, /not allowed/);
    }
  });

  it('tells a provider that fails from a person who is refused', async () => {
    const honest = github.routes['/user'];
    github.routes['/user'] = (_, response) => json(response, {}, 503);
    refused(await signIn(), 500, 500002);
    github.routes['/user'] = (_, response) => void response.writeHead(200).end('<html>');
    refused(await signIn(), 500, 500002);
    github.routes['/user'] = (_, response) => void response.writeHead(302, { location: '/login' }).end();
    refused(await signIn(), 401, 401001);
    github.routes['/user'] = honest;
  });

  it('shows no secret in the log', () => {
    for (const secret of [TOKEN, CLIENT.client_secret, 'good-code']) assert.ok(!service.server.log.includes(secret));
  });
});
