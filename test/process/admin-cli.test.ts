import assert from 'node:assert/strict';
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { LocalServer, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { enrol } from '../support/totp.js';
import { done, made, refused } from '../support/world.js';

const ENTRY = join(import.meta.dirname, '../../dist/zoneward.cjs');
const HOST = join(import.meta.dirname, '../support/admin-host.mjs');

interface Outcome {
  code: number;
  out: string;
  err: string;
}

/** Runs a command as the one who holds the machine would, in a process of its own. */
function admin(env: Record<string, string>, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [ENTRY, 'admin', ...args],
      { env: { PATH: process.env.PATH, ...env }, cwd: env.DATA_DIR },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
}

/** Runs commands one after the other in a process beside the service. */
function adminHost(env: Record<string, string>) {
  const child = fork(HOST, { env: { PATH: process.env.PATH, ...env }, cwd: env.DATA_DIR });
  return {
    async run(...args: string[]): Promise<Outcome> {
      child.send(args);
      const ended = once(child, 'exit').then(() => assert.fail(`the process ended over ${args.join(' ')}`));
      const [outcome] = await Promise.race([once(child, 'message'), ended]);
      return outcome;
    },
    async stop(): Promise<void> {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`administration commands on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let host: ReturnType<typeof adminHost>;
    const run = (...args: string[]) => host.run(...args);
    const login = (username: string, password: string) =>
      service.server.call('POST', '/api/auth/login', { username, password });
    const last = async (action: string) =>
      done(await service.admin.get(`/api/audit/logs?action=${action}&limit=1`)).list[0];
    beforeAll(async () => {
      service = await startService(kind);
      host = adminHost({ DATABASE_URL: service.databaseUrl, DATA_DIR: service.server.dataDir });
      done(await service.admin.put('/api/settings', { registration_enabled: true }));
      const ada = { username: 'ada', password: 'violet-harbour-92', email: 'ada@example.com' };
      made(await service.server.call('POST', '/api/auth/register', ada));
    });
    afterAll(async () => {
      await host.stop();
      await service.stop();
    });

    it('reset-password prints a new password and ends all sessions', async () => {
      const token = done(await login('ada', 'violet-harbour-92')).token;
      const { code, out } = await run('reset-password', 'ADA');
      assert.equal(code, 0);
      const fresh = /: (\S+)\n/.exec(out)?.[1] as string;
      refused(await service.server.as(token).get('/api/auth/me'), 401, 401001);
      refused(await login('ada', 'violet-harbour-92'), 401, 401001);
      done(await login('ada', fresh));
      const entry = await last('auth.password_reset');
      assert.deepEqual([entry.actor.type, entry.target?.name, entry.result], ['system', 'ada', 'ok']);
      assert.ok(!JSON.stringify(entry).includes(fresh));
    });

    it('unlock takes locks away', async () => {
      for (let i = 0; i < 5; i++) refused(await login('ada', 'wrong'), 401, 401001);
      refused(await login('ada', 'wrong'), 423, 423001);
      assert.equal((await run('unlock', 'ada')).code, 0);
      refused(await login('ada', 'wrong'), 401, 401001);
      assert.equal((await last('auth.unlock')).actor.type, 'system');
      const none = await run('unlock', 'ada');
      assert.notEqual(none.code, 0);
      assert.match(none.err, /lock of ada does not exist/);
    });

    it('disable-2fa removes the second factor', async () => {
      const shown = async () => {
        const sessions = done(await service.admin.get('/api/auth/sessions'));
        return sessions.find((s) => s.current)?.amr;
      };
      await enrol(service.admin);
      assert.deepEqual(await shown(), ['password', 'totp']);
      assert.equal((await login('admin', 'correct-horse-battery-9')).code, -2);
      assert.equal((await run('disable-2fa', 'admin')).code, 0);
      assert.deepEqual(await shown(), ['password']);
      done(await login('admin', 'correct-horse-battery-9'));
      assert.deepEqual((await last('auth.2fa_disable')).actor.type, 'system');
      assert.notEqual((await run('disable-2fa', 'admin')).code, 0);
    });

    it('reset-security opens a door that was shut', async () => {
      const bea = { username: 'bea', password: 'violet-harbour-92', email: 'bea@example.com' };
      made(await service.server.call('POST', '/api/auth/register', bea));
      const { username, password } = bea;
      const client = service.server.as(await service.server.login({ username, password }));
      done(await service.admin.put('/api/settings/security', { require_2fa_role: 1 }));
      refused(await client.get('/api/domains'), 403, 403001);
      assert.equal((await run('reset-security')).code, 0);
      done(await client.get('/api/domains'));
      assert.equal(done(await service.admin.get('/api/settings/security')).require_2fa_role, null);
      const entry = await last('settings.reset');
      assert.deepEqual([entry.actor.type, entry.before?.require_2fa_role], ['system', 1]);
    });

    it('create-admin makes a super administrator', async () => {
      const { out } = await run('create-admin', 'second');
      const { user } = done(await login('second', /: (\S+)\n/.exec(out)?.[1] as string));
      assert.equal(user.role, 3);
      const again = await run('create-admin', 'SECOND');
      assert.deepEqual([again.code, again.out], [1, '']);
      assert.match(again.err, /exists already/);
    });

    it('say what is wrong, and fail', async () => {
      for (const args of [
        ['reset-password', 'nobody'],
        ['reset-password'],
        ['reset-security', 'ada'],
        ['nonsense', 'ada'],
        ['unlock', 'a', 'b'],
      ]) {
        const { code, err } = await run(...args);
        assert.equal(code, 1, args.join(' '));
        assert.ok(err.length > 10 && !/\bat .*\.js/.test(err), err);
      }
      assert.match((await run('help')).out, /reset-password/);
    });
  });
}

describe('create-admin on an empty installation', () => {
  it('makes the first user, who can sign in', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-admin-'));
    const env = { DATABASE_URL: 'sqlite:zoneward.db', DATA_DIR: dataDir };
    const { code, out } = await admin(env, 'create-admin', 'first');
    assert.equal(code, 0);
    const server = await LocalServer.start(env, dataDir);
    try {
      await server.login({ username: 'first', password: /: (\S+)\n/.exec(out)?.[1] as string });
    } finally {
      await server.kill();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('says so when no database is chosen', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-admin-'));
    const { code, err } = await admin({ DATA_DIR: dataDir }, 'create-admin', 'first');
    assert.equal(code, 1);
    assert.match(err, /database is not chosen/);
    rmSync(dataDir, { recursive: true, force: true });
  });
});
