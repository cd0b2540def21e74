import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { secretBox } from '../../src/platform/config/secret-box.js';
import { openDatabase } from '../support/database.js';
import { databases, migratedDatabase } from '../support/databases.js';
import { ADMIN, LocalServer, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused } from '../support/world.js';

const [OLD, NEW] = ['o'.repeat(40), 'n'.repeat(40)];
const SETUP = { ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password };

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`the key of secrets on ${kind}`, () => {
    const folders: string[] = [];
    const drops: (() => Promise<void>)[] = [];
    const newFolder = () => {
      folders.push(mkdtempSync(join(tmpdir(), 'zoneward-key-')));
      return folders.at(-1) as string;
    };
    /** An empty database, for several data directories. */
    const newDatabase = async () => {
      if (kind === 'sqlite') return `sqlite:${newFolder()}/zoneward.db`;
      const { url, drop } = await migratedDatabase(kind);
      drops.push(drop);
      return url;
    };
    const starts = async (env: Record<string, string>, folder: string) => {
      const server = await LocalServer.start(env, folder);
      const token = await server.login();
      await server.stop();
      return token;
    };
    const isRefused = (env: Record<string, string>, folder: string, words: RegExp) =>
      assert.rejects(LocalServer.start(env, folder), words);
    afterAll(async () => {
      for (const drop of drops) await drop();
      for (const folder of folders) rmSync(folder, { recursive: true });
    });

    it('is made by a fresh installation, and one that is lost stops the start until it is back', async () => {
      const [DATABASE_URL, folder] = [await newDatabase(), newFolder()];
      const file = join(folder, 'secret.key');
      await starts({ DATABASE_URL, ...SETUP }, folder);
      const key = readFileSync(file, 'utf8');
      renameSync(file, `${file}.away`);
      await isRefused({ DATABASE_URL }, folder, /the secret that signs logins \(1\).*secret\.key is missing/);
      assert.equal(existsSync(file), false);
      writeFileSync(file, `${NEW}\n`);
      await isRefused({ DATABASE_URL }, folder, /secret\.key has another one/);
      assert.equal(readFileSync(file, 'utf8'), `${NEW}\n`);
      writeFileSync(file, key);
      await isRefused({ DATABASE_URL, SECRET_KEY: NEW }, folder, /That is in .*secret\.key, but SECRET_KEY is set/);
      await starts({ DATABASE_URL, SECRET_KEY: `${NEW},${key.trim()}` }, folder);
      await starts({ DATABASE_URL }, folder);
    });

    it('ends the process with one line when it is wrong', async () => {
      const [DATABASE_URL, folder] = [await newDatabase(), newFolder()];
      await starts({ DATABASE_URL, SECRET_KEY: OLD, ...SETUP }, folder);
      const error: Error = await ServerProcess.start({ DATABASE_URL, SECRET_KEY: NEW }, folder).then(
        () => assert.fail('it started'),
        (reason) => reason,
      );
      const [head, line, ...rest] = error.message.trim().split('\n') as [string, string];
      assert.equal(head, 'the server ended with 1:');
      assert.deepEqual(rest, []);
      const { level, msg } = JSON.parse(line);
      assert.equal(level, 60);
      const id = secretBox([OLD]).encrypt('', '').split('.')[1];
      assert.match(msg, new RegExp(`encrypted with the key ${id}: .* add the old key to it after a comma`));
    });

    it('must open each kind of secret that stays, also those of before the newest key', async () => {
      const [DATABASE_URL, folder] = [await newDatabase(), newFolder()];
      await starts({ DATABASE_URL, SECRET_KEY: OLD, ...SETUP }, folder);
      const server = await LocalServer.start({ DATABASE_URL, SECRET_KEY: `${NEW},${OLD}` }, folder);
      const admin = server.as(await server.login());
      const nowhere = 'http://127.0.0.1:9';
      for (const name of ['a', 'b']) {
        const credentials = { url: nowhere, api_key: 'k' };
        made(await admin.post('/api/accounts?check=false', { provider: 'powerdns', name, credentials }));
      }
      done(await admin.put('/api/settings/smtp', { host: 'mail.example', from: 'a@example.com', password: 'p' }));
      const provider = { key: 'corp', name: 'Corp', issuer: 'https://id.example.com', client_id: 'c' };
      const oauth = { enabled: false, providers: [{ ...provider, client_secret: 's' }] };
      done(await admin.put('/api/settings/oauth', oauth));
      await server.stop();
      const side = await openDatabase(DATABASE_URL, folder);
      const seal = secretBox([NEW]).encrypt('seed', 'second_factors.secret');
      const sql = 'INSERT INTO second_factors (user_id, secret, created_at) VALUES (1, ?, ?)';
      await side.db.run(sql, [seal, now()]);
      await side.close();
      const all = [
        'the password of the mail server (1)',
        'secrets of OAuth providers (1)',
        'seeds of authenticator apps (1)',
        'credentials of accounts (2)',
      ];
      await assert.rejects(LocalServer.start({ DATABASE_URL, SECRET_KEY: OLD }, folder), ({ message }: Error) => {
        for (const words of all) assert.ok(message.includes(words), message);
        assert.ok(!message.includes('signs logins'), message);
        return true;
      });
      await isRefused({ DATABASE_URL, SECRET_KEY: NEW }, folder, /the secret that signs logins \(1\)\. SECRET_KEY has/);
      await isRefused({ DATABASE_URL, SECRET_KEY: 'x'.repeat(32) }, folder, /the keys [0-9a-f]{8} and [0-9a-f]{8}:/);
    });

    it('refuses a database in the setup flow that another installation has filled', async () => {
      const folder = newFolder();
      const other = kind === 'sqlite' ? folder : newFolder();
      const url = kind === 'sqlite' ? 'sqlite:zoneward.db' : await newDatabase();
      await starts({ DATABASE_URL: url, SECRET_KEY: OLD, ...SETUP }, other);
      const server = await LocalServer.start({ SECRET_KEY: NEW }, folder);
      try {
        const { hostname: host, port, pathname, username: user, password } = new URL(url);
        const choice = { host, port: Number(port), database: pathname.slice(1), user: user || 'postgres', password };
        const body = kind === 'sqlite' ? { type: kind } : { type: kind, [kind]: choice };
        const answer = refused(await server.call('POST', '/api/init/database', body), 400, 400001);
        assert.match(answer.msg, /holds secrets that the key of this installation cannot decrypt/);
        assert.equal(done(await server.call('GET', '/api/init/status')).dbInitialized, false);
        assert.equal(existsSync(join(folder, 'database.json')), false);
      } finally {
        await server.stop();
      }
    });

    // a file of SQLite belongs to one process
    if (kind === 'sqlite') return;
    it('is not ready when another process was faster, with another key', async () => {
      const DATABASE_URL = await newDatabase();
      const late = await LocalServer.start({ DATABASE_URL, SECRET_KEY: NEW }, newFolder());
      try {
        assert.deepEqual(done(await late.call('GET', '/health/ready')), { status: 'setup' });
        await starts({ DATABASE_URL, SECRET_KEY: OLD, ...SETUP }, newFolder());
        assert.match(refused(await late.call('GET', '/health/ready'), 503, 503001).msg, /cannot be decrypted/);
      } finally {
        await late.stop();
      }
    });
  });
}
