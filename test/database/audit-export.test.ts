import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { AuditCheckpoint } from '../../src/audit/audit.dto.js';
import { checkExport, parseCheckpoints } from '../../src/audit/export-check.js';
import type { Db } from '../../src/platform/database/db.js';
import { addUser, openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { startService } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { addAccount, addDomain, done, made, refused } from '../support/world.js';

// biome-ignore lint/suspicious/noExplicitAny: entries have states of every shape
type Entry = Record<string, any>;

const HOST = join(import.meta.dirname, '../support/admin-host.mjs');

/** Rows of RFC 4180. */
function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`an export of the audit log on ${kind}`, () => {
    let service: Awaited<ReturnType<typeof startService>>;
    let db: Db;
    let close: () => Promise<void>;
    let host: ChildProcess;
    const fetched = async (query: string) => {
      const headers = { authorization: `Bearer ${service.token}` };
      return fetch(`${service.server.url}/api/audit/export?${query}`, { headers });
    };
    const text = async (query: string): Promise<string> => {
      const response = await fetched(query);
      assert.equal(response.status, 200);
      return response.text();
    };
    const lines = async (query: string): Promise<Entry[]> =>
      (await text(`format=ndjson&${query}`))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    /** All pages of the list, oldest first. */
    const listed = async (query: string): Promise<Entry[]> => {
      const { list, total } = done(await service.admin.get(`/api/audit/logs?limit=500&sort=created_at&${query}`));
      assert.equal(list.length, total);
      return list;
    };
    /** Runs the offline verifier. @returns its output, and whether it succeeded */
    const checked = async (file: string, ...more: string[]): Promise<[ok: boolean, words: string]> => {
      host.send(['audit-verify', file, ...more]);
      const [{ code, out, err }] = (await once(host, 'message')) as [{ code: number; out: string; err: string }];
      return [code === 0, out + err];
    };
    beforeAll(async () => {
      service = await startService(kind);
      const env = { ...process.env, DATA_DIR: service.server.dataDir, DATABASE_URL: '', LOG_LEVEL: 'silent' };
      host = fork(HOST, { env });
      ({ db, close } = await openDatabase(service.databaseUrl, service.server.dataDir));
      await addUser(db, { username: 'ada', password: 'ada-secret' });
      const account = await addAccount(service.admin, 'zonefile', {});
      await addDomain(service.admin, account, 'example.com', true);
      for (const name of ['=cmd|x', '"quoted", ünï\n2', '@SUM(1)', 'plain'])
        made(await service.admin.post('/api/tokens', { name }));
    });
    afterAll(async () => {
      host.kill('SIGKILL');
      await close();
      await service.stop();
    });

    it('contains what the list shows, in three formats', async () => {
      const all = await listed('');
      const ndjson = await fetched('format=ndjson');
      assert.match(ndjson.headers.get('content-type') ?? '', /^application\/x-ndjson/);
      assert.match(ndjson.headers.get('content-disposition') ?? '', /^attachment; filename="audit-.*\.ndjson"$/);
      await ndjson.text();
      assert.deepEqual(await lines(''), all);
      for (const query of ['', 'format=json'])
        assert.deepEqual(JSON.parse(await text(query)), { code: 0, data: all, msg: 'success' });
      const [names, ...rows] = csvRows(await text('format=csv'));
      assert.equal(rows.length, all.length);
      for (const [i, row] of rows.entries()) {
        const cells = Object.fromEntries((names as string[]).map((name, k) => [name, row[k]]));
        const { seq, action, hash, target, after } = all[i] as Entry;
        assert.deepEqual([cells.seq, cells.action, cells.hash], [String(seq), action, hash]);
        const name = target?.name ?? '';
        assert.equal(cells.target_name, /^[=@]/.test(name) ? `'${name}` : name);
        assert.equal(cells.after, after ? JSON.stringify(after) : '');
      }
    });

    it('has the filters of the list', async () => {
      for (const query of [
        'action=token.*',
        'domain=example.com',
        'keyword=PLAIN',
        'user=admin&result=ok',
        'user=nobody',
      ])
        assert.deepEqual(await lines(query), await listed(query), query);
      assert.deepEqual(JSON.parse(await text('user=nobody')).data, []);
      for (const query of ['format=xml', 'page=1', 'limit=2', 'sort=created_at', 'start_date=2026-02-31', 'x=1']) {
        const answer = await service.admin.get(`/api/audit/export?${query}` as '/api/audit/export');
        refused(answer, 400, 400001);
      }
    });

    it('is allowed to administrators and to tokens of auditors', async () => {
      const ada = service.server.as(await service.server.login({ username: 'ada', password: 'ada-secret' }));
      refused(await ada.get('/api/audit/export'), 403, 403001);
      const scoped = async (scope: string) =>
        made(await service.admin.post('/api/tokens', { name: scope, allowed_services: [scope] })).token;
      refused(await service.server.as(await scoped('records:read')).get('/api/audit/export'), 403, 403001);
      const auditor = service.server.as(await scoped('audit:read'));
      assert.ok(done(await auditor.get('/api/audit/export')).length > 0);
    });

    it('can be verified without the database', async () => {
      // an anonymous caller chooses this text: U+2028 ends a line for some programs
      await service.server.call('POST', '/api/auth/login', { username: 'two\u2028lines', password: 'x' });
      const { checkpoint } = done(await service.admin.get('/api/audit/verify'));
      const whole = await text('format=ndjson');
      const file = join(service.server.dataDir, 'export.ndjson');
      const kept = join(service.server.dataDir, 'checkpoints.ndjson');
      // a line of the log, and the body of a webhook
      const told = [
        { level: 30, msg: 'audit checkpoint', checkpoint },
        { event: 'audit.checkpoint', text: 'The audit log ends', domain: null, details: checkpoint, site: 'Zoneward' },
      ];
      writeFileSync(kept, told.map((one) => `${JSON.stringify(one)}\n`).join(''));
      const rows = whole.trimEnd().split('\n');
      const judged = async (list: string[]) => {
        writeFileSync(file, `${list.join('\n')}\n`);
        // runs the command itself once for each outcome
        if (list === rows || list === forged) return checked(file, kept);
        const verdict = checkExport(file, [checkpoint as AuditCheckpoint], true);
        return verdict.then(
          ({ wrong }): [boolean, string] => [!wrong, `Broken at entry ${wrong?.seq}: ${wrong?.reason}`],
          (error): [boolean, string] => [false, String(error)],
        );
      };
      const forged = rows.map((row, i) => (i === 3 ? row.replace('"username":"admin"', '"username":"ada"') : row));
      const [ok, words] = await judged(rows);
      assert.ok(ok, words);
      assert.match(words, new RegExp(`^Entries 1 to ${rows.length} are a whole chain. It agrees with 2 checkpoints`));
      const swapped = rows.toSpliced(2, 2, rows[3] as string, rows[2] as string);
      const BROKEN: [string[], RegExp][] = [
        [forged, /^Broken at entry 4: entry 4 was changed/],
        [rows.toSpliced(4, 1), /^Broken at entry 5: entry 5 is missing/],
        [swapped, /^Broken at entry 3/],
        [rows.toSpliced(5, 0, rows[4] as string), /^Broken at entry 5/],
        [rows.slice(0, -2), new RegExp(`^Broken at entry ${rows.length - 1}: the tail is missing`)],
        [rows.slice(0, -1), new RegExp(`^Broken at entry ${rows.length}: the tail is missing`)],
        [rows.slice(3), /^Broken at entry 1: entries 1 to 3 are missing/],
        [[...rows, 'x'], new RegExp(`^Error: line ${rows.length + 1} is no entry`)],
      ];
      for (const [list, reason] of BROKEN) {
        const [good, why] = await judged(list);
        assert.deepEqual([good, reason.test(why)], [false, true], `${reason} ${why}`);
      }
      // the plain answer of the API has its own head and tail
      const json = (await text('format=json')).trimEnd().split('\n');
      assert.deepEqual(await judged(json), [true, 'Broken at entry undefined: undefined']);
      assert.match((await judged(json.slice(0, -1)))[1], /was cut/);
      assert.match(
        (await judged(json.map((row) => row.replace('"username":"admin"', '"username":"ada"'))))[1],
        /changed/,
      );
      for (const line of ['{', '5', 'null', '{"seq":"1"}'])
        assert.throws(() => parseCheckpoints(`${JSON.stringify(checkpoint)}\n\n${line}\n`), {
          message: 'line 3 of the file of checkpoints is none',
        });
      // without a named file, the checkpoint of the data directory
      writeFileSync(file, `${rows.slice(0, -2).join('\n')}\n`);
      const [good, why] = await checked(file);
      assert.deepEqual(
        [good, /of entry \d+: entries \d+ to \d+ are missing, or came after the export/.test(why)],
        [false, true],
        why,
      );
    });

    it('filters by days in the time zone of the settings', async () => {
      const one = (await listed('action=token.create'))[0] as Entry;
      await db.run('UPDATE audit_logs SET created_at = ? WHERE id = ?', ['2026-03-01T10:30:00.000Z', one.id]);
      const found = async (from: string, until: string) =>
        (await lines(`start_date=${from}&end_date=${until}`)).some((entry) => entry.id === one.id);
      const ZONES: [string, string][] = [
        ['UTC', '2026-03-01'],
        ['Pacific/Kiritimati', '2026-03-02'],
        ['Pacific/Niue', '2026-02-28'],
      ];
      for (const [timezone, day] of ZONES) {
        done(await service.admin.put('/api/settings', { timezone }));
        for (const other of ['2026-02-28', '2026-03-01', '2026-03-02'])
          assert.equal(await found(other, other), other === day, `${timezone} ${other}`);
        assert.equal((await listed(`start_date=${day}&end_date=${day}`)).length, 1);
      }
    });
  });
}
