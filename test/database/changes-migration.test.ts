import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from '@jest/globals';
import { now } from '../../src/platform/common/clock.js';
import { Changes1763980000000 } from '../../src/platform/schema/migrations/1763980000000-changes.js';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { LocalServer, startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, until } from '../support/world.js';

const ZONE = 'old.example';
/** of the last change that stands in the audit log */
const LAST_SET = 4711;

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`intents without an end become change sets, on ${kind}`, () => {
    it('which the next start settles, with numbers above those of the audit log', async () => {
      const service = await startService(kind);
      const { admin, databaseUrl, token } = service;
      const { dataDir } = service.server;
      let server: LocalServer | undefined;
      try {
        const account = await addAccount(admin, 'zonefile', {});
        const domain = await addDomain(admin, account, ZONE, true);
        const records = `/api/domains/${domain}/records` as const;
        const add = async (host: string, last: number) =>
          made(await admin.post(records, { host, type: 'A', value: `192.0.2.${last}` })).id;
        const [changed, parked, gone, kept] = [
          await add('c', 1),
          await add('p', 2),
          await add('g', 3),
          await add('k', 4),
        ];
        await service.server.stop();

        const { db, close } = await openDatabase(databaseUrl, dataDir);
        const migration = new Changes1763980000000();
        const runner = db.source.createQueryRunner();
        await migration.down(runner);
        // with those that build on its tables
        const later = [
          'Changes1763980000000',
          'LateChanges1763985000000',
          'PausedLists1764115000000',
          'Makers1764130000000',
          'ConfirmedLists1764150000000',
          'ChangeFilters1764200000000',
          'Versions1764300000000',
          'Approval1764390000000',
          'PlannedLists1764440000000',
          'Doors1764450000000',
        ];
        await db.run(`DELETE FROM migrations WHERE name IN (${later.map((name) => `'${name}'`).join(', ')})`);
        const remote = (await db.row<{ remote_id: string }>('SELECT remote_id FROM dns_records WHERE id = ?', [kept]))
          ?.remote_id;
        const intent = (id: number, op: string, state: string, hosts: string[], expected: unknown) =>
          db.run(
            `INSERT INTO record_intents (id, domain_id, op, hosts, expected, owner, state, request_id, created_at)
             VALUES (?, ?, ?, ?, ?, 'gone/1/1/1', ?, 'r', ?)`,
            [id, domain, op, JSON.stringify(hosts), JSON.stringify(expected), state, now(-1000)],
          );
        await intent(90, 'create', 'done', ['x'], []);
        await intent(91, 'create', 'open', ['new'], []);
        await intent(92, 'update', 'unknown', ['c', 'moved'], [[changed, 'rr-of-nothing-that-is-there']]);
        await intent(93, 'status', 'unknown', ['p'], [[parked, null]]);
        await intent(94, 'delete', 'open', ['g'], []);
        await intent(95, 'status', 'unknown', ['k'], [[kept, remote]]);
        await db.run(
          'UPDATE audit_logs SET change_set_id = ? WHERE id = (SELECT id FROM (SELECT MAX(id) AS id FROM audit_logs) l)',
          [LAST_SET],
        );
        await runner.release();
        await close();
        // what the provider did of all this: created, renamed, disabled by removal, deleted
        const path = join(dataDir, 'zones', `${ZONE}.zone`);
        const lines = readFileSync(path, 'utf8').split('\n');
        const line = (host: string) =>
          lines.find((l) => l.includes(host === 'k' ? '192.0.2.4' : `192.0.2.${host}`)) as string;
        const [c, p, g] = [line('1'), line('2'), line('3')];
        const left = lines.filter((l) => l !== p && l !== g).map((l) => (l === c ? l.replace(/^c\b/, 'moved') : l));
        writeFileSync(path, left.concat(c.replace(/^c\b/, 'new').replace('192.0.2.1', '192.0.2.9')).join('\n'));

        server = await LocalServer.start({ DATABASE_URL: databaseUrl }, dataDir);
        const after = server.as(token);
        await until('all have an end', async () => {
          const { db, close } = await openDatabase(databaseUrl, dataDir);
          const open = await db.rows(`SELECT id FROM change_sets WHERE state <> 'done'`);
          await close();
          return open.length === 0;
        });
        const { list } = done(await after.get(records));
        assert.deepEqual(
          list
            .filter((r) => r.type === 'A')
            .map((r) => [r.host, r.value, r.enabled, r.pending])
            .toSorted(),
          [
            ['k', '192.0.2.4', true, false],
            ['moved', '192.0.2.1', true, false],
            ['new', '192.0.2.9', true, false],
            ['p', '192.0.2.2', false, false],
          ],
        );
        assert.deepEqual([list.find((r) => r.host === 'p')?.id, list.some((r) => r.id === gone)], [parked, false]);
        const opened = await openDatabase(databaseUrl, dataDir);
        const changes = await opened.db.rows<{ change_set_id: number; state: string }>(
          // what was made at the provider meanwhile is a set of its own, behind these
          `SELECT change_set_id, state FROM record_changes WHERE change_set_id < ${LAST_SET} ORDER BY id`,
        );
        assert.deepEqual(
          changes.map((change) => [change.change_set_id, change.state]),
          [
            [91, 'failed'],
            [92, 'failed'],
            [92, 'failed'],
            [93, 'applied'],
            [94, 'failed'],
            [95, 'failed'],
          ],
        );
        made(await after.post(records, { host: 'next', type: 'A', value: '192.0.2.20' }));
        const next = await opened.db.row<{ id: number }>('SELECT MAX(id) AS id FROM change_sets');
        assert.ok(Number(next?.id) > LAST_SET, `${next?.id} stands in the audit log already`);
        await opened.close();
      } finally {
        await server?.stop();
        await service.stop();
      }
    });
  });
}
