import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { searchPattern } from '../../src/cache/record-search.js';
import { ENTITIES } from '../../src/entities.js';
import { now } from '../../src/platform/common/clock.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { Lists1763960000000 } from '../../src/platform/schema/migrations/1763960000000-lists.js';
import { databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

const RECORDS = 450;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`records from before their lists had indices, on ${kind}`, () => {
    const folder = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-lists-'));
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

    it('are counted and can be searched after the upgrade, which may run twice', async () => {
      const db = dbOn(source);
      for (let left = source.migrations.length; left > 0; left--) {
        const [last] = await db.rows<{ name: string }>('SELECT name FROM migrations ORDER BY id DESC LIMIT 1');
        await source.undoLastMigration();
        if (last?.name === Lists1763960000000.name) break;
      }
      await db.run(
        `INSERT INTO dns_accounts (id, provider, name, remark, credentials, created_at, updated_at)
          VALUES (1, 'zonefile', 'a', '', '', ?, ?)`,
        [now(), now()],
      );
      for (const id of [1, 2])
        await db.run(
          `INSERT INTO domains (id, name, account_id, remote_id, status, remark, records_count, revision, created_at)
           VALUES (?, ?, 1, 'x', 'active', '', 0, 0, ?)`,
          [id, `d${id}.example`, now()],
        );
      for (let i = 0; i < RECORDS; i++)
        await db.run(
          `INSERT INTO dns_records (domain_id, remote_id, host, type, value, ttl, line, proxied, enabled, remark, read_only, updated_at)
           VALUES (?, ?, ?, ?, ?, 60, 'default', ?, ?, ?, ?, ?)`,
          [
            1 + (i % 2),
            `r${i}`,
            `h${i}`,
            i % 3 ? 'A' : 'TXT',
            i % 3 ? '192.0.2.1' : `Größe ${i}`,
            false,
            true,
            'N',
            false,
            now(),
          ],
        );
      await source.runMigrations();
      const again = source.createQueryRunner();
      await new Lists1763960000000().up(again);
      await again.release();
      const rows = await db.rows<{ search: string }>('SELECT search FROM dns_records ORDER BY id');
      assert.equal(rows.length, RECORDS);
      assert.equal(rows[1]?.search, 'h1\nn\n192.0.2.1');
      const find = (keyword: string) =>
        db.rows(`SELECT id FROM dns_records WHERE search LIKE ? ESCAPE '!'`, [searchPattern(keyword)]);
      assert.deepEqual([(await find('GRÖßE 447')).length, (await find('gröse')).length], [1, 0]);
      assert.deepEqual(
        (await db.rows<object>('SELECT domain_id, type, hits FROM record_counts ORDER BY domain_id, type')).map(
          (row) => ({
            ...row,
          }),
        ),
        [
          { domain_id: 1, type: 'A', hits: 150 },
          { domain_id: 1, type: 'TXT', hits: 75 },
          { domain_id: 2, type: 'A', hits: 150 },
          { domain_id: 2, type: 'TXT', hits: 75 },
        ],
      );
    });
  });
}
