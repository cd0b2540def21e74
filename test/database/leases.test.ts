import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { parseDatabaseUrl } from '../../src/config/config.js';
import { AppDataSource } from '../../src/database/app-data-source.js';
import { Db } from '../../src/database/db.js';
import { Leases } from '../../src/database/leases.js';
import { ENTITIES } from '../../src/entities.js';

describe('leases that cannot be given back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-leases-'));
  let source: AppDataSource;
  let db: Db;
  let leases: Leases;
  beforeAll(async () => {
    source = new AppDataSource(ENTITIES);
    await source.open(parseDatabaseUrl('sqlite:zoneward.db', folder));
    db = new Db(source);
    leases = new Leases(db);
  });
  afterAll(async () => {
    leases.onApplicationShutdown();
    await source.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  it('take nothing from the result, and lock nobody out, here or when the database is back', async () => {
    const names = ['name|1|aa', 'name|1|zz'];
    await db.run(`CREATE TRIGGER away BEFORE DELETE ON leases BEGIN SELECT RAISE(ABORT, 'away'); END`);
    assert.equal(await leases.hold(names, 1000, async () => 'done'), 'done');
    for (const name of names) assert.equal(await leases.isHeld([name]), false);
    assert.equal(await leases.hold(names, 1000, async () => 'again'), 'again');
    await db.run('DROP TRIGGER away');
    assert.equal(await leases.hold(names, 1000, async () => 'back'), 'back');
    assert.deepEqual(await db.rows('SELECT name FROM leases'), []);
  });
});
