import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from '@jest/globals';
import { LocalServer } from '../support/server.js';
import { atEndOfTest, itUnless } from '../support/suites.js';

const atEnd = atEndOfTest();
const ENTRY = join(import.meta.dirname, '../../dist/zoneward.cjs');
const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'zoneward-start-'));
  atEnd(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

describe('a start', () => {
  it('names a variable that nobody reads, and says that few files may be open', async () => {
    const env = {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: folder(),
      DATABSE_URL: 'sqlite:a.db',
    };
    const child = spawn('/bin/sh', ['-c', 'ulimit -n 1000; exec "$0" "$1"', process.execPath, ENTRY], { env });
    atEnd(() => child.kill('SIGKILL'));
    let log = '';
    for await (const chunk of child.stdout) {
      log += chunk;
      if (/"msg":"listening"/.test(log)) break;
    }
    assert.match(log, /"name":"DATABSE_URL","meant":"DATABASE_URL"/);
    assert.match(log, /"files":1000,"needed":8192/);
  });

  it('says in one sentence that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    atEnd(() => other.close());
    const { port } = other.address() as AddressInfo;
    const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), DATA_DIR: folder() };
    const child = spawn(process.execPath, [ENTRY], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    atEnd(() => child.kill('SIGKILL'));
    let log = '';
    for await (const chunk of child.stdout) log += chunk;
    const fatal = log.split('\n').filter((line) => line.includes('"level":"fatal"') || line.includes('"level":60'));
    assert.equal(fatal.length, 1, log);
    assert.equal(
      JSON.parse(fatal[0] as string).msg,
      `Something listens on 127.0.0.1, port ${port} already: end it, or set PORT`,
    );
    assert.doesNotMatch(log, /"stack"|node:net/);
  });

  itUnless(process.env.TEST_NO_MYSQL)('says that the password of the database is wrong', async () => {
    const { hostname, port } = new URL(process.env.TEST_MYSQL_URL as string);
    const server = await LocalServer.start(
      { DATABASE_URL: `mysql://zoneward:wrong-password@${hostname}:${port || 3306}/zoneward` },
      folder(),
    );
    atEnd(() => server.stop());
    const { status, msg } = await server.call('GET', '/health/ready');
    assert.equal(status, 503);
    assert.match(msg, /User name or password is wrong/);
    assert.doesNotMatch(msg, /zoneward|127\.0\.0\.1/);
    assert.match(server.log, /"why":"User name or password is wrong/);
  });
});
