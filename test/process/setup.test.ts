import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { freePort } from '../support/bind.js';
import { databases, freshDatabase, type Kind } from '../support/databases.js';
import { ADMIN, LocalServer, type Server, ServerProcess } from '../support/server.js';
import { describeUnless } from '../support/suites.js';
import { done, refused } from '../support/world.js';

/** The body that chooses this database in the setup flow. */
function choice(kind: Kind, url: string | null, more: object = {}) {
  if (!url || kind === 'sqlite') return { type: 'sqlite', sqlite: { path: 'dns.db' }, ...more };
  const { hostname, port, pathname, username, password } = new URL(url);
  const server = { host: hostname, port: Number(port), database: pathname.slice(1), user: username, password };
  return { type: kind, [kind]: server, ...more };
}

for (const { kind, skip } of databases('one')) {
  describeUnless(skip)(`setup on ${kind}`, () => {
    let server: Server;
    /** the user who became the administrator */
    let winner: string;
    let database: { url: string; drop(): Promise<void> } | null = null;
    const body = (more = {}) => choice(kind, database?.url ?? null, more);
    const post = <P extends 'test-db' | 'database' | 'admin'>(path: P, data?: unknown) =>
      server.call('POST', `/api/init/${path}`, data);
    beforeAll(async () => {
      database = kind === 'sqlite' ? null : await freshDatabase(kind);
      server = await LocalServer.start();
    });
    afterAll(async () => {
      await server.kill();
      await database?.drop();
      rmSync(server.dataDir, { recursive: true, force: true });
    });

    it('reports that nothing is set up', async () => {
      assert.deepEqual(done(await server.call('GET', '/api/init/status')), {
        initialized: false,
        dbInitialized: false,
        hasUsers: false,
      });
      for (const path of ['/api/auth/me', '/api/domains', '/api/tokens', '/api/accounts', '/api/audit/logs']) {
        refused(await server.call('GET', path), 503, 503001);
      }
      refused(await server.call('POST', '/api/auth/login', ADMIN), 503, 503001);
      assert.deepEqual(done(await server.call('GET', '/health/ready')), { status: 'setup' });
      refused(await post('admin', ADMIN), 503, 503001);
    });

    it('tests a database without creating anything', async () => {
      const result = done(await post('test-db', body()));
      assert.deepEqual([result.success, result.hasExistingData], [true, false]);
      assert.equal(existsSync(join(server.dataDir, 'dns.db')), false);
      assert.equal(existsSync(join(server.dataDir, 'database.json')), false);
    });

    it('opens the database once under parallel requests', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => post('database', body())));
      for (const answer of answers) assert.ok([200, 409].includes(answer.status), answer.msg);
      assert.deepEqual(answers.find((answer) => answer.status === 200)?.data, { success: true });
      assert.deepEqual(done(await server.call('GET', '/api/init/status')), {
        initialized: false,
        dbInitialized: true,
        hasUsers: false,
      });
      assert.equal(statSync(join(server.dataDir, 'database.json')).mode & 0o777, 0o600);
      refused(await server.call('GET', '/api/domains'), 503, 503001);
    });

    it('refuses weak passwords, odd names and odd addresses together', async () => {
      const answer = refused(await post('admin', { username: 'a b', password: 'password12', email: 'x' }), 400, 400001);
      assert.deepEqual(answer.data.errors.map((e) => e.path).sort(), ['email', 'password', 'username']);
      const form = refused(await post('admin', { username: 'a b', password: 'password12', email: 5 }), 400, 400001);
      assert.deepEqual(form.data.errors.map((e) => e.path).sort(), ['email', 'password', 'username']);
      for (const password of ['short-1X', 'adminadmin', '1234567890123', 'p'.repeat(129)]) {
        refused(await post('admin', { ...ADMIN, password }), 400, 400001);
      }
      assert.equal(done(await server.call('GET', '/api/init/status')).hasUsers, false);
    });

    it('creates one administrator under parallel requests', async () => {
      const names = ['admin', 'ada', 'ben', 'cleo'];
      const answers = await Promise.all(names.map((username) => post('admin', { ...ADMIN, username })));
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 403, 403, 403]);
      winner = names[answers.findIndex((answer) => answer.status === 200)] as string;
      assert.deepEqual(answers.find((answer) => answer.status === 200)?.data, { success: true });
      const token = await server.login({ ...ADMIN, username: winner });
      const me = done(await server.call('GET', '/api/auth/me', undefined, token));
      assert.deepEqual([me.username, me.role, me.status], [winner, 3, 1]);
    });

    it('is closed for good afterwards', async () => {
      for (const [path, data] of [
        ['admin', ADMIN],
        ['database', body()],
        ['test-db', body()],
      ] as const) {
        assert.match(refused(await post(path, data), 403, 403001).msg, /already initialised/i);
      }
      assert.equal(done(await server.call('GET', '/api/init/status')).initialized, true);
    });

    it('survives a restart: same users, same signing secret, nothing to choose', async () => {
      const token = await server.login({ ...ADMIN, username: winner });
      await server.stop();
      // a new process: only stored state is left of the first one
      server = await ServerProcess.start({}, server.dataDir);
      assert.equal(done(await server.call('GET', '/api/auth/me', undefined, token)).username, winner);
      refused(await post('admin', ADMIN), 403, 403001);
    });

    if (kind === 'sqlite') return;

    it('finds existing data, and keeps it', async () => {
      const SECRET_KEY = readFileSync(join(server.dataDir, 'secret.key'), 'utf8').trim();
      const other = await LocalServer.start({ SECRET_KEY });
      try {
        const result = done(await other.call('POST', '/api/init/test-db', body()));
        assert.deepEqual([result.success, result.hasExistingData], [true, true]);
        done(await other.call('POST', '/api/init/database', body()));
        assert.equal(done(await other.call('GET', '/api/init/status')).initialized, true);
      } finally {
        await other.kill();
        rmSync(other.dataDir, { recursive: true, force: true });
      }
    });

    it('explains why a database cannot be used', async () => {
      const fresh = await LocalServer.start();
      try {
        const good = (body() as Record<string, unknown>)[kind] as Record<string, unknown>;
        const port = await freePort();
        const CASES: [object, RegExp][] = [
          [{ database: 'no_such_database' }, /does not exist/],
          [{ host: 'no-such-host.invalid' }, /host name is not known/],
          [{ port }, /Nothing listens/],
          ...(kind === 'mysql' ? ([[{ user: 'root', password: 'hunter2-wrong' }, /wrong/]] as [object, RegExp][]) : []),
        ];
        for (const [change, words] of CASES) {
          const data: object = { type: kind, [kind]: { ...good, ...change } };
          const result = done(await fresh.call('POST', '/api/init/test-db', data));
          assert.equal(result.success, false);
          assert.match(result.message, words);
          const refusal = refused(await fresh.call('POST', '/api/init/database', data), 400, 400001);
          assert.match(refusal.msg, words);
        }
        const silent = createServer().listen(0, '127.0.0.1');
        await once(silent, 'listening');
        const mute = { ...good, port: (silent.address() as AddressInfo).port };
        const result = done(await fresh.call('POST', '/api/init/test-db', { type: kind, [kind]: mute }));
        silent.close();
        assert.deepEqual([result.success, result.message], [false, 'The server cannot be reached']);
        assert.deepEqual(done(await fresh.call('GET', '/api/init/status')).dbInitialized, false);
        assert.equal(existsSync(join(fresh.dataDir, 'database.json')), false);
        assert.doesNotMatch(fresh.log, /hunter2-wrong/);
      } finally {
        await fresh.kill();
        rmSync(fresh.dataDir, { recursive: true, force: true });
      }
    });
  });
}

