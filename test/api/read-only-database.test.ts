import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Database, databases, freshDatabase, onServer } from '../support/databases.js';
import { ADMIN, LocalServer, type Server } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, until } from '../support/world.js';

const USER = 'zoneward_plain';

for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip)(`a ${kind} server that becomes read-only`, () => {
    let database: Database;
    let server: Server;
    let token: string;
    /** As an operator does, or a fail-over to a standby; whoever may administrate the server writes on. */
    const readOnly = async (on: boolean) => {
      const all =
        kind === 'mysql'
          ? [`SET GLOBAL read_only = ${on ? 1 : 0}`]
          : [
              `ALTER DATABASE ${database.name} SET default_transaction_read_only = ${on}`,
              // a setting of the database is one of its new connections
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`,
            ];
      for (const sql of all) await onServer(kind, sql);
    };
    beforeAll(async () => {
      database = await freshDatabase(kind);
      const url = new URL(database.url);
      if (kind === 'mysql') {
        await onServer(kind, `CREATE OR REPLACE USER ${USER}@'127.0.0.1' IDENTIFIED BY 'plain'`);
        await onServer(kind, `GRANT ALL ON ${database.name}.* TO ${USER}@'127.0.0.1'`);
        [url.username, url.password] = [USER, 'plain'];
      }
      server = await LocalServer.start({
        DATABASE_URL: url.href,
        ADMIN_USERNAME: ADMIN.username,
        ADMIN_PASSWORD: ADMIN.password,
      });
      token = await server.login();
    });
    afterAll(async () => {
      await readOnly(false);
      await server?.kill();
      await database?.drop();
      if (kind === 'mysql') await onServer(kind, `DROP USER ${USER}@'127.0.0.1'`);
      rmSync(server.dataDir, { recursive: true, force: true });
    });

    it('means 503 with its name for what is to be changed; reads go on, and writes when it is over', async () => {
      const admin = server.as(token);
      await readOnly(true);
      await until('new connections', async () => (await admin.get('/api/settings')).status === 200);
      const body = { site_name: 'Changed' };
      await until('it is read-only', async () => (await admin.put('/api/settings', body)).code !== 0);
      assert.match(refused(await admin.put('/api/settings', body), 503, 503001).msg, /database is read-only/);
      done(await admin.get('/api/domains'));
      assert.deepEqual(done(await server.call('GET', '/health/ready')), { status: 'ok' });
      await readOnly(false);
      await until('it can be written', async () => (await admin.put('/api/settings', body)).code === 0);
      assert.equal(done(await admin.get('/api/settings')).site_name, 'Changed');
    });
  });
}
