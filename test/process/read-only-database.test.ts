import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from '@jest/globals';
import { type Database, databases, freshDatabase, onServer } from '../support/databases.js';
import { ADMIN, LocalServer, type Server } from '../support/server.js';
import { sleep } from '../support/sleep.js';
import { describeUnless } from '../support/suites.js';
import { done, refused, until } from '../support/world.js';

const USER = 'zoneward_plain';
/** ms between two times at which connections are left */
const LEAVE_MS = 1000;

for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip)(`a ${kind} server that becomes read-only`, () => {
    let database: Database;
    let server: Server;
    let token: string;
    /** As an operator does, or a fail-over to a standby; whoever may administrate the server writes on. */
    const readOnly = async (on: boolean) => {
      if (kind === 'mysql') return void (await onServer(kind, `SET GLOBAL read_only = ${on ? 1 : 0}`));
      await newReadOnly(on);
      await endConnections();
    };
    /** Only connections that are made from now on are read-only, or no more. */
    const newReadOnly = (on: boolean) =>
      onServer(
        kind,
        kind === 'mysql'
          ? `SET GLOBAL init_connect = '${on ? 'SET SESSION TRANSACTION READ ONLY' : ''}'`
          : `ALTER DATABASE ${database.name} SET default_transaction_read_only = ${on}`,
      );
    const endConnections = async () => {
      const all =
        kind === 'mysql'
          ? `SELECT CONCAT('KILL ', id) AS words FROM information_schema.processlist WHERE user = '${USER}'`
          : `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database.name}'`;
      for (const { words } of await onServer(kind, all)) if (words) await onServer(kind, words);
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
      await newReadOnly(false);
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

    it('is left as soon as its address leads to one that can be written', async () => {
      const admin = server.as(token);
      const write = () => admin.put('/api/settings', { site_name: `Changed at ${performance.now()}` });
      await newReadOnly(true);
      await endConnections();
      await until('all of many are refused', async () => {
        const answers = await Promise.all(Array.from({ length: 8 }, write));
        return answers.every(({ msg }) => /database is read-only/.test(msg));
      });
      // connections that are there stay read-only, as those to a primary that has become a standby
      await newReadOnly(false);
      await sleep(LEAVE_MS);
      // whoever comes first, a request or a job, is refused still
      await write();
      for (let i = 0; i < 8; i++) done(await write());
    });
  });
}
