import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { MIGRATIONS } from '../../src/platform/schema/migrations/index.js';
import { openDatabase } from '../support/database.js';
import { databases, freshDatabase } from '../support/databases.js';
import { LocalServer, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, until } from '../support/world.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

/** The migrations that a log tells of, and nothing else in their lines. */
const applied = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.includes('"migration applied"'))
    .map((line) => JSON.parse(line).migration as string);

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`the schema at a start on ${kind}`, () => {
    let folder: string;
    let DATABASE_URL: string;
    let drop: (() => Promise<void>) | undefined;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'zoneward-schema-'));
      DATABASE_URL = 'sqlite:zoneward.db';
      if (kind !== 'sqlite') ({ url: DATABASE_URL, drop } = await freshDatabase(kind));
    });
    afterEach(async () => {
      await drop?.();
      rmSync(folder, { recursive: true });
    });
    const stored = async () => {
      const { db, close } = await openDatabase(DATABASE_URL, folder);
      const rows = await db.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id');
      await close();
      return rows.map(({ name }) => name);
    };

    it('is migrated, with a line in the log for each step', async () => {
      const first = await LocalServer.start({ DATABASE_URL }, folder);
      await first.stop();
      assert.deepEqual(applied(first.log), NAMES);
      assert.deepEqual(await stored(), NAMES);
      const second = await LocalServer.start({ DATABASE_URL }, folder);
      await second.stop();
      assert.deepEqual(applied(second.log), []);
    });

    it('of a newer version stops it, and is left alone', async () => {
      const source = new AppDataSource(ENTITIES);
      await source.open(parseDatabaseUrl(DATABASE_URL, folder));
      await source.undoLastMigration();
      const future = { timestamp: 9_999_999_999_999, name: 'Future9999999999999' };
      await source.createQueryBuilder().insert().into('migrations').values(future).execute();
      await source.destroy();
      const before = await stored();
      assert.equal(before.length, NAMES.length);
      const error: Error = await ServerProcess.start({ DATABASE_URL }, folder).then(
        () => assert.fail('it started'),
        (reason) => reason,
      );
      const [head, line, ...rest] = error.message.trim().split('\n') as [string, string];
      assert.deepEqual([head, rest], ['the server ended with 1:', []]);
      assert.match(JSON.parse(line).msg, /newer than this program, which does not know the migration Future9{13}\./);
      assert.deepEqual(await stored(), before);

      const { hostname: host, port, pathname, username, password } = new URL(DATABASE_URL);
      const server = { host, port: Number(port), database: pathname.slice(1), user: username || 'postgres', password };
      const setup = await LocalServer.start({}, folder);
      try {
        const body = kind === 'sqlite' ? { type: kind } : { type: kind, [kind]: server };
        const answer = refused(await setup.call('POST', '/api/init/database', body), 400, 400001);
        assert.match(answer.msg, /written by a newer version/);
        assert.equal(done(await setup.call('GET', '/api/init/status')).dbInitialized, false);
      } finally {
        await setup.stop();
      }
    });

    // a file of SQLite belongs to one process
    if (kind === 'sqlite') return;

    it('is changed by one of two processes that start together', async () => {
      const env = { DATABASE_URL, SECRET_KEY: 'k'.repeat(32) };
      const both = await Promise.all([ServerProcess.start(env, folder), ServerProcess.start(env, folder)]);
      try {
        for (const server of both) done(await server.call('GET', '/health/ready'));
        assert.deepEqual(applied(both.map(({ log }) => log).join('')), NAMES);
      } finally {
        for (const server of both) await server.stop();
      }
      assert.deepEqual(await stored(), NAMES);
    });

    it('is not touched while another process changes it', async () => {
      const choice = parseDatabaseUrl(DATABASE_URL, folder);
      const other = new AppDataSource([]);
      await other.prepare(choice);
      await other.initialize();
      const runner = other.createQueryRunner();
      const [lock, unlock] =
        kind === 'postgresql'
          ? ['SELECT pg_advisory_lock(748113901)', 'SELECT pg_advisory_unlock(748113901)']
          : [`SELECT GET_LOCK(CONCAT('zoneward/', SHA1(DATABASE())), 0)`, 'SELECT RELEASE_ALL_LOCKS()'];
      await runner.query(lock as string);
      const told: string[] = [];
      const source = new AppDataSource(ENTITIES);
      const opening = source.open(choice, (_, words) => told.push(words));
      try {
        await until('it waits', async () => told.length > 0);
        assert.match(told.join(), /another process changes the schema/);
        assert.equal(await runner.hasTable('migrations'), false);
      } finally {
        await runner.query(unlock as string);
        await opening;
        assert.equal(told.length, 1 + NAMES.length);
        await runner.release();
        await source.destroy();
        await other.destroy();
      }
    });
  });
}
