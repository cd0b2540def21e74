import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ENTITIES } from '../../src/entities.js';
import { type AppDataSource, toOptions } from '../../src/platform/database/app-data-source.js';
import { type Db, isDatabaseDown, isDuplicate } from '../../src/platform/database/db.js';
import { failureWords } from '../../src/platform/database/failure-words.js';
import { serializeTransactions, sqliteDriver } from '../../src/platform/database/sqlite.js';
import { backport, nodeSqlite, type Sqlite, sqlite } from '../../src/platform/database/sqlite-module.js';
import { dbOn } from '../support/db.js';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../dist/src/platform/database/sqlite-module.js')).href;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasOwn = major > 22 || (major === 22 && minor >= 13);

describe('the module of SQLite', () => {
  it("is Node's own from 22.13 on, else the backport", () => {
    assert.equal(sqlite().DatabaseSync, hasOwn ? nodeSqlite()?.DatabaseSync : backport().DatabaseSync);
    assert.notEqual(nodeSqlite()?.DatabaseSync, backport().DatabaseSync);
  });

  it('is loaded without a warning, and others still warn', () => {
    const script = `
      const { sqlite } = await import(${JSON.stringify(MODULE)});
      new (sqlite().DatabaseSync)(':memory:').close();
      process.emitWarning('heard');`;
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /heard/);
    assert.doesNotMatch(stderr, /SQLite/);
  });
});

const modules: [string, () => Sqlite][] = [['the backport', backport]];
if (hasOwn) modules.push(["Node's own", nodeSqlite as () => Sqlite]);
for (const [name, load] of modules) describe(`SQLite by ${name}`, () => suite(load));

