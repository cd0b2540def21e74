import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, it } from '@jest/globals';
import { copyOf, databases, freshDatabase } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { LocalServer, type Server, ServerProcess, startProcess, startService } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { atEndOfTest, describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, addDomain, done, made, refused, startWorld, until, type World } from '../support/world.js';

/** ms in which a process that is not paused begins several jobs */
const QUIET_MS = 4000;

const ADMIN_ENTRY = join(import.meta.dirname, '../../dist/zoneward.cjs');
const env = { SECRET_KEY: 'the-same-key-of-all-replicas-0123456789' };
const atEnd = atEndOfTest();

interface Place {
  DATABASE_URL: string;
  folder: string;
}

/** A command of the administration, as who holds the machine would run it. */
const command = ({ DATABASE_URL, folder }: Place, ...args: string[]) =>
  promisify(execFile)(process.execPath, [ADMIN_ENTRY, 'admin', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env, DATABASE_URL, DATA_DIR: folder },
  });

for (const [i, { kind, skip }] of databases('one').entries())
  describeUnless(skip || noPowerdns)(`a copy of a database on ${kind}`, () => {
    let world: World;
    let original: Server;
    // a process of its own is needed once: what is stored is what decides
    const startServer: (env: Record<string, string>, dataDir: string) => Promise<Server> =
      i === 0 ? (env, dataDir) => ServerProcess.start(env, dataDir) : (env, dataDir) => LocalServer.start(env, dataDir);
    let spare: number;
    beforeAll(async () => {
      world = await startWorld(kind, env, 'sqlite', i === 0 ? startProcess : startService);
      spare = await addAccount(world.admin, 'powerdns', { url: world.proxy.url, api_key: world.pdns.apiKey });
      await world.pdns.createZone('spare.example');
      await addDomain(world.admin, spare, 'spare.example');
      original = world.server;
    });
    afterAll(async () => {
      await original?.kill();
      await world?.stop();
    });

    const folderOf = () => {
      const folder = mkdtempSync(join(tmpdir(), 'zoneward-copy-'));
      atEnd(() => rmSync(folder, { recursive: true, force: true }));
      return folder;
    };
    const start = async ({ DATABASE_URL, folder }: Place) => {
      const server = await startServer({ ...env, DATABASE_URL }, folder);
      atEnd(() => server.kill());
      return server;
    };
    const pauseOf = async (server: Server) => done(await server.call('GET', '/health/ready')).paused;
    const runsOf = async ({ DATABASE_URL, folder }: Place) =>
      String(
        (
          await rowsOf(
            { databaseUrl: DATABASE_URL, server: { dataDir: folder } },
            'SELECT id, runs FROM jobs ORDER BY id',
          )
        ).map(({ runs }) => runs),
      );
    const records = () => world.records;
    const record = (host: string) => ({ host, type: 'A', value: '192.0.2.7' });

    /** As long as nobody says that it may, it does nothing by itself and changes nothing at a provider. */
    const isPaused = async (server: Server, place: Place) => {
      const pause = await pauseOf(server);
      assert.ok(pause?.since && pause.reason, JSON.stringify(pause));
      assert.match(server.log, /"msg":"paused: /);
      const client = server.as(await server.login());
      done(await client.get(records()));
      assert.equal(done(await client.get('/api/system/status')).paused?.reason, pause.reason);
      const refusal = refused(await client.post(records(), record('drill')), 503, 503001);
      assert.match(refusal.msg, /^Paused since .*npm run admin -- resume/);
      refused(await client.post(`/api/accounts/${world.account}/sync`), 503, 503001);
      refused(
        await client.post('/api/domains', { name: 'drill.example', account_id: world.account, create: true }),
        503,
        503001,
      );
      const before = await runsOf(place);
      const asked = world.proxy.requests.length;
      await sleep(QUIET_MS);
      assert.equal(await runsOf(place), before, 'jobs');
      assert.equal(world.proxy.requests.length, asked, 'calls of the provider');
      return client;
    };

    it('begins paused, and works after `resume` of the administration', async () => {
      assert.equal(await pauseOf(original), undefined);
      await original.stop();
      const folder = folderOf();
      let DATABASE_URL = 'sqlite:zoneward.db';
      if (kind === 'sqlite') copyFileSync(join(world.server.dataDir, 'zoneward.db'), join(folder, 'zoneward.db'));
      else {
        const copy = await copyOf(kind, world.databaseUrl);
        atEnd(() => copy.drop());
        DATABASE_URL = copy.url;
      }
      const place = { DATABASE_URL, folder };
      // a restart is none
      original = await startServer({ ...env, DATABASE_URL: world.databaseUrl }, world.server.dataDir);
      assert.equal(await pauseOf(original), undefined);
      await original.stop();

      const drill = await start(place);
      const client = await isPaused(drill, place);
      // what shall not be written to goes before
      assert.equal((await client.delete(`/api/accounts/${spare}?force=true`)).status, 200);
      assert.match((await command(place, 'resume')).stdout, /not paused any more/);
      await until('it goes on', async () => (await pauseOf(drill)) === undefined);
      const before = await runsOf(place);
      await until('jobs run', async () => (await runsOf(place)) !== before);
      made(await client.post(records(), record('meant')));
      await assert.rejects(command(place, 'resume'), /It is not paused/);
      const [entry] = done(await client.get('/api/audit/logs?action=system.resume&result=ok&limit=1')).list;
      assert.ok((entry?.before as { paused: { reason: string } } | undefined)?.paused.reason);
      await drill.stop();
      // and it stays so
      assert.equal(await pauseOf(await start(place)), undefined);
    });

    it('that was put there by `restore` begins paused, and works after POST /api/system/resume', async () => {
      original = await startServer({ ...env, DATABASE_URL: world.databaseUrl }, world.server.dataDir);
      const admin = original.as(await original.login());
      const { file } = made(await admin.post('/api/system/backup'));
      const folder = folderOf();
      let DATABASE_URL = 'sqlite:zoneward.db';
      if (kind !== 'sqlite') {
        const empty = await freshDatabase(kind);
        atEnd(() => empty.drop());
        DATABASE_URL = empty.url;
      }
      const place = { DATABASE_URL, folder };
      const { stdout } = await command(place, 'restore', join(world.server.dataDir, 'backups', file));
      assert.match(stdout, /It is paused/);
      await original.stop();
      const drill = await start(place);
      const client = await isPaused(drill, place);
      made(await client.post('/api/users', { username: 'reader', password: 'correct-horse-battery-9', role: 1 }));
      const reader = drill.as(await drill.login({ username: 'reader', password: 'correct-horse-battery-9' }));
      refused(await reader.post('/api/system/resume'), 403, 403001);
      assert.deepEqual(done(await client.post('/api/system/resume')), { resumed: true });
      assert.equal(await pauseOf(drill), undefined);
      refused(await client.post('/api/system/resume'), 409, 409001);
      const { list } = done(await client.get('/api/audit/logs?action=system.resume'));
      assert.deepEqual(list.map(({ result }) => result).toSorted(), ['failed', 'failed', 'ok']);
      made(await client.post(records(), record('restored')));
    });

    if (kind === 'sqlite') return;

    it('is not what a replica sees that finds the same database at another address', async () => {
      original = await startServer({ ...env, DATABASE_URL: world.databaseUrl }, world.server.dataDir);
      const url = new URL(world.databaseUrl);
      url.hostname = 'localhost';
      const replica = await start({ DATABASE_URL: url.href, folder: folderOf() });
      assert.equal(await pauseOf(replica), undefined);
      assert.equal(await pauseOf(original), undefined);
      await replica.stop();
      await original.stop();
      // it knows the address by now, also where nobody else is
      assert.equal(await pauseOf(await start({ DATABASE_URL: url.href, folder: folderOf() })), undefined);
    });
  });
