import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import type { Db } from '../../src/platform/database/db.js';
import { LeaseLost, Leases } from '../../src/platform/database/leases.js';
import { databases } from '../support/databases.js';
import { emptyDatabase } from '../support/leases.js';
import { SILENT } from '../support/silent.js';
import { tellStatements } from '../support/statements.js';
import { describeUnless } from '../support/suites.js';

for (const { kind, skip } of databases('all')) {
  describeUnless(skip)(`what every change of a record does, on ${kind}`, () => {
    let db: Db;
    let close: () => Promise<void>;
    let leases: Leases;
    beforeAll(async () => {
      ({ db, close } = await emptyDatabase(kind));
      leases = new Leases(db, SILENT);
    });
    afterAll(() => close?.());
    const held = async () => (await db.rows('SELECT name FROM leases')).length;
    const counted = async () => Number((await db.row<{ n: number }>('SELECT COUNT(*) AS n FROM dns_accounts'))?.n);
    const account = (name: string) => {
      const at = '2026-01-01T00:00:00.000Z';
      return { provider: 'zonefile', name, remark: '', credentials: '', created_at: at, updated_at: at };
    };

    it('locks that end with a transaction are free when it is committed, and cost nothing more', async () => {
      await leases.hold(['a', 'b'], 1000, async (locks) => {
        await db.transaction(async (manager) => {
          await locks.release(manager);
          // another connection still sees them; SQLite has only the one
          if (kind !== 'sqlite') assert.equal(await held(), 2);
        });
        assert.equal(await held(), 0);
        const told = tellStatements();
        await leases.hold(['c'], 1000, (more) => db.transaction((manager) => more.release(manager)));
        const gone = told().filter(({ sql }) => sql.startsWith('DELETE'));
        assert.equal(gone.length, 1);
      });
    });

    it('locks stay when that transaction is undone, and are given back at the end', async () => {
      await leases.hold(['a'], 1000, async (locks) => {
        const undone = db.transaction(async (manager) => {
          await locks.release(manager);
          throw new Error('undone');
        });
        await assert.rejects(undone, /undone/);
        assert.equal(await held(), 1);
      });
      assert.equal(await held(), 0);
    });

    it('locks that are not ours any more undo the transaction that would end with them', async () => {
      for (const lose of [
        `UPDATE leases SET expires_at = '2020'`,
        'DELETE FROM leases',
        `UPDATE leases SET owner = 'x'`,
      ]) {
        const work = leases.hold(['a', 'b'], 1000, async (locks) => {
          await db.run(`${lose} WHERE scope IS NULL`);
          await db.transaction(async (manager) => {
            await db.insert('dns_accounts', account(lose), manager);
            await locks.release(manager);
          });
        });
        await assert.rejects(work, LeaseLost);
        assert.equal(await counted(), 0);
        await db.run('DELETE FROM leases');
      }
    });

    it('a new row tells its id, as often as it is written, and is undone with its transaction', async () => {
      const ids = await db.transaction(async (manager) => {
        const ids: number[] = [];
        // the third time the statement is a prepared one
        for (const name of ['1', '2', '3', '4']) ids.push(await db.insert('dns_accounts', account(name), manager));
        return ids;
      });
      const rows = await db.rows<{ id: number }>('SELECT id FROM dns_accounts ORDER BY name');
      assert.deepEqual(
        ids,
        rows.map((row) => row.id),
      );
      const undone = db.transaction(async (manager) => {
        assert.equal(await db.insert('dns_accounts', account('5'), manager), (ids[3] as number) + 1);
        throw new Error('undone');
      });
      await assert.rejects(undone, /undone/);
      assert.equal(await counted(), 4);
    });

    it('transactions read what is committed', async () => {
      const level = { postgresql: 'SHOW transaction_isolation', mysql: 'SELECT @@transaction_isolation' }[
        kind as string
      ];
      if (!level) return;
      await db.transaction(async (manager) => {
        if (kind === 'postgresql') {
          const row = await db.row<object>(level, [], manager);
          assert.deepEqual(Object.values(row ?? {}), ['read committed']);
        }
        const before = await counted();
        await db.run(
          'INSERT INTO dns_accounts (provider, name, remark, credentials, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
          Object.values(account('beside')),
        );
        const sql = 'SELECT COUNT(*) AS n FROM dns_accounts';
        assert.equal(Number((await db.row<{ n: number }>(sql, [], manager))?.n), before + 1);
      });
    });

    if (kind === 'sqlite')
      it('only a lock does not wait for the disk', async () => {
        const safe = async () => Object.values((await db.row<object>('PRAGMA synchronous')) ?? {})[0];
        await leases.hold(['a'], 1000, async () => assert.equal(await safe(), 2));
        assert.equal(await safe(), 2);
        const brief = `INSERT INTO leases (name) VALUES ('no owner') /* brief */`;
        await assert.rejects(db.run(brief));
        assert.equal(await safe(), 2);
      });
  });
}
