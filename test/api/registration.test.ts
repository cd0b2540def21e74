import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused } from '../support/world.js';

const GOOD = { password: 'violet-harbour-92', nickname: 'New' };

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`registration on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    const register = (body: object) => service.server.call('POST', '/api/auth/register', body);
    beforeAll(async () => {
      service = await startService(kind);
    });
    afterAll(() => service.stop());

    it('is off until the settings allow it', async () => {
      refused(await register({ ...GOOD, username: 'eve', email: 'eve@example.com' }), 403, 403001);
      done(await service.admin.put('/api/settings', { registration_enabled: true }));
    });

    it('creates an ordinary user who can sign in', async () => {
      const user = made(await register({ ...GOOD, username: 'Ada', email: 'Ada@Example.com' }));
      assert.deepEqual([user.username, user.role, user.status, user.email], ['Ada', 1, 1, 'Ada@Example.com']);
      const ada = service.server.as(await service.server.login({ username: 'ada', password: GOOD.password }));
      refused(await ada.get('/api/accounts'), 403, 403001);
    });

    it('refuses names and addresses that exist in any case', async () => {
      assert.match(
        refused(await register({ ...GOOD, username: 'ADA', email: 'b@example.com' }), 409, 409001).msg,
        /username/,
      );
      assert.match(
        refused(await register({ ...GOOD, username: 'ben', email: 'aDa@exaMple.com' }), 409, 409001).msg,
        /email/,
      );
      const body = { ...GOOD, username: 'twice', email: 'twice@example.com' };
      const both = await Promise.all([register(body), register({ ...body, username: 'TWICE' })]);
      assert.deepEqual(both.map((a) => a.status).sort(), [201, 409]);
    });

    it('refuses a malformed user, naming all that is wrong', async () => {
      const answer = refused(await register({ username: 'a b', password: 'password', email: 'x' }), 400, 400001);
      assert.deepEqual(answer.data.errors.map((e) => e.path).sort(), ['email', 'password', 'username']);
      const body = { ...GOOD, username: 'cleo', email: 'cleo@example.com' };
      for (const more of [
        { role: 3 },
        { status: 1 },
        { email: 'a@b\r\nBcc: c@d' },
        { email: undefined },
        { username: 'cleo\u0000' },
      ])
        refused(await register({ ...body, ...more }), 400, 400001);
      refused(
        await service.server.call('POST', '/api/auth/login', { username: 'cleo', password: GOOD.password }),
        401,
        401001,
      );
    });

    it('follows the password policy', async () => {
      done(await service.admin.put('/api/settings/security', { password_policy: { min_length: 20 } }));
      refused(await register({ ...GOOD, username: 'dora', email: 'dora@example.com' }), 400, 400001);
      made(
        await register({ ...GOOD, password: 'violet-harbour-92-lantern', username: 'dora', email: 'dora@example.com' }),
      );
    });
  });
}
