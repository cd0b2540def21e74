import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { ADMIN, LocalServer, type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { codeOf, enrol } from '../support/totp.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const HOST = join(import.meta.dirname, '../support/admin-host.mjs');
const [LOST, FRESH] = ['l'.repeat(40), 'f'.repeat(40)];

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`a lost key on ${kind}`, () => {
    let service: Service;
    let again: LocalServer | undefined;
    let host: ReturnType<typeof fork>;
    let secondFactor: Awaited<ReturnType<typeof enrol>>;
    let domain: number;
    let account: number;
    const run = async (...args: string[]) => {
      host.send(args);
      const [outcome] = (await once(host, 'message')) as [{ code: number; out: string; err: string }];
      return outcome;
    };
    const restarted = async () => {
      again = await LocalServer.start({ DATABASE_URL: service.databaseUrl, SECRET_KEY: FRESH }, service.server.dataDir);
      return again;
    };

    beforeAll(async () => {
      service = await startService(kind, { SECRET_KEY: LOST });
      const { admin, server, databaseUrl } = service;
      account = await addAccount(admin, 'zonefile', {});
      domain = await addDomain(admin, account, 'lost.example', true);
      done(await admin.put('/api/settings/smtp', { host: 'mail.example', from: 'a@example.com', password: 'p' }));
      const provider = { key: 'corp', name: 'Corp', issuer: 'https://id.example.com', client_id: 'c' };
      const oauth = { enabled: false, providers: [{ ...provider, client_secret: 's' }] };
      done(await admin.put('/api/settings/oauth', oauth));
      const hook = { id: 'hook', type: 'slack', name: 'chat', config: { url: 'https://chat.example.com/h' } };
      done(await admin.put('/api/settings/notifications', { channels: [hook] }));
      secondFactor = await enrol(admin);
      const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATA_DIR: server.dataDir, SECRET_KEY: FRESH };
      host = fork(HOST, { env, cwd: server.dataDir });
    });
    afterAll(async () => {
      host?.kill('SIGKILL');
      await again?.stop();
      await service?.stop();
    });

    it('is reported with what it sealed, and nothing is dropped while a service runs or without confirmation', async () => {
      const before = await rowsOf(service, 'SELECT name, content FROM settings ORDER BY name');
      assert.match((await run('keys')).out, /MISSING\n.*1 credentials of accounts/s);
      const { code, out } = await run('drop-unreadable');
      assert.equal(code, 0);
      for (const words of [
        `credentials of accounts: account ${account} (`,
        'the secret that signs logins: the one that signs now',
        'the password of the mail server: mail.example',
        'secrets of OAuth providers: provider corp',
        'secrets of notification channels: channel hook (chat)',
        'seeds of authenticator apps: user 1 (admin)',
        'the key of the audit log',
        'Nothing was changed',
      ])
        assert.ok(out.includes(words), `${words} in ${out}`);
      const refusal = await run('drop-unreadable', '--yes');
      assert.equal(refusal.code, 1);
      assert.match(refusal.err, /A service works on this database/);
      assert.equal((await run('drop-unreadable', '--no')).code, 1);
      assert.deepEqual(await rowsOf(service, 'SELECT name, content FROM settings ORDER BY name'), before);
    });

    it('prevents the start until what it sealed is dropped; then the service runs, and says what is missing', async () => {
      await service.server.stop();
      await assert.rejects(restarted(), /holds secrets that are encrypted with the key/);
      // as if it had been stopped a while ago
      const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
      await db.run('UPDATE jobs SET started_at = ?', [now(-60_000)]).finally(close);
      const { code, out, err } = await run('drop-unreadable', '--yes');
      assert.match(out + err, /^Dropped:/);
      assert.equal(code, 0);
      assert.match((await run('drop-unreadable')).out, /^All secrets can be read\.\n/);
      assert.equal((await run('audit-accept')).code, 0);
      await restarted();
    });

    it('lets nobody in with a password alone', async () => {
      const server = again as LocalServer;
      const login = (more = {}) => server.call('POST', '/api/auth/login', { ...ADMIN, ...more });
      assert.equal((await login()).code, -2);
      const wrong = refused(await login({ totpCode: await codeOf(secondFactor.secret) }), 401, 401001);
      assert.match(wrong.msg, /was lost: use a recovery code/);
      // a token that was signed with the lost secret
      refused(await server.as(service.token).get('/api/auth/me'), 401, 401001);
      const [recoveryCode, other] = secondFactor.recovery as [string, string];
      const admin = server.as(done(await login({ recoveryCode })).token);
      // a session alone cannot replace the authenticator app
      refused(await admin.post('/api/auth/2fa/setup'), 409, 409001);
      done(await admin.post('/api/auth/2fa/disable', { password: ADMIN.password, code: other }));
      done(await login());
    });

    it('leaves accounts, settings and the audit log in order, each value to be entered anew', async () => {
      const server = again as LocalServer;
      const admin = server.as(await server.login());
      const shown = done(await admin.get(`/api/accounts/${account}`));
      assert.match(String(shown.last_error), /enter them anew/);
      const record = { host: 'a', type: 'A', value: '192.0.2.1' };
      const create = () => admin.post(`/api/domains/${domain}/records`, record);
      assert.match(refused(await create(), 500, 500002).msg, /were dropped, since their key was lost: enter them anew/);
      done(await admin.put(`/api/accounts/${account}`, { credentials: {} }));
      made(await create());
      assert.equal(done(await admin.get('/api/settings/smtp')).password_set, false);
      assert.equal(done(await admin.get('/api/settings/oauth')).providers[0]?.client_secret_set, false);
      const [channel] = done(await admin.get('/api/settings/notifications')).channels;
      assert.deepEqual([channel?.enabled, channel?.config.url_set], [false, false]);
      const [entry] = done(await admin.get('/api/audit/logs?action=system.drop_unreadable')).list;
      assert.equal(entry?.actor.type, 'system');
      assert.match(String(entry?.after?.dropped), /provider corp/);
      assert.equal(done(await admin.get('/api/audit/verify')).ok, true);
    });
  });
}
