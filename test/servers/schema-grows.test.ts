import assert from 'node:assert/strict';
import { afterAll, beforeAll, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noPowerdns } from '../support/powerdns.js';
import { startProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, each, made, powerdnsLines, refused, startWorld, until, type World } from '../support/world.js';

const FUTURE = 'Future9999999999999';

for (const { kind, skip } of databases('one'))
  describeUnless(skip || noPowerdns)(`the schema under a process on ${kind}`, () => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld(kind, {}, 'sqlite', startProcess);
    });
    afterAll(() => world?.stop());

    const sql = async (...statements: string[]) => {
      const { db, close } = await openDatabase(world.databaseUrl, world.server.dataDir);
      try {
        for (const statement of statements) await db.run(statement);
      } finally {
        await close();
      }
    };
    const grow = `INSERT INTO migrations (timestamp, name) VALUES (9999999999999, '${FUTURE}')`;
    const shrink = `DELETE FROM migrations WHERE name = '${FUTURE}'`;
    const ready = () => world.server.call('GET', '/health/ready');

    it('that a newer version has changed turns readiness red and changes nothing any more', async () => {
      await sql(grow);
      await until('it is not ready', async () => (await ready()).status === 503);
      assert.match(refused(await ready(), 503, 503001).msg, /newer than this program.*Future9{13}/);
      const record = { host: 'late', type: 'A', value: '192.0.2.1' };
      assert.match(refused(await world.admin.post(world.records, record), 503, 503001).msg, /newer than this program/);
      refused(await world.admin.post('/api/teams', { name: 'late' }), 503, 503001);
      done(await world.admin.get('/api/domains'));
      await sql(shrink);
      await until('it is ready', async () => (await ready()).status === 200);
      made(await world.admin.post('/api/teams', { name: 'late' }));
    });

    it('means 503 also for the change that finds it out', async () => {
      // what a change needs is there no more under its name, as far as this version knows
      await sql('ALTER TABLE teams RENAME TO teams_of_tomorrow', grow);
      refused(await world.admin.post('/api/teams', { name: 'x' }), 503, 503001);
      await sql('ALTER TABLE teams_of_tomorrow RENAME TO teams', shrink);
      await until('it is ready', async () => (await ready()).status === 200);
    });

    it('under load loses nothing that was acknowledged', async () => {
      const hosts = Array.from({ length: 120 }, (_, n) => `h${n}`);
      const kept: string[] = [];
      let grown: Promise<void> | undefined;
      await each(hosts, 4, async (host) => {
        const answer = await world.admin.post(world.records, { host, type: 'A', value: '192.0.2.1' });
        if (answer.status === 201) kept.push(host);
        else refused(answer, 503, 503001);
        if (kept.length === 20) grown ??= sql(grow);
      });
      await grown;
      await until('it is not ready', async () => (await ready()).status === 503);
      await sql(shrink);
      await until('it is ready', async () => (await ready()).status === 200);
      const held = powerdnsLines(await world.pdns.zone(world.zone)).filter((line) => /^h\d+ /.test(line));
      assert.deepEqual(held.map((line) => line.split(' ')[0]).toSorted(), kept.toSorted());
      await world.agree();
    });
  });
