import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from '@jest/globals';
import pg from 'pg';
import { ENTITIES } from '../../src/entities.js';
import { StartRefused } from '../../src/platform/common/start-refused.js';
import { parseDatabaseUrl } from '../../src/platform/config/config.js';
import { AppDataSource } from '../../src/platform/database/app-data-source.js';
import type { Db } from '../../src/platform/database/db.js';
import { type Database, databases, freshDatabase } from '../support/databases.js';
import { dbOn } from '../support/db.js';
import { noPgbouncer, type Pgbouncer, startPgbouncer } from '../support/pgbouncer.js';
import { noPowerdns } from '../support/powerdns.js';
import { ADMIN, type Client, LocalServer, type Server, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, each, made, refused, startWorld, until, type World } from '../support/world.js';

const SECRET_KEY = 'the-same-key-of-both-replicas-0123456789';
/** Fewer connections to the server than there are clients: hardly anybody gets the same one twice. */
const SIZE = 6;

for (const { skip } of databases('postgresql')) describeUnless(skip || noPgbouncer)('behind PgBouncer', suite);

function suite(): void {
  let database: Database;
  let pooler: Pgbouncer;
  let url: string;
  const sources: AppDataSource[] = [];
  const open = async (limitMs?: number): Promise<Db> => {
    const source = new AppDataSource(ENTITIES, limitMs);
    sources.push(source);
    await source.open(parseDatabaseUrl(url, '.'));
    return dbOn(source);
  };
  const through = (address: string) => Object.assign(new URL(database.url), { host: address }).href;
  beforeAll(async () => {
    database = await freshDatabase('postgresql');
    pooler = await startPgbouncer(database.url, 'transaction', SIZE);
    url = through(pooler.address);
  });
  afterAll(async () => {
    for (const source of sources) if (source.isInitialized) await source.destroy();
    await pooler?.stop();
    await database?.drop();
  });

  it('transactions have our settings, and nobody else gets them', async () => {
    const db = await open(7000);
    const names = ['statement_timeout', 'transaction_isolation', 'random_page_cost'];
    const sql = `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`;
    const [inside] = await db.transaction((manager) => db.rows<object>(sql, [], manager));
    assert.deepEqual(
      { ...inside },
      { statement_timeout: '7s', transaction_isolation: 'read committed', random_page_cost: '0.1' },
    );
    const others = await Promise.all(
      Array.from({ length: SIZE }, async () => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        const { rows } = await client.query(`${sql}, pg_sleep(0.1)`).finally(() => client.end());
        return [rows[0].statement_timeout, rows[0].random_page_cost];
      }),
    );
    for (const seen of others) assert.deepEqual(seen, ['0', '4']);
  });

  it('a statement of one process is never taken for that of another one', async () => {
    const [first, second] = [await open(), await open()];
    const ask = async (db: Db, which: string) => {
      const [row] = await db.rows<object>(`SELECT '${which}' AS which, COUNT(*) AS n FROM users WHERE username = ?`, [
        'x',
      ]);
      assert.deepEqual({ ...row }, { which, n: '0' });
    };
    for (let i = 0; i < 5; i++) await ask(first, 'first');
    // whoever comes next gets the connection that was used last: while it is taken, the second one prepares in another
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('BEGIN');
    for (let i = 0; i < 5; i++) await ask(second, 'second');
    await holder.query('COMMIT');
    await ask(second, 'second');
    await holder.end();
    await each(
      Array.from({ length: 60 }, (_none, i) => i),
      24,
      (i) => (i % 2 ? ask(first, 'first') : ask(second, 'second')),
    );
  });

  it('a statement may not take longer than its limit, and work on the schema may', async () => {
    const db = await open(1000);
    await assert.rejects(
      db.transaction((manager) => db.rows('SELECT pg_sleep(3)', [], manager)),
      { code: '57014' },
    );
    await new AppDataSource(ENTITIES, 300).openAlone(parseDatabaseUrl(url, '.'), async (runner) => {
      await runner.startTransaction();
      await runner.query('SELECT pg_sleep(1.5)');
      await runner.commitTransaction();
    });
  });

  it('that allows no transactions the service is refused with the reason', async () => {
    const other = await startPgbouncer(database.url, 'statement', SIZE);
    try {
      const source = new AppDataSource(ENTITIES);
      await assert.rejects(
        source.open(parseDatabaseUrl(through(other.address), '.')),
        (error) => error instanceof StartRefused && /pool_mode = transaction/.test(error.message),
      );
    } finally {
      await other.stop();
    }
  });

  describeUnless(noPowerdns)('two replicas', () => {
    let world: World;
    let second: Server;
    let clients: Client[];
    const env = { SECRET_KEY, ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password };
    const start = async (_kind: unknown, more: Record<string, string>) => {
      const server = await LocalServer.start({ ...env, ...more, DATABASE_URL: url });
      const token = await server.login();
      const stop = async () => {
        await server.stop();
        rmSync(server.dataDir, { recursive: true, force: true });
      };
      return { server, admin: server.as(token), token, databaseUrl: url, stop };
    };
    beforeAll(async () => {
      world = await startWorld('postgresql', {}, 'lmdb', start);
      const none = { user: 0, token: 0 };
      done(await world.admin.put('/api/settings/security', { rate_limits: none }));
      second = await ServerProcess.start(
        { DATABASE_URL: url, SECRET_KEY },
        mkdtempSync(join(tmpdir(), 'zoneward-replica-')),
      );
      clients = [world.admin, second.as(world.token)];
    });
    afterAll(async () => {
      await second?.kill();
      if (second) rmSync(second.dataDir, { recursive: true, force: true });
      await world?.stop();
    });

    it('say that there is a pooler', () => {
      assert.match(second.log, /a pooler is in front of the database/);
      assert.match(second.log, /ALTER ROLE … SET statement_timeout/);
    });

    it('write at the same names, read, and do their jobs, and nothing is refused', async () => {
      await each(
        Array.from({ length: 45 }, (_none, i) => i),
        12,
        async (i) => {
          const client = clients[i % 2] as Client;
          const { id } = made(await client.post(world.records, { host: `h${i % 9}`, type: 'A', value: `10.0.0.${i}` }));
          if (i % 3 === 0) done(await client.put(`${world.records}/${id}`, { value: `10.0.1.${i}` }));
          if (i % 3 === 1) done(await client.delete(`${world.records}/${id}`));
          done(await client.get(`${world.records}?host=h${i % 9}`));
        },
      );
      await world.agree(clients[1]);
      done(await world.admin.post(`/api/accounts/${world.account}/sync?wait=30`));
      await world.agree();
      assert.equal(done(await world.admin.get('/api/system/jobs?failing=true')).total, 0);
    });

    it('answer 503 while it is away, and go on when it is back', async () => {
      await pooler.kill();
      refused(await world.admin.get('/api/domains'), 503, 503001);
      await pooler.start();
      for (const client of clients)
        await until('it works again', async () => (await client.get('/api/domains')).status === 200);
      made(await world.admin.post(world.records, { host: 'back', type: 'A', value: '10.0.0.1' }));
      await world.agree(clients[1]);
    });
  });
}