describe('setup of the embedded database', () => {
  const servers: Server[] = [];
  /** no database is ever chosen here */
  let empty: Server;
  const start = async (env: Record<string, string> = {}, dataDir?: string) => {
    const server = await LocalServer.start(env, dataDir);
    servers.push(server);
    return server;
  };
  beforeAll(async () => {
    empty = await start({ OUTBOUND_DENY: '127.0.0.2/32' });
  });
  afterAll(async () => {
    for (const server of servers) {
      await server.kill();
      rmSync(server.dataDir, { recursive: true, force: true });
    }
  });

  it('accepts only file names inside the data directory', async () => {
    const outside = [
      '../x.db',
      '/tmp/x.db',
      'a/b.db',
      '..',
      '.hidden',
      '',
      'x\u0000.db',
      'database.json',
      'secret.key',
    ];
    for (const path of [...outside, 5, null]) {
      for (const route of ['test-db', 'database']) {
        const answer = await empty.call('POST', `/api/init/${route}`, { type: 'sqlite', sqlite: { path } });
        const { errors } = refused(answer, 400, 400001).data;
        assert.deepEqual(errors.map((e) => e.path).slice(0, 1), ['sqlite.path']);
      }
    }
  });

  it('detects a file that is no database', async () => {
    writeFileSync(join(empty.dataDir, 'notes.txt'), 'just some text, which is no database at all\n'.repeat(30));
    const data = { type: 'sqlite', sqlite: { path: 'notes.txt' } };
    const result = done(await empty.call('POST', '/api/init/test-db', data));
    assert.deepEqual([result.success, result.message], [false, 'The file is not an SQLite database']);
    refused(await empty.call('POST', '/api/init/database', data), 400, 400001);
    assert.match(readFileSync(join(empty.dataDir, 'notes.txt'), 'utf8'), /^just some text/);
  });

  it('keeps the choice that won when two differ', async () => {
    const server = await start();
    const files = ['a.db', 'b.db'];
    const answers = await Promise.all(
      files.map((path) => server.call('POST', '/api/init/database', { type: 'sqlite', sqlite: { path } })),
    );
    assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409]);
    const winner = files[answers.findIndex((answer) => answer.status === 200)] as string;
    const kept = JSON.parse(readFileSync(join(server.dataDir, 'database.json'), 'utf8'));
    assert.equal(kept.path, join(server.dataDir, winner));
    done(await server.call('POST', '/api/init/admin', ADMIN));
    await server.stop();
    const again = await start({}, server.dataDir);
    assert.equal(done(await again.call('GET', '/api/init/status')).initialized, true);
  });

  it('requires the setup code, when there is one, for all three steps', async () => {
    const server = await start({ SETUP_CODE: 'only-i-know-this' });
    const sqlite = { type: 'sqlite' };
    for (const setup_code of [undefined, '', 'wrong', 'only-i-know-thi']) {
      refused(await server.call('POST', '/api/init/test-db', { ...sqlite, setup_code }), 403, 403001);
      refused(await server.call('POST', '/api/init/database', { ...sqlite, setup_code }), 403, 403001);
      refused(await server.call('POST', '/api/init/admin', { ...ADMIN, setup_code }), 403, 403001);
    }
    const setup_code = 'only-i-know-this';
    assert.equal(done(await server.call('POST', '/api/init/test-db', { ...sqlite, setup_code })).success, true);
    done(await server.call('POST', '/api/init/database', { ...sqlite, setup_code }));
    refused(await server.call('POST', '/api/init/admin', ADMIN), 403, 403001);
    done(await server.call('POST', '/api/init/admin', { ...ADMIN, setup_code }));
    assert.equal(server.log.includes(setup_code), false);
  });

  it('lets nobody guess the setup code', async () => {
    const setup_code = 'only-i-know-this';
    const server = await start({ SETUP_CODE: setup_code, TRUSTED_PROXIES: '127.0.0.1/32' });
    const ask = (code: string | undefined, ip: string) =>
      server.call('POST', '/api/init/test-db', { type: 'sqlite', setup_code: code }, undefined, {
        'x-forwarded-for': ip,
      });
    for (let i = 0; i < 10; i++) refused(await ask(`wrong-${i}`, '192.0.2.1'), 403, 403001);
    const blocked = refused(await ask(setup_code, '192.0.2.1'), 429, 429001);
    assert.ok(Number(blocked.headers.get('retry-after')) > 3000);
    done(await ask(setup_code, '192.0.2.2'));
    for (let i = 0; i < 90; i++) refused(await ask(`wrong-${i}`, `198.51.100.${i % 9}`), 403, 403001);
    assert.match(refused(await ask(setup_code, '192.0.2.2'), 403, 403001).msg, /until the service is started again/);
    await server.stop();
    const again = await start({ SETUP_CODE: setup_code }, server.dataDir);
    done(await again.call('POST', '/api/init/test-db', { type: 'sqlite', setup_code }));
  });

  it('reaches no server that the outbound rules forbid, and no socket', async () => {
    let arrived = 0;
    const listener = createServer(() => arrived++).listen(0, '127.0.0.2');
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const login = { port, database: 'x', user: 'x', password: 'x' };
    const forbidden = async (type: string, host: string, ssl: boolean) => {
      const body = { type, [type]: { ...login, host, ssl } };
      const result = done(await empty.call('POST', '/api/init/test-db', body));
      assert.deepEqual([result.success, /outbound rules/.test(result.message)], [false, true], result.message);
      assert.match(refused(await empty.call('POST', '/api/init/database', body), 400, 400001).msg, /outbound/);
    };
    const noHost = async (type: string, host: string) => {
      for (const route of ['test-db', 'database']) {
        const answer = await empty.call('POST', `/api/init/${route}`, { type, [type]: { ...login, host } });
        assert.equal(refused(answer, 400, 400001).data.errors[0].path, `${type}.host`);
      }
    };
    try {
      for (const type of ['postgresql', 'mysql']) {
        for (const host of ['127.0.0.2', '::ffff:127.0.0.2', '169.254.169.254', '100.100.100.200', 'fd00:ec2::254']) {
          await forbidden(type, host, false);
          await forbidden(type, host, true);
        }
        for (const host of ['/var/run/postgresql', 'a/b', '\\\\.\\pipe\\MySQL', '@socket', ''])
          await noHost(type, host);
      }
      assert.equal(arrived, 0);
    } finally {
      listener.close();
    }
  });

  it('restricts its files to their owner, existing ones, too', async () => {
    // a process that is killed: after a regular stop there is no journal
    const server = await ServerProcess.start({ ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password });
    servers.push(server);
    const modes = () =>
      Object.fromEntries(
        ['zoneward.db', 'zoneward.db-wal', 'zoneward.db-shm', 'database.json', 'secret.key'].map((name) => [
          name,
          (statSync(join(server.dataDir, name)).mode & 0o777).toString(8),
        ]),
      );
    const all600 = Object.fromEntries(Object.keys(modes()).map((name) => [name, '600']));
    assert.deepEqual(modes(), all600);
    await server.kill();
    for (const name of Object.keys(all600)) chmodSync(join(server.dataDir, name), 0o644);
    await start({}, server.dataDir);
    assert.deepEqual(modes(), all600);
  });

  it('cannot be chosen when DATABASE_URL presets it', async () => {
    const server = await start({ DATABASE_URL: 'sqlite:preset.db' });
    assert.equal(done(await server.call('GET', '/api/init/status')).dbInitialized, true);
    refused(await server.call('POST', '/api/init/database', { type: 'sqlite' }), 409, 409001);
    done(await server.call('POST', '/api/init/admin', ADMIN));
    assert.equal(existsSync(join(server.dataDir, 'preset.db')), true);
  });

  it('needs no request when the administrator is preset', async () => {
    const server = await start({ ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password });
    const token = await server.login();
    await server.stop();
    const again = await start({}, server.dataDir);
    assert.equal(done(await again.call('GET', '/api/auth/me', undefined, token)).role, 3);
    assert.equal(again.log.includes(ADMIN.password) || server.log.includes(ADMIN.password), false);
  });

  it('stops the start over a weak preset password, by name', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-test-'));
    const env = { ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: 'password12' };
    await assert.rejects(ServerProcess.start(env, dataDir), /ended with 1:[\s\S]*ADMIN_PASSWORD: is too easy/);
    rmSync(dataDir, { recursive: true });
  });
});
