import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
import { done, made } from '../support/world.js';

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

      it('has rows in every table, and keeps them all in the schema of today', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'zoneward-stored-'));
        const database = kind === 'sqlite' ? null : await freshDatabase(kind);
        const url = database?.url ?? 'sqlite:zoneward.db';
        try {
          const backup = join(folder, 'backup.gz');
          writeFileSync(backup, gzipSync(readFileSync(join(STORED, file))));
          await restore(new AppDataSource(ENTITIES), parseDatabaseUrl(url, folder), backup, false);
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
        } finally {
          await database?.drop();
          rmSync(folder, { recursive: true, force: true });
        }
      });
    });
