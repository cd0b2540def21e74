import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { type Db, isDatabaseDown } from '../../src/platform/database/db.js';
import { databases, freshDatabase, onServer } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { until } from '../support/world.js';

/** ms between reading and writing, in which another transaction could read */
const HOLD_MS = 5;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`transactions on ${kind}`, () => {
    const folder = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-lock-'));
    let drop = async () => {};
    let db: Db;
    beforeAll(async () => {
      const fresh = kind === 'sqlite' ? { url: 'sqlite:lock.db', drop } : await freshDatabase(kind);
      drop = fresh.drop;
      const source = new AppDataSource(ENTITIES);
      await source.open(parseDatabaseUrl(fresh.url, folder));
      db = dbOn(source);
      await db.run("INSERT INTO settings (name, content) VALUES ('counter', '0')");
    });
    afterAll(async () => {
      await db.source.destroy();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('that lock the same row follow each other, and each reads what the one before left', async () => {
      const once = () =>
        db.transaction(async (manager) => {
          assert.equal(await db.lock(manager, 'settings', { name: 'counter' }), true);
          const sql = "SELECT content FROM settings WHERE name = 'counter'";
          const row = await db.row<{ content: string }>(sql, [], manager);
          await sleep(HOLD_MS);
          const next = String(Number(row?.content) + 1);
          await db.run("UPDATE settings SET content = ? WHERE name = 'counter'", [next], manager);
        });
      await Promise.all(Array.from({ length: 10 }, once));
      const [row] = await db.rows<{ content: string }>("SELECT content FROM settings WHERE name = 'counter'");
      assert.equal(row?.content, '10');
    });

    if (kind === 'postgresql')
      it('that lose their connection between two statements say that the database is down', async () => {
        const next = {
          'a statement': (manager: EntityManager) => db.row('SELECT 1 AS one', [], manager),
          'the commit': async () => undefined,
        };
        for (const [what, go] of Object.entries(next)) {
          const lost = db.transaction(async (manager) => {
            const row = await db.row<{ pid: number }>('SELECT pg_backend_pid() AS pid', [], manager);
            await onServer(kind, `SELECT pg_terminate_backend(${row?.pid})`);
            await until('it is noticed', async () => manager.queryRunner?.isReleased === true);
            await go(manager);
          });
          await assert.rejects(lost, (error) => isDatabaseDown(error), what);
        }
      });

    it('say whether there is what they lock', async () => {
      const there = await db.transaction((manager) => db.lock(manager, 'settings', { name: 'nobody' }));
      assert.equal(there, false);
    });

    it('do what waits for the commit after it, and not at all when they fail', async () => {
      const seen: string[] = [];
      await db.transaction(async (manager) => {
        db.afterCommit(manager, () => seen.push('committed'));
        seen.push('working');
      });
      await assert.rejects(
        db.transaction(async (manager) => {
          db.afterCommit(manager, () => seen.push('never'));
          throw new Error('undone');
        }),
        /undone/,
      );
      db.afterCommit(undefined, () => seen.push('at once'));
      assert.deepEqual(seen, ['working', 'committed', 'at once']);
    });
  });
}
