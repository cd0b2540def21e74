import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { startProcess } from '../support/server.js';
import { atEndOfTest } from '../support/suites.js';
import { rowsOf } from '../support/tables.js';
import { ending } from '../support/until.js';
import { made } from '../support/world.js';

const atEnd = atEndOfTest();
const ROOT = join(import.meta.dirname, '../..');

const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'zoneward-stop-'));
  atEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** A command of the package, in a process group of its own, so that nothing of it outlives the test. */
function run(
  script: string,
  env: Record<string, string>,
): { child: ChildProcess; until(text: RegExp): Promise<string> } {
  const child = spawn('npm', ['run', '--silent', script], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, HOST: '127.0.0.1', PORT: '0', DRAIN_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  atEnd(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // all of it has ended, as it should
    }
  });
  let output = '';
  const until = (text: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        output += chunk;
        if (text.test(output)) resolve(output);
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('close', (code) => reject(new Error(`npm run ${script} ended with ${code}:\n${output}`)));
    });
  return { child, until };
}

describe('SIGTERM', () => {
  for (const script of ['start', 'start:prod']) {
    it(`to npm run ${script} ends the service, in order`, async () => {
      const dataDir = folder();
      const { child, until } = run(script, { DATA_DIR: dataDir, DATABASE_URL: 'sqlite:zoneward.db' });
      const output = await until(/"msg":"listening"/);
      const port = /"port":(\d+),[^\n]*"msg":"listening"/.exec(output)?.[1];
      assert.equal((await fetch(`http://127.0.0.1:${port}/health/live`)).status, 200);
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      await assert.rejects(fetch(`http://127.0.0.1:${port}/health/live`));
      assert.throws(() => process.kill(-(child.pid as number), 0), { code: 'ESRCH' });
    });
  }

  it('does not wait for connections on which nothing is asked', async () => {
    const { child, until } = run('start:prod', { DATA_DIR: folder(), DATABASE_URL: 'sqlite:zoneward.db' });
    const output = await until(/"msg":"listening"/);
    const silent = connect(Number(/"port":(\d+),[^\n]*"msg":"listening"/.exec(output)?.[1]), '127.0.0.1');
    atEnd(() => silent.destroy());
    await once(silent, 'connect');
    child.kill('SIGTERM');
    // Node alone waits a minute for the headers of a request
    assert.deepEqual(await ending('it ends', once(child, 'exit'), 45_000), [0, null]);
  });

  it('ends a start that waits for its database', async () => {
    // takes connections and says nothing
    const silent = createServer((socket) => void socket.on('error', () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    atEnd(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'connection');
    const { child } = run('start:prod', {
      DATA_DIR: folder(),
      DATABASE_URL: `postgres://zoneward@127.0.0.1:${port}/zoneward`,
    });
    const [socket] = await asked;
    atEnd(() => socket.destroy());
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

it('SQLite is one whole file when the service has stopped', async () => {
  const { admin, server, databaseUrl, stop } = await startProcess('sqlite');
  atEnd(stop);
  made(await admin.post('/api/accounts', { provider: 'zonefile', name: 'Files', credentials: {} }));
  made(await admin.post('/api/domains', { name: 'example.com', account_id: 1, create: true }));
  made(await admin.post('/api/domains/1/records', { host: 'www', type: 'A', value: '192.0.2.10' }));
  const tables = (await rowsOf({ databaseUrl, server }, "SELECT name FROM sqlite_schema WHERE type = 'table'")).map(
    ({ name }) => name as string,
  );
  assert.ok(tables.length > 20);
  // it reads on a connection of its own
  made(await admin.post('/api/system/backup'));
  const log = join(server.dataDir, 'zoneward.db-wal');
  assert.ok(statSync(log).size > 0, 'or there is nothing to see here');

  assert.equal(await server.stop(), 0);
  assert.equal(existsSync(log) ? statSync(log).size : 0, 0);
  const copy = folder();
  copyFileSync(join(server.dataDir, 'zoneward.db'), join(copy, 'zoneward.db'));
  for (const table of tables) {
    const all = (dataDir: string) => rowsOf({ databaseUrl, server: { dataDir } }, `SELECT * FROM "${table}"`);
    assert.deepEqual(await all(copy), await all(server.dataDir), table);
  }
  const store = { databaseUrl, server: { dataDir: copy } };
  const cells = async (sql: string) => (await rowsOf(store, sql)).map(Object.values);
  assert.deepEqual(await cells("SELECT value FROM dns_records WHERE host = 'www'"), [['192.0.2.10']]);
  assert.deepEqual(await cells('PRAGMA integrity_check'), [['ok']]);
});
