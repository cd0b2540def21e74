import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import type { LoginResult } from '../../src/auth/sessions/sessions.dto.js';
import type { RecordId } from '../../src/records/records.dto.js';
import { type Description, readDescription } from '../support/openapi.js';
import { LocalServer } from '../support/server.js';

/** Comes first, in this order: what later ones need. All others follow as they stand in the description. */
const FIRST = [
  'POST /api/init/test-db',
  'POST /api/init/database',
  'POST /api/init/admin',
  'POST /api/auth/login',
  'POST /api/accounts',
  'POST /api/domains',
  'POST /api/domains/{domain_id}/records',
  'POST /api/users',
  'POST /api/tokens',
  'PUT /api/tokens/{id}',
  'POST /api/tokens/{id}/rotate',
  'POST /api/tokens/{id}/explain',
  'POST /api/teams',
  'POST /api/teams/{id}/members',
  'POST /api/teams/{id}/permissions',
];

/** What nobody can send twice, or without a mail, a browser, a second device or a provider: how the service says so. */
const CANNOT: Record<string, { status: number; why: string }> = {
  'POST /api/tokens/{id}/hooks': { status: 403, why: 'the token of the examples has no scope webhook' },
  'POST /api/tokens/{id}/tsig-key': { status: 403, why: 'the token of the examples has no scope rfc2136' },
  'PUT /api/tokens/{id}/tsig-key': { status: 404, why: 'the token of the examples has no key' },
  'POST /api/auth/register': { status: 403, why: 'registration is off' },
  'POST /api/auth/password-reset/confirm': { status: 401, why: 'the token comes by mail' },
  'POST /api/auth/second-factor': { status: 401, why: 'a sign-in at a provider makes the challenge' },
  'POST /api/auth/2fa/verify': { status: 401, why: 'an app makes the code' },
  'POST /api/auth/2fa/disable': { status: 409, why: 'there is no second factor' },
  'POST /api/auth/webauthn/register/finish': { status: 400, why: 'a device answers' },
  'PATCH /api/auth/webauthn/{id}': { status: 404, why: 'there is no passkey' },
  'POST /api/auth/webauthn/login/finish': { status: 401, why: 'a device answers' },
  'POST /api/auth/oauth/start': { status: 500, why: 'the provider is an example' },
  'POST /api/auth/oauth/callback': { status: 401, why: 'nothing was begun' },
  'POST /api/security/bind-oauth': { status: 500, why: 'the provider is an example' },
  'POST /api/security/email-code': { status: 501, why: 'there is no mail server' },
  'POST /api/plans/{id}/approve': { status: 403, why: 'it waits for nobody' },
  'POST /api/plans/{id}/reject': { status: 403, why: 'it waits for nobody' },
  'POST /api/domains/{domain_id}/migration': { status: 404, why: 'there is no other account' },
  'POST /api/domains/{domain_id}/migration/copy': { status: 404, why: 'nothing is moved' },
  'POST /api/tunnels': { status: 400, why: 'the account holds zone files' },
  'PUT /api/tunnels/{id}': { status: 404, why: 'there is no tunnel' },
  'POST /api/domains/{domain_id}/failover/{ruleId}/switch': { status: 409, why: 'there are no such records' },
  'POST /api/checks': { status: 404, why: 'there is no CHECKER_SECRET' },
  'POST /api/system/unlock-account': { status: 404, why: 'nobody is locked' },
};

/** Changes the password that the example of the login has. */
const LAST = ['POST /api/auth/password'];

const place = ({ name }: { name: string }) =>
  FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length + (LAST.includes(name) ? 1 : 0);

describe('the example of every request body', () => {
  it('works when it is sent to a fresh service, or fails as the description says', async () => {
    const server = await LocalServer.start();
    try {
      const { operations, resolve, success, mismatches }: Description = await readDescription(server);
      const withBody = operations.filter((o) => o.operation.requestBody).toSorted((a, b) => place(a) - place(b));
      let token: string | undefined;
      const ids: Record<string, string> = { userId: '2', host: 'pool', type: 'A' };
      for (const { name, method, path, operation } of withBody) {
        const { example } = operation.requestBody.content['application/json'];
        assert.ok(example, `${name} has no example: give its class one in src/http/openapi/examples.ts`);
        // the first of everything is the one of the examples, but among users, where that is the administrator
        const first = path.startsWith('/api/users/') ? '2' : '1';
        const url = path.replace(/\{(\w+)\}/g, (_, key) => ids[key] ?? first);
        const answer = await server.call(method.toUpperCase(), url, example, token);
        const { code, data, msg } = answer;
        const told = `${name} ${JSON.stringify(example)}: ${answer.status} ${msg}`;
        const failure = CANNOT[name];
        if (failure) {
          assert.equal(answer.status, failure.status, `${told} (${failure.why})`);
          assert.match(resolve(operation.responses[failure.status]).description, new RegExp(`\\b${code}\\b`), told);
          continue;
        }
        const [status, schema] = success(operation);
        assert.equal(String(answer.status), status, told);
        assert.deepEqual(mismatches({ code, data, msg }, schema, name), []);
        if (name === 'POST /api/auth/login') token = (data as Required<LoginResult>).token;
        if (name === 'POST /api/domains/{domain_id}/records') ids.record_id = String((data as RecordId).id);
      }
      const names = withBody.map((o) => o.name);
      const gone = [...FIRST, ...LAST, ...Object.keys(CANNOT)].filter((name) => !names.includes(name));
      assert.deepEqual(gone, []);
    } finally {
      await server.kill();
      rmSync(server.dataDir, { recursive: true, force: true });
    }
  });
});
