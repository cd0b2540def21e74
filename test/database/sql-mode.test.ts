import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { ENTITIES } from '../../src/entities.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import { databases } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { noOwnServer, type OwnServer, startOwnServer } from '../support/own-database.js';
import { describeUnless } from '../support/suites.js';

const MODES = ['', 'NO_BACKSLASH_ESCAPES', 'ANSI'];
/** What ends a text early where a backslash is a letter like others. */
const ODD = "it's \\' OR 1 = 1 -- \\";

for (const { skip } of databases('mysql'))
  describeUnless(skip || noOwnServer('mysql'))('a server of MariaDB with another sql_mode', suite);

function suite(): void {
  let server: OwnServer;
  beforeAll(async () => {
    server = await startOwnServer('mysql');
  });
  afterAll(() => server?.stop());

  for (const [i, mode] of MODES.entries())
    it(`(${mode || 'none'}) keeps texts as they are, and cuts none that is too long`, async () => {
      await server.query(`SET GLOBAL sql_mode = '${mode}'`);
      await server.query(`CREATE DATABASE mode${i}`);
      const choice = parseDatabaseUrl(`${server.url}/mode${i}`, '.');
      const tooLong = { code: 'ER_DATA_TOO_LONG' };
      await new AppDataSource(ENTITIES).openAlone(choice, async (runner) => {
        await runner.query('CREATE TABLE texts (text VARCHAR(30))');
        await assert.rejects(runner.query('INSERT INTO texts (text) VALUES (?)', ['x'.repeat(31)]), tooLong);
      });
      const source = new AppDataSource(ENTITIES);
      await source.open(choice);
      try {
        const db = dbOn(source);
        await db.run('INSERT INTO texts (text) VALUES (?)', [ODD]);
        await assert.rejects(db.run('INSERT INTO texts (text) VALUES (?)', ['x'.repeat(31)]), tooLong);
        const rows = await db.rows<{ text: string }>('SELECT text FROM texts WHERE text = ?', [ODD]);
        assert.deepEqual(
          rows.map(({ text }) => text),
          [ODD],
        );
      } finally {
        await source.destroy();
      }
    });
}
