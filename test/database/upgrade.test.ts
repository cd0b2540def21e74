import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { type Cell, type DumpHeader, type DumpLine, toCell } from '../../src/platform/dump/format.js';
import { restore } from '../../src/platform/dump/restore.js';
import { databases, freshDatabase } from '../support/databases.js';
import { ADMIN, LocalServer } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { done, ended, made } from '../support/world.js';

/**
 * Databases as older versions left them, with rows in every table, as backups of these versions; all secrets in them
 * are of this key. A migration that changes what is in a column on purpose has to be named here.
 */
const STORED = join(import.meta.dirname, 'stored');
const SECRET_KEY = 'the-key-of-stored-databases-0123456789';
function read(file: string): { header: DumpHeader; rows: Map<string, Cell[][]> } {
  const [header, ...lines] = readFileSync(join(STORED, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DumpLine) as [DumpHeader, ...DumpLine[]];
  const rows = new Map<string, Cell[][]>();
  let table: Cell[][] = [];
  for (const line of lines) {
    if (Array.isArray(line)) table.push(line);
    else if ('table' in line) {
      table = [];
      rows.set(line.table, table);
    }
  }
  return { header, rows };
}

for (const { kind, skip } of databases('all'))
  for (const file of readdirSync(STORED))
    describeUnless(skip)(`the database of ${file} on ${kind}`, () => {
      const { header, rows } = read(file);
      const at = (name: string) =>
        header.tables
          .find((table) => table.name === 'dns_records')
          ?.columns.findIndex((column) => column.name === name) as number;
      const records = (rows.get('dns_records') ?? []).filter((row) => row[at('domain_id')] === 1);

      /** The database in the schema of today, as long as the work on it lasts. */
      async function upgraded(work: (url: string, folder: string) => Promise<void>): Promise<void> {
        const folder = mkdtempSync(join(tmpdir(), 'zoneward-stored-'));
        const database = kind === 'sqlite' ? null : await freshDatabase(kind);
        const url = database?.url ?? 'sqlite:zoneward.db';
        try {
          const backup = join(folder, 'backup.gz');
          writeFileSync(backup, gzipSync(readFileSync(join(STORED, file))));
          await restore(new AppDataSource(ENTITIES), parseDatabaseUrl(url, folder), backup, false);
          await work(url, folder);
        } finally {
          await database?.drop();
          rmSync(folder, { recursive: true, force: true });
        }
      }

      it('has rows in every table, and keeps them all in the schema of today', () =>
        upgraded(async (url, folder) => {
          const store = { databaseUrl: url, server: { dataDir: folder } };
          for (const { name, columns } of header.tables) {
            const stored = rows.get(name) ?? [];
            assert.ok(stored.length, `${name} has no rows`);
            const found = await rowsOf(store, `SELECT ${columns.map((column) => column.name).join(', ')} FROM ${name}`);
            assert.deepEqual(
              found.map((row) => JSON.stringify(columns.map((column) => toCell(column.kind, row[column.name])))).sort(),
              stored.map((row) => JSON.stringify(row)).sort(),
              name,
            );
          }

          const server = await LocalServer.start({ DATABASE_URL: url, SECRET_KEY }, folder);
          try {
            const admin = server.as(await server.login(ADMIN));
            const verified = done(await admin.get('/api/audit/verify'));
            assert.deepEqual([verified.ok, verified.reason], [true, null]);
            assert.equal(done(await admin.get('/api/domains/1/records')).total, records.length);
            assert.equal(done(await admin.get('/api/settings')).site_name, 'Old house');
            assert.equal(done(await admin.get('/api/settings/smtp')).password_set, true);
            // ids go on behind those that were given
            assert.equal(
              made(await admin.post('/api/teams', { name: 'new' })).id,
              (rows.get('teams')?.length ?? 0) + 1,
            );
          } finally {
            await server.stop();
          }
        }));

      it('keeps its changes readable, and versions begin with what was found, which can be restored', () =>
        upgraded(async (url, folder) => {
          const server = await LocalServer.start({ DATABASE_URL: url, SECRET_KEY }, folder);
          try {
            const token = await server.login(ADMIN);
            const admin = server.as(token);
            const base = '/api/domains/1';
            const sets = done(await admin.get(`${base}/changes?limit=50`)).list;
            assert.equal(sets.length, rows.get('change_sets')?.length);
            let changes = 0;
            for (const { id, total } of sets) {
              const set = done(await admin.get(`${base}/changes/${id}`));
              assert.deepEqual([set.state, set.changes.length], ['done', total]);
              assert.ok(set.changes.every(({ state, before, after }) => state === 'applied' && (before || after)));
              changes += total;
            }
            assert.equal(changes, rows.get('record_changes')?.length);
            for (const [domain] of rows.get('domains') ?? []) {
              const { list } = done(await admin.get(`/api/domains/${domain as number}/versions`));
              const first = list.map(({ version, inherited, change_set_id: set }) => [version, inherited, set]);
              assert.deepEqual(first, [[1, true, null]], `domain ${domain}`);
            }

            const held = async () => {
              const { list } = done(await admin.get(`${base}/records`));
              return list
                .filter(({ type }) => type !== 'SOA')
                .map(({ id, host, type, value, ttl, enabled }) => JSON.stringify([id, host, type, value, ttl, enabled]))
                .toSorted();
            };
            const found = await held();
            assert.equal(found.length, records.length);
            const headers = { authorization: `Bearer ${token}`, accept: 'text/dns' };
            const text = await (await fetch(`${server.url}${base}/versions/1`, { headers })).text();
            const soa = '@ 600 IN SOA localhost. hostmaster.localhost. 1 3600 600 86400 600';
            mkdirSync(join(folder, 'zones'), { recursive: true });
            writeFileSync(join(folder, 'zones', 'example.com.zone'), `$ORIGIN example.com.\n${soa}\n${text}`);
            done(await admin.get(`${base}/records?refresh=true`));
            assert.deepEqual(await held(), found);

            done(await admin.post('/api/system/resume'));
            const idOf = (host: string) =>
              Number(JSON.parse(found.find((one) => one.includes(`"${host}"`)) ?? '[]')[0]);
            made(await admin.post(`${base}/records`, { host: 'new', type: 'A', value: '192.0.2.77' }));
            done(await admin.put(`${base}/records/${idOf('www')}`, { value: '192.0.2.78' }));
            done(await admin.delete(`${base}/records/${idOf('b1')}`));
            const later = done(await admin.get(`${base}/versions`)).list;
            assert.deepEqual(
              later.map(({ version, inherited }) => [version, inherited]),
              [
                [4, false],
                [3, false],
                [2, false],
                [1, true],
              ],
            );
            const plan = made(await admin.post(`${base}/plans`, { version: 1 }));
            const force = plan.guards.map(({ key }) => key);
            ended(await admin.post(`/api/plans/${plan.id as number}/apply`, { force }));
            assert.deepEqual(await held(), found);
          } finally {
            await server.stop();
          }
        }));
    });
