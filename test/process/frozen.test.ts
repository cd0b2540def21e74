import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from '@jest/globals';
import { openDatabase } from '../support/database.js';
import { databases } from '../support/databases.js';
import { noOwnServer, type OwnServer, startOwnServer } from '../support/own-database.js';
import { ADMIN, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused, until } from '../support/world.js';

for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip || noOwnServer(kind))(`a ${kind} server that is frozen`, () => {
    let database: OwnServer;
    let server: ServerProcess;
    let token: string;
    beforeAll(async () => {
      database = await startOwnServer(kind);
      await database.query('CREATE DATABASE frozen');
      server = await ServerProcess.start({
        DATABASE_URL: `${database.url}/frozen`,
        // it is not the limit of statements that ends the waiting
        DATABASE_TIMEOUT_MS: '600000',
        SECRET_KEY: 'k'.repeat(32),
        ADMIN_USERNAME: ADMIN.username,
        ADMIN_PASSWORD: ADMIN.password,
      });
      token = await server.login();
    });
    afterAll(async () => {
      await server?.kill();
      await database?.stop();
      if (server) rmSync(server.dataDir, { recursive: true, force: true });
    });

    it('means 503 for requests on their way and for those that come, and all is well when it goes on', async () => {
      const ask = () =>
        Promise.all([
          ...Array.from({ length: 30 }, () => server.call('GET', '/api/domains', undefined, token)),
          server.call('POST', '/api/teams', { name: 'x' }, token),
          server.call('POST', '/api/auth/login', ADMIN),
        ]);
      const before = ask();
      database.freeze();
      try {
        for (const answer of await before) if (answer.status >= 400) refused(answer, 503, 503001);
        for (const answer of await ask()) refused(answer, 503, 503001);
        // by now it is known
        for (const answer of await ask()) refused(answer, 503, 503001);
        refused(await server.call('GET', '/health/ready'), 503, 503001);
      } finally {
        database.thaw();
      }
      await until('it works again', async () => (await server.call('GET', '/health/ready')).status === 200);
      done(await server.call('GET', '/api/domains', undefined, token));
      const { id } = made(await server.call('POST', '/api/teams', { name: 'y' }, token));
      assert.ok(id > 0);
    });

    it('a statement that takes long is no sign of it', async () => {
      const held = `${database.url}/frozen`;
      const slow = kind === 'postgresql' ? 'SELECT pg_sleep(12)' : 'SELECT SLEEP(12)';
      const { db, close } = await openDatabase(held, server.dataDir);
      try {
        assert.equal((await db.rows(slow)).length, 1);
      } finally {
        await close();
      }
    });
  });
}
