import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, it } from '@jest/globals';
import { isDatabaseDown } from '../../src/platform/database/db.js';
import { openDatabase } from '../support/database.js';
import { databases, freshDatabase, onServer, type ServerKind } from '../support/databases.js';
import { type Door, startDoor } from '../support/door.js';
import { ADMIN, type Answer, LocalServer, type Server, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, made, refused, until } from '../support/world.js';

/** Cancels the statements in a database that wait for a row. */
async function cancelWaiting(kind: ServerKind, database: string): Promise<void> {
  const waiting = `FROM pg_stat_activity WHERE datname = '${database}' AND wait_event_type = 'Lock'`;
  if (kind === 'postgresql') return void (await onServer(kind, `SELECT pg_cancel_backend(pid) ${waiting}`));
  const sql = `SELECT p.id FROM information_schema.innodb_trx t JOIN information_schema.processlist p
     ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = '${database}'`;
  for (const { id } of await onServer(kind, sql)) await onServer(kind, `KILL QUERY ${id}`);
}

for (const { kind, skip } of databases('postgresql', 'mysql')) {
  describeUnless(skip)(`a ${kind} server that is away`, () => {
    let database: Awaited<ReturnType<typeof freshDatabase>>;
    let gate: Door;
    let server: Server;
    let token: string;
    let svc: string;
    const down = async (method: string, path: string, credential?: string, body?: unknown) => {
      const answer = refused(await server.call(method, path, body, credential), 503, 503001);
      assert.ok(Number(answer.headers.get('retry-after')) > 0, `${path} has no Retry-After`);
    };
    const everythingIsDown = async () => {
      for (const path of ['/api/init/status', '/health/ready']) await down('GET', path);
      for (const path of ['/api/auth/me', '/api/domains', '/api/tokens', '/api/audit/logs', '/api/accounts']) {
        await down('GET', path, token);
      }
      await down('GET', '/api/domains', svc);
      await down('POST', '/api/auth/login', undefined, ADMIN);
      await down('POST', '/api/tokens', token, { name: 'x' });
      assert.deepEqual(done(await server.call('GET', '/health/live')), { status: 'ok' });
    };
    const isBack = async () => {
      await until('the service works again', async () => (await server.call('GET', '/health/ready')).status === 200);
      assert.equal(done(await server.call('GET', '/api/init/status')).initialized, true);
      done(await server.call('GET', '/api/auth/me', undefined, token));
      done(await server.call('GET', '/api/domains', undefined, svc));
      made(await server.call('POST', '/api/tokens', { name: 'after' }, token));
    };
    let env: Record<string, string>;
    beforeAll(async () => {
      database = await freshDatabase(kind);
      const url = new URL(database.url);
      gate = await startDoor(Number(url.port));
      url.port = String(gate.port);
      env = {
        DATABASE_URL: url.href,
        DATABASE_TIMEOUT_MS: '5000',
        SECRET_KEY: 'k'.repeat(32),
        ADMIN_USERNAME: ADMIN.username,
        ADMIN_PASSWORD: ADMIN.password,
      };
      server = await LocalServer.start(env);
      token = await server.login();
      svc = made(await server.call('POST', '/api/tokens', { name: 'ci' }, token)).token;
    });
    afterAll(async () => {
      await server.kill();
      await gate.shut();
      await database.drop();
      rmSync(server.dataDir, { recursive: true, force: true });
    });

    it('in the middle means 503 until it is back', async () => {
      await gate.shut();
      await everythingIsDown();
      await gate.open();
      await isBack();
    });

    it('loses its connections, and the next requests get new ones', async () => {
      await gate.shut();
      await gate.open();
      await until(
        'requests work',
        async () => (await server.call('GET', '/api/auth/me', undefined, token)).status === 200,
      );
    });

    it('takes connections and answers nothing: 503, readiness before all others', async () => {
      gate.freeze();
      const order: string[] = [];
      const asked = async (method: string, path: string, credential?: string, body?: unknown) => {
        await down(method, path, credential, body);
        order.push(path);
      };
      await Promise.all([
        asked('GET', '/api/auth/me', token),
        asked('GET', '/api/init/status'),
        ...Array.from({ length: 30 }, () => asked('GET', '/api/domains', token)),
        asked('GET', '/api/domains', svc),
        asked('POST', '/api/auth/login', undefined, ADMIN),
        asked('POST', '/api/tokens', token, { name: 'x' }),
        asked('GET', '/health/ready'),
      ]);
      assert.equal(order[0], '/health/ready');
      assert.deepEqual(done(await server.call('GET', '/health/live')), { status: 'ok' });
      gate.thaw();
      await isBack();
    });

    it('has no connection left for us: 503 as long as that is so', async () => {
      const few = `few_${database.name}`.slice(-60);
      const { db, close } = await openDatabase(database.url, '');
      const limit =
        kind === 'postgresql'
          ? [`CREATE ROLE ${few} LOGIN CONNECTION LIMIT 0`]
          : [`CREATE USER ${few} WITH MAX_USER_CONNECTIONS 1`, `GRANT ALL ON ${database.name}.* TO ${few}`];
      for (const statement of limit) await db.run(statement);
      const url = new URL(database.url);
      Object.assign(url, { username: few, password: '' });
      const open: (() => Promise<void>)[] = [];
      let error: unknown;
      try {
        for (let i = 0; i < 2; i++) open.push((await openDatabase(url.href, '')).close);
      } catch (reason) {
        error = reason;
      }
      for (const end of open) await end();
      await db.run(`DROP ${kind === 'postgresql' ? 'ROLE' : 'USER'} ${few}`);
      await close();
      assert.ok(isDatabaseDown(error), String(error));
    });

    it('lets a statement that takes too long end with 503, and goes on', async () => {
      const side = await openDatabase(database.url, server.dataDir);
      try {
        // whoever changes settings waits for this row
        await side.db.transaction(async (manager) => {
          await side.db.lock(manager, 'settings', { name: 'signing_secret' });
          const body = { site_name: 'Slow' };
          const answer = refused(await server.call('PUT', '/api/settings', body, token), 503, 503001);
          assert.match(answer.msg, /takes too long/);
        });
      } finally {
        await side.close();
      }
      done(await server.call('PUT', '/api/settings', { site_name: 'Quick' }, token));
    });

    it('lets a statement that an operator cancels end with 503, and goes on', async () => {
      const side = await openDatabase(database.url, server.dataDir);
      try {
        await side.db.transaction(async (manager) => {
          await side.db.lock(manager, 'settings', { name: 'signing_secret' });
          let answer: Answer | undefined;
          void server.call('PUT', '/api/settings', { site_name: 'Cancelled' }, token).then((got) => {
            answer = got;
          });
          await until('what waits for the row is cancelled', async () => {
            await cancelWaiting(kind, database.name);
            return answer !== undefined;
          });
          refused(answer as unknown as Answer, 503, 503001);
        });
      } finally {
        await side.close();
      }
      done(await server.call('PUT', '/api/settings', { site_name: 'Going on' }, token));
    });

    it('at the start means 503, never the setup flow, until it is back', async () => {
      await gate.shut();
      await server.stop();
      // a process of its own from here on: it has to start, and to end in order, without its database
      server = await ServerProcess.start(env, server.dataDir);
      await everythingIsDown();
      for (const [path, body] of [
        ['test-db', { type: 'sqlite' }],
        ['database', { type: 'sqlite' }],
        ['admin', ADMIN],
      ] as const) {
        await down('POST', `/api/init/${path}`, undefined, body);
      }
      await gate.open();
      await isBack();
    });

    it('does not hinder a shutdown, away or frozen', async () => {
      await gate.shut();
      assert.equal(await server.stop(), 0);
      await gate.open();
      server = await ServerProcess.start(env, server.dataDir);
      done(await server.call('GET', '/api/auth/me', undefined, token));
      gate.freeze();
      assert.equal(await server.stop(), 0);
      gate.thaw();
    });

    it('that comes later, with secrets that the key does not open, ends the process', async () => {
      await gate.shut();
      server = await ServerProcess.start({ ...env, SECRET_KEY: 'x'.repeat(32) }, server.dataDir);
      await gate.open();
      await until('it is refused', async () => server.log.includes('encrypted with the key'));
      assert.equal(await server.stop(), 1);
    });
  });
}
