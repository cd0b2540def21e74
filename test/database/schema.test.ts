import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import type { Db } from '../../src/platform/database/db.js';
import { databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { describeUnless } from '../support/suites.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`schema on ${kind}`, () => {
    const folder = skip ? '' : mkdtempSync(join(tmpdir(), 'zoneward-schema-'));
    const sources: AppDataSource[] = [];
    let url = 'sqlite:zoneward.db';
    let drop: (() => Promise<void>) | undefined;
    beforeAll(async () => {
      if (kind !== 'sqlite') ({ url, drop } = await freshDatabase(kind));
    });
    afterAll(async () => {
      for (const source of sources) if (source.isInitialized) await source.destroy();
      await drop?.();
      rmSync(folder, { recursive: true, force: true });
    });
    const open = async () => {
      const source = new AppDataSource(ENTITIES);
      sources.push(source);
      await source.open(parseDatabaseUrl(url, folder));
      return source;
    };
    /** Statements that would bring the schema to what the entities say. */
    const drift = async (source: AppDataSource) =>
      (await source.driver.createSchemaBuilder().log()).upQueries.map((query) => query.query);
    const tables = async (source: AppDataSource) => {
      const rows = await dbOn(source).rows<{ name: string }>(
        kind === 'sqlite'
          ? `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`
          : `SELECT table_name AS name FROM information_schema.tables
              WHERE table_schema = ${kind === 'mysql' ? 'DATABASE()' : 'current_schema()'}`,
      );
      return rows.map((row) => row.name).sort();
    };

    it('starts of several processes at once make it once', async () => {
      const [first] = await Promise.all([open(), open(), open()]);
      const names = (first as AppDataSource).entityMetadatas.map((m) => m.tableName);
      assert.deepEqual(await tables(first as AppDataSource), [...names, 'migrations'].sort());
      assert.deepEqual(await dbOn(first as AppDataSource).rows('SELECT seq, hash FROM audit_chain'), [
        { seq: 0, hash: '' },
      ]);
    });

    it('is what the entities say', async () => assert.deepEqual(await drift(await open()), []));

    it('can be taken back and made again', async () => {
      const source = await open();
      for (const _each of source.migrations) await source.undoLastMigration();
      assert.deepEqual(await tables(source), ['migrations']);
      await source.runMigrations();
      assert.deepEqual(await drift(source), []);
    });

    it('tells of sessions that were there what was shown in them', async () => {
      const source = await open();
      const db = dbOn(source);
      const runner = source.createQueryRunner();
      while (!(await runner.hasColumn('sessions', 'second_factor'))) await source.undoLastMigration();
      const user = async (name: string, totp: boolean) => {
        await db.run(
          `INSERT INTO users (username, username_key, nickname, password_hash, role, status, language, totp_enabled, created_at)
           VALUES (?, ?, '', '', 1, 1, 'en', ?, '')`,
          [name, name, totp],
        );
        return Number((await db.row<{ id: number }>('SELECT id FROM users WHERE username = ?', [name]))?.id);
      };
      const [app, key] = [await user('app', true), await user('key', false)];
      await db.run(
        `INSERT INTO passkeys (user_id, name, credential_key, credential_id, public_key, counter, transports, backed_up, created_at)
         VALUES (?, '', '', '', '', '0', '[]', ?, '')`,
        [key, false],
      );
      const SESSIONS: [number, string, boolean, string[]][] = [
        [app, 'password', false, ['password']],
        [app, 'password', true, ['password', 'totp']],
        [key, 'password', true, ['password', 'passkey']],
        [key, 'passkey', true, ['passkey']],
        [app, 'oauth', false, ['oauth']],
        [app, 'oauth', true, ['oauth', 'totp']],
      ];
      for (const [i, [id, method, shown]] of SESSIONS.entries())
        await db.run(
          `INSERT INTO sessions (sid, user_id, created_at, last_active_at, expires_at, ip, user_agent, method, second_factor)
           VALUES (?, ?, '', '', '', '', '', ?, ?)`,
          [`s${i}`, id, method, shown],
        );
      await source.runMigrations();
      const rows = await db.rows<{ amr: string }>('SELECT amr FROM sessions ORDER BY id');
      assert.deepEqual(
        rows.map(({ amr }) => JSON.parse(amr)),
        SESSIONS.map(([, , , amr]) => amr),
      );
      await runner.release();
      await db.run('DELETE FROM users');
      assert.deepEqual(await drift(source), []);
    });

    it('keeps any text exactly', async () => {
      const source = await open();
      const text = '😀 ünï — "q" \\ \' %_!';
      await source.query(dbOn(source).text('INSERT INTO settings (name, content) VALUES (?, ?)'), ['a', text]);
      await source.query(dbOn(source).text('INSERT INTO settings (name, content) VALUES (?, ?)'), ['A', 'other']);
      const rows = await dbOn(source).rows<{ content: string }>('SELECT content FROM settings WHERE name = ?', ['a']);
      assert.deepEqual(
        rows.map((row) => row.content),
        [text],
      );
    });

    it('does not mix parallel transactions, rollbacks and single statements', async () => {
      const db = dbOn(await open());
      const insert = 'INSERT INTO settings (name, content) VALUES (?, ?)';
      const work = Array.from({ length: 40 }, (_, i) => [
        db
          .transaction(async (manager) => {
            await db.run(insert, [`t${i}`, 'x'], manager);
            await db.rows('SELECT name FROM settings', [], manager);
            if (i % 2) throw new Error('taken back');
          })
          .catch((error: Error) => assert.equal(error.message, 'taken back')),
        db.run(insert, [`s${i}`, 'x']),
      ]);
      await Promise.all(work.flat());
      const rows = await db.rows<{ name: string }>('SELECT name FROM settings');
      const names = new Set(rows.map((row) => row.name));
      for (let i = 0; i < 40; i++) {
        assert.equal(names.has(`t${i}`), i % 2 === 0, `t${i}`);
        assert.equal(names.has(`s${i}`), true, `s${i}`);
      }
    });

    it('counts without losing any, on servers over two connections', async () => {
      const first = dbOn(await open());
      // SQLite belongs to one process, which has one connection
      const dbs = [first, kind === 'sqlite' ? first : dbOn(await open())] as const;
      await dbs[0].run('INSERT INTO audit_chain (id, seq, hash) VALUES (99, 0, ?)', ['']);
      const raise = (db: Db) =>
        db.transaction(async (manager) => {
          await db.run('UPDATE audit_chain SET seq = seq + 1 WHERE id = 99', [], manager);
          return (await db.row<{ seq: number }>('SELECT seq FROM audit_chain WHERE id = 99', [], manager))?.seq;
        });
      const seen = await Promise.all(Array.from({ length: 30 }, (_, i) => raise(dbs[i % 2] as Db)));
      assert.deepEqual(
        seen.sort((a, b) => Number(a) - Number(b)),
        Array.from({ length: 30 }, (_, i) => i + 1),
      );
    });
  });
}
