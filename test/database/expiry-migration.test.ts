import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { now } from '../../src/platform/common/clock.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { Expiry1764060000000 } from '../../src/platform/schema/migrations/1764060000000-expiry.js';
import { databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`dates from before they were looked up, on ${kind}`, () => {
    const folder = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-expiry-'));
    let source: AppDataSource;
    let drop: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      let url = 'sqlite:zoneward.db';
      if (kind !== 'sqlite') ({ url, drop } = await freshDatabase(kind));
      source = new AppDataSource(ENTITIES);
      await source.open(parseDatabaseUrl(url, folder));
    });
    afterAll(async () => {
      await source?.destroy();
      await drop?.();
      rmSync(folder, { recursive: true, force: true });
    });

    it('count as set by hand, also where an upgrade died before it said so, and what was looked up does not', async () => {
      const db = dbOn(source);
      for (let left = source.migrations.length; left > 0; left--) {
        const [last] = await db.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
        await source.undoLastMigration();
        if (last?.name === Expiry1764060000000.name) break;
      }
      await db.run(
        `INSERT INTO dns_accounts (id, provider, name, remark, credentials, created_at, updated_at)
          VALUES (1, 'zonefile', 'a', '', '', ?, ?)`,
        [now(), now()],
      );
      for (const [id, expires] of [
        [1, now()],
        [2, null],
        [3, null],
      ] as const)
        await db.run(
          `INSERT INTO domains (id, name, account_id, remote_id, status, remark, records_count, revision, created_at, expires_at)
           VALUES (?, ?, 1, 'x', 'active', '', 0, 0, ?, ?)`,
          [id, `d${id}.example`, now(), expires],
        );
      // MariaDB keeps a column that was added, whatever comes after it
      await db.run('ALTER TABLE domains ADD COLUMN expires_source VARCHAR(8)');
      await source.runMigrations();
      await db.run("UPDATE domains SET expires_at = ?, expires_source = 'rdap' WHERE id = 3", [now()]);
      const again = source.createQueryRunner();
      await new Expiry1764060000000().up(again);
      await again.release();
      const rows = await db.rows<{ expires_source: string }>('SELECT expires_source FROM domains ORDER BY id');
      assert.deepEqual(
        rows.map(({ expires_source }) => expires_source),
        ['manual', null, 'rdap'],
      );
    });
  });
}
