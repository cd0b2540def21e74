import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { LocalServer, type Server, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused } from '../support/world.js';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`anonymous callers in the audit log on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let server: Server;
    const admin = () => server.as(service.token);
    const entries = async (action: string) =>
      done(await admin().get(`/api/audit/logs?action=${action}&limit=500&sort=created_at`)).list;
    const failed = async (): Promise<number> => done(await admin().get('/api/system/login-stats')).last_24h.failed;
    const attempt = (username: string, ip = '203.0.113.7') =>
      server.call('POST', '/api/auth/login', { username, password: 'wrong' }, undefined, { 'x-forwarded-for': ip });
    const env = { TRUSTED_PROXIES: '127.0.0.1/32' };
    beforeAll(async () => {
      service = await startService(kind, env);
      server = service.server;
    });
    afterAll(async () => {
      await server?.kill();
      await service?.stop();
    });

    it('leave one row a minute for each name and network, and a count when the process ends', async () => {
      const first = await attempt('stranger');
      for (let i = 0; i < 4; i++) refused(await attempt('Stranger'), 401, 401001);
      for (let i = 0; i < 3; i++) refused(await attempt('stranger'), 423, 423001);
      refused(await attempt('somebody else'), 401, 401001);
      refused(await attempt('stranger', '203.0.113.8'), 401, 401001);
      const rows = await entries('auth.login_failed');
      assert.deepEqual(
        rows.map((e) => [e.target?.name, e.after]),
        [
          ['stranger', null],
          ['somebody else', null],
          ['stranger', null],
        ],
      );
      assert.equal(rows[0]?.request_id, first.headers.get('x-request-id'));
      assert.equal(await failed(), 10);
      // also for actions that are allowed to them
      for (let i = 0; i < 4; i++) done(await server.call('POST', '/api/auth/password-reset', { username: 'stranger' }));
      assert.equal((await entries('auth.password_reset_request')).length, 1);

      await server.stop();
      server = await LocalServer.start({ DATABASE_URL: service.databaseUrl, ...env }, service.server.dataDir);
      const counted = [...(await entries('auth.login_failed')), ...(await entries('auth.password_reset_request'))];
      const several = counted.filter((e) => e.after);
      assert.deepEqual(
        several.map((e) => [e.action, e.target?.name ?? null, e.after]),
        [
          ['auth.login_failed', 'stranger', { count: 7 }],
          ['auth.password_reset_request', null, { count: 3 }],
        ],
      );
      assert.equal(several[0]?.error, 'locked');
      assert.equal(await failed(), 10);
      assert.equal(done(await admin().get('/api/audit/verify')).ok, true);
    });
  });
}
