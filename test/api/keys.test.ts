import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { databases } from '../support/databases.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { enrol } from '../support/totp.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

const HOST = join(import.meta.dirname, '../support/admin-host.mjs');

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`keys on ${kind}`, () => {
    let service: Service;
    let host: ReturnType<typeof fork>;
    const keyFile = () => join(service.server.dataDir, 'secret.key');
    const keysOf = () => readFileSync(keyFile(), 'utf8').trim().split('\n');
    /** Runs a command in a process besides the service. */
    const run = async (...args: string[]): Promise<string> => {
      host.send(args);
      const [{ code, out, err }] = (await once(host, 'message')) as [{ code: number; out: string; err: string }];
      assert.equal(code, 0, err);
      return out;
    };
    const heads = async () => {
      const rows = [
        ...(await rowsOf(service, 'SELECT credentials AS sealed FROM dns_accounts')),
        ...(await rowsOf(service, 'SELECT secret AS sealed FROM second_factors WHERE secret IS NOT NULL')),
        ...(await rowsOf(service, "SELECT content AS sealed FROM settings WHERE name = 'signing_secret'")),
      ];
      const documents = await rowsOf(service, "SELECT content FROM settings WHERE name IN ('smtp', 'oauth')");
      const inside = documents.flatMap(({ content }) => String(content).match(/v1\.[0-9a-f]{8}\./g) ?? []);
      return [...rows.map(({ sealed }) => String(sealed).slice(0, 12)), ...inside];
    };

    beforeAll(async () => {
      service = await startService(kind);
      const { databaseUrl, server } = service;
      const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl, DATA_DIR: server.dataDir };
      host = fork(HOST, { env, cwd: server.dataDir });
    });
    afterAll(async () => {
      host?.kill('SIGKILL');
      await service?.stop();
    });

    it('can be rotated while the service runs, and every secret stays readable', async () => {
      const { admin, server } = service;
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, 'keys.example', true);
      for (let i = 0; i < 3; i++) await addAccount(admin, 'zonefile', { directory: `d${i}` });
      const smtp = { host: 'mail.example', from: 'dns@example.com', username: 'u', password: 'mail-secret' };
      done(await admin.put('/api/settings/smtp', smtp));
      const provider = { key: 'corp', name: 'C', issuer: 'https://id.example', client_id: 'c', client_secret: 'oauth' };
      done(await admin.put('/api/settings/oauth', { enabled: true, providers: [provider] }));
      await enrol(admin);
      const [old] = new Set(await heads());
      assert.match(await run('keys'), /^[0-9a-f]{8} {2}encrypts\n.*4 credentials of accounts/s);

      // while others write secrets
      let writing = true;
      let accounts = 4;
      const writer = (async () => {
        for (let i = 0; writing; i++, accounts++) await addAccount(admin, 'zonefile', { directory: `w${i}` });
      })();
      const words = await run('rotate-key');
      writing = false;
      await writer;
      assert.match(
        words,
        /secrets sealed anew with the key [0-9a-f]{8}\.\nNo longer in use: [0-9a-f]{8}\. Take its line/,
      );
      const after = await heads();
      assert.equal(after.length, accounts + 4);
      assert.deepEqual(
        after.filter((head) => head === old),
        [],
      );
      assert.equal(keysOf().length, 2);
      assert.match(await run('keys'), /decrypts\n {4}nothing: it can be removed/);

      // neither the running process nor a new one needs the old key any more
      writeFileSync(keyFile(), `${keysOf()[0]}\n`);
      made(await admin.post(`/api/domains/${domain}/records`, { host: 'a', type: 'A', value: '192.0.2.1' }));
      done(await admin.get('/api/auth/me'));
      const listed = done(await admin.get('/api/accounts'));
      assert.equal(listed.length, accounts);
      const login = { username: 'admin', password: 'correct-horse-battery-9' };
      assert.equal((await server.call('POST', '/api/auth/login', login)).code, -2);
      const [entry] = done(await admin.get('/api/audit/logs?action=system.rotate_key')).list;
      assert.equal(entry?.actor.type, 'system');
      assert.ok(!/decrypts|MISSING/.test(await run('keys')));
    });

    it('an interrupted rotation is continued without another key', async () => {
      // the new key was added, and nothing else happened
      writeFileSync(keyFile(), `${'f'.repeat(64)}\n${keysOf().join('\n')}\n`);
      const words = await run('rotate-key');
      assert.equal(keysOf().length, 2);
      assert.match(words, /^[1-9]\d* secrets sealed anew/);
      assert.equal(new Set(await heads()).size, 1);
    });

    it('the signing secret can be rotated, and nobody is signed out', async () => {
      const { admin, server, token } = service;
      const rows = async () => (await rowsOf(service, "SELECT content FROM settings WHERE name = 'signing_secret'"))[0];
      const before = await rows();
      assert.match(await run('rotate-jwt-key'), /verifies its own, until 20/);
      assert.notDeepEqual(await rows(), before);
      done(await admin.get('/api/auth/me'));
      const fresh = done(await admin.post('/api/auth/refresh')).token;
      done(await server.as(fresh).get('/api/auth/me'));
      done(await server.as(token).get('/api/auth/me'));
      await run('rotate-jwt-key');
      done(await server.as(token).get('/api/auth/me'));
      done(await server.as(fresh).get('/api/auth/me'));
      // older secrets are re-encrypted, too
      await run('rotate-key');
      done(await server.as(token).get('/api/auth/me'));
      const forged = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`;
      refused(await server.as(forged).get('/api/auth/me'), 401, 401001);
    });
  });
}

describe('keys of SECRET_KEY', () => {
  it('get instructions for their rotation, and nothing is changed', async () => {
    const service = await startService('sqlite', { SECRET_KEY: 'k'.repeat(40) });
    const { databaseUrl: DATABASE_URL, server } = service;
    const env = { PATH: process.env.PATH, DATABASE_URL, DATA_DIR: server.dataDir, SECRET_KEY: 'k'.repeat(40) };
    const host = fork(HOST, { env, cwd: server.dataDir });
    try {
      host.send(['rotate-key']);
      const [{ code, out }] = (await once(host, 'message')) as [{ code: number; out: string }];
      assert.equal(code, 0);
      assert.match(out, /\n {2}[0-9a-f]{64}\n[\s\S]*Put it behind the others/);
      assert.ok(!out.includes('kkkk'));
    } finally {
      host.kill('SIGKILL');
      await service.stop();
    }
  });
});
