import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterAll, beforeAll, it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { ELSEWHERE } from '../support/leases.js';
import { type Service, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { addAccount, addDomain, done, made, refused, until } from '../support/world.js';

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`the system on ${kind}`, () => {
    let service: Service;
    beforeAll(async () => {
      service = await startService(kind);
    });
    afterAll(() => service?.stop());

    it('shows its status', async () => {
      const { admin } = service;
      done(await admin.put('/api/settings', { timezone: 'Asia/Tokyo' }));
      const status = done(await admin.get('/api/system/status'));
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
      const { uptime, memory, database, ...rest } = status;
      assert.deepEqual(rest, {
        version,
        timezone: 'Asia/Tokyo',
        node: process.version,
        pid: process.pid,
        replica: hostname(),
        redis: 'none',
        jobs: rest.jobs,
        paused: null,
        clock_offset_seconds: rest.clock_offset_seconds,
      });
      assert.ok(Number.isInteger(uptime) && memory.rss > memory.heap_used && memory.heap_used > 0);
      assert.equal(database.type, kind);
      assert.match(database.version, /^\d+\.\d+/);
    });

    it('shows the size of its database, table by table', async () => {
      const { admin } = service;
      made(await admin.post('/api/teams', { name: 'one' }));
      const status = done(await admin.get('/api/system/database'));
      assert.equal(status.type, kind);
      assert.ok(status.size_bytes > 10_000 && status.latency_ms >= 0);
      const rows = await rowsOf(service, 'SELECT name FROM migrations ORDER BY timestamp');
      assert.deepEqual(
        status.migrations,
        rows.map(({ name }) => name),
      );
      const counted = new Map(status.tables.map(({ name, rows: count }) => [name, count]));
      assert.deepEqual([counted.get('teams'), counted.get('users'), counted.get('dns_records')], [1, 1, 0]);
      assert.ok(counted.has('leases'));
    });

    it('compares its cache with the providers on request', async () => {
      const { admin } = service;
      const account = await addAccount(admin, 'zonefile', {});
      const domain = await addDomain(admin, account, 'cached.example', true);
      made(await admin.post(`/api/domains/${domain}/records`, { host: 'a', type: 'A', value: '192.0.2.1' }));
      const before = done(await admin.get(`/api/domains/${domain}`)).synced_at;
      const { records_count: count } = done(await admin.get(`/api/domains/${domain}`));
      const { job_id, ...cleared } = done(await admin.post('/api/system/clear-cache'));
      assert.deepEqual(cleared, { records: count, lookups: 1, ended_at: null });
      const job = async () => done(await admin.get(`/api/system/jobs/${job_id}`));
      await until('the job is done', async () => (await job()).state === 'done');
      assert.deepEqual((await job()).result, { domains: 1, failed: 0 });
      const { ended_at } = done(await admin.post('/api/system/clear-cache?wait=50'));
      assert.equal(ended_at, (await job()).ended_at);
      assert.notEqual(ended_at, null);
      await until('the records were read', async () => {
        const { synced_at: after } = done(await admin.get(`/api/domains/${domain}`));
        return after !== before && after !== null;
      });
      // as a process leaves it that died after the first of two domains
      const second = await addDomain(admin, account, 'second.example', true);
      const { db, close } = await openDatabase(service.databaseUrl, service.server.dataDir);
      const progress = JSON.stringify({ domains: 2, done: 1, failed: 0, last: domain });
      const left = `UPDATE jobs SET state = 'running', owner = ?, next_at = ?, progress = ? WHERE id = ?`;
      const read = async (id: number) => done(await admin.get(`/api/domains/${id}`)).synced_at;
      const [one, two] = [await read(domain), await read(second)];
      await db.run(left, [ELSEWHERE, now(-1), progress, job_id]).finally(close);
      await until('the rest is read', async () => (await job()).state === 'done');
      assert.deepEqual((await job()).result, { domains: 2, failed: 0 });
      assert.equal(await read(domain), one);
      assert.notEqual(await read(second), two);
      const [entry] = done(await admin.get('/api/audit/logs?action=system.clear_cache')).list;
      assert.equal(entry?.result, 'ok');
      refused(await admin.post('/api/system/clear-cache?wait=51'), 400, 400001);
    });
  });
}
