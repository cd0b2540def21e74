import assert from 'node:assert/strict';
import { it } from '@jest/globals';
import { RecordCreated1763910000000 } from '../../src/platform/schema/migrations/1763910000000-record-created.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made } from '../support/world.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`the time of a record's creation, on ${kind}`, () => {
    it('is that of its last change for what was here before, and asked for once', async () => {
      const service = await startService(kind);
      const { admin } = service;
      const account = await addAccount(admin, 'zonefile', {});
      const records = `/api/domains/${await addDomain(admin, account, 'old.example', true)}/records` as const;
      const { id } = made(await admin.post(records, { host: 'www', type: 'A', value: '192.0.2.1' }));
      const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
      try {
        const runner = db.source.createQueryRunner();
        const migration = new RecordCreated1763910000000();
        await migration.down(runner);
        const changed = '2026-01-02T03:04:05.678Z';
        await db.run('UPDATE dns_records SET updated_at = ? WHERE id = ?', [changed, id]);
        await migration.up(runner);
        assert.equal(done(await admin.get(`${records}/${id}`)).created_at, changed);
        done(await admin.put(`${records}/${id}`, { value: '192.0.2.2' }));
        await migration.up(runner);
        await runner.release();
        assert.equal(done(await admin.get(`${records}/${id}`)).created_at, changed);
      } finally {
        await close();
        await service.stop();
      }
    });
  });
}