function suite(load: () => Sqlite): void {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-sqlite-'));
  const path = join(folder, 'zoneward.db');
  const sources: DataSource[] = [];
  let db: Db;
  const open = async (file = path): Promise<Db> => {
    const driver = function Sqlite(name: string) {
      return sqliteDriver(name, load());
    };
    const options = toOptions({ type: 'sqlite', path: file }, ENTITIES, 'better-sqlite3');
    const source = new DataSource({ ...options, driver } as DataSourceOptions);
    const single = serializeTransactions(source);
    await source.initialize();
    sources.push(source);
    return dbOn(Object.assign(source, { single }) as unknown as AppDataSource);
  };
  const rights = (file: string) => statSync(file).mode & 0o777;

  beforeAll(async () => {
    writeFileSync(path, '');
    chmodSync(path, 0o644);
    db = await open();
    await db.run('CREATE TABLE things (id INTEGER PRIMARY KEY AUTOINCREMENT, name varchar(20) NOT NULL UNIQUE, value)');
    await db.run('CREATE TABLE parts (thing integer NOT NULL REFERENCES things (id))');
  });
  afterAll(async () => {
    for (const source of sources) if (source.isInitialized) await source.destroy();
    rmSync(folder, { recursive: true, force: true });
  });

  it('gives back what it was given, booleans as 0 and 1', async () => {
    const values = ['', 'grüße 😀', 0, -1, 1.5, 2 ** 40, Number.MAX_SAFE_INTEGER, null];
    for (const [i, value] of values.entries()) {
      await db.run('INSERT INTO things (name, value) VALUES (?, ?)', [`v${i}`, value]);
      assert.deepEqual(await db.row('SELECT value FROM things WHERE name = ?', [`v${i}`]), { value });
    }
    assert.deepEqual(await db.rows('SELECT ? AS yes, ? AS no', [true, false]), [{ yes: 1, no: 0 }]);
    const [{ bytes }] = await db.source.query('SELECT ? AS bytes', [Buffer.from([0, 255])]);
    assert.deepEqual([...bytes], [0, 255]);
  });

  it('answers an integer that a JavaScript number cannot hold as text, and the numbers beside it as numbers', async () => {
    const odd = 'SELECT 9007199254740993 AS big, 7 AS small, NULL AS none';
    assert.deepEqual(await db.rows(odd), [{ big: '9007199254740993', small: 7, none: null }]);
    assert.deepEqual(await db.rows('SELECT 8 AS small'), [{ small: 8 }]);
    assert.deepEqual(await db.rows(odd), [{ big: '9007199254740993', small: 7, none: null }]);
  });

  it('answers plain objects, with the columns in their order', async () => {
    const [row] = await db.rows<object>('SELECT 1 AS b, 2 AS a, count(*) FROM things');
    assert.deepEqual(Object.keys(row as object), ['b', 'a', 'count(*)']);
    assert.equal(Object.getPrototypeOf(row), Object.prototype);
    assert.deepEqual(await db.rows('SELECT name FROM things WHERE id < 0'), []);
    assert.deepEqual(await db.rows('WITH one AS (SELECT 1 AS n) SELECT n FROM one'), [{ n: 1 }]);
  });

  it('counts what a statement changed, and tells the new id', async () => {
    assert.equal(await db.run(`INSERT INTO things (name) VALUES ('c1'), ('c2'), ('c3')`), 3);
    assert.equal(await db.run(`UPDATE things SET value = 1 WHERE name IN ('c1', 'c2')`), 2);
    assert.equal(await db.run(`DELETE FROM things WHERE name LIKE 'c_'`), 3);
    assert.equal(await db.run(`DELETE FROM things WHERE name LIKE 'c_'`), 0);
    const id = await db.source.query(`INSERT INTO things (name) VALUES ('c4')`);
    assert.deepEqual(await db.row(`SELECT id FROM things WHERE name = 'c4'`), { id });
  });

  it('keeps a prepared statement when the table changes', async () => {
    await db.run('CREATE TABLE grows (id integer)');
    await db.run('INSERT INTO grows VALUES (1)');
    const text = 'SELECT id FROM grows';
    assert.deepEqual(await db.rows(text), [{ id: 1 }]);
    await db.run('ALTER TABLE grows ADD COLUMN more integer');
    assert.deepEqual(await db.rows(text), [{ id: 1 }]);
  });

  it('fails in a way that is recognised', async () => {
    const failure = async (work: Promise<unknown>) => {
      const error = await work.then(
        () => assert.fail('it did not fail'),
        (e: Error) => e,
      );
      return [isDuplicate(error), isDatabaseDown(error), error.message];
    };
    await db.run(`INSERT INTO things (name) VALUES ('twin')`);
    for (let i = 0; i < 2; i++) {
      const twin = await failure(db.run(`INSERT INTO things (name) VALUES ('twin')`));
      assert.deepEqual(twin, [true, false, 'UNIQUE constraint failed: things.name']);
    }
    const orphan = await failure(db.run('INSERT INTO parts (thing) VALUES (-1)'));
    assert.deepEqual(orphan, [false, false, 'FOREIGN KEY constraint failed']);
    const nameless = await failure(db.run('INSERT INTO things (name) VALUES (?)', [null]));
    assert.deepEqual(nameless, [false, false, 'NOT NULL constraint failed: things.name']);
    const wrong = await failure(db.rows('SELEC 1'));
    assert.deepEqual(wrong, [false, false, 'near "SELEC": syntax error']);
  });

  it('says why a file cannot be opened', async () => {
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'no database '.repeat(100));
    const words = (file: string) => open(file).then(() => 'opened', failureWords);
    assert.equal(await words(text), 'The file is not an SQLite database');
    assert.equal(await words(folder), 'The file cannot be opened in the data directory');
  });

  it('is set as the service needs it', async () => {
    const pragma = async (name: string) => Object.values((await db.row<object>(`PRAGMA ${name}`)) ?? {})[0];
    assert.equal(await pragma('journal_mode'), 'wal');
    assert.equal(await pragma('synchronous'), 2);
    assert.equal(await pragma('foreign_keys'), 1);
    assert.equal(await pragma('busy_timeout'), 5000);
  });

  it('keeps parallel transactions and statements apart', async () => {
    await db.run('CREATE TABLE turns (name text)');
    const insert = 'INSERT INTO turns (name) VALUES (?)';
    const transaction = (i: number) =>
      db
        .transaction(async (manager) => {
          await db.run(insert, [`t${i}a`], manager);
          await new Promise(setImmediate);
          await db.run(insert, [`t${i}b`], manager);
          if (i % 2) throw new Error('undo');
        })
        .catch((error: Error) => assert.equal(error.message, 'undo'));
    const numbers = Array.from({ length: 20 }, (_, i) => i);
    await Promise.all(numbers.flatMap((i) => [transaction(i), db.run(insert, [`o${i}`])]));
    const rows = await db.rows<{ name: string }>('SELECT name FROM turns ORDER BY name');
    const kept = numbers.filter((i) => i % 2 === 0).flatMap((i) => [`t${i}a`, `t${i}b`]);
    assert.deepEqual(
      rows.map(({ name }) => name),
      [...kept, ...numbers.map((i) => `o${i}`)].sort(),
    );
  });

  it('begins a transaction again that another process got ahead of', async () => {
    const other = await open();
    await db.run('CREATE TABLE ahead (n integer)');
    let tries = 0;
    await db.transaction(async (manager) => {
      await db.rows('SELECT n FROM ahead', [], manager);
      // what was read is not the newest any more
      if (++tries === 1) await other.run('INSERT INTO ahead (n) VALUES (1)');
      await db.run('INSERT INTO ahead (n) VALUES (2)', [], manager);
    });
    assert.equal(tries, 2);
    assert.equal((await db.rows('SELECT n FROM ahead')).length, 2);
    await db.run('DROP TABLE ahead');
  });

  it('migrates, and its files are for their owner only', async () => {
    await db.source.runMigrations();
    assert.deepEqual(await db.rows('SELECT name FROM leases'), []);
    for (const suffix of ['', '-wal', '-shm']) assert.equal(rights(path + suffix), 0o600, suffix);
  });

  it('closes with statements prepared, and then the one file has all that was written', async () => {
    await db.run(`INSERT INTO things (name) VALUES ('last')`);
    await db.source.destroy();
    await assert.rejects(db.rows('SELECT 1'));
    copyFileSync(path, join(folder, 'copy.db'));
    const copy = await open(join(folder, 'copy.db'));
    assert.equal((await copy.rows(`SELECT id FROM things WHERE name = 'last'`)).length, 1);
  });
}
