// A PowerDNS for the write benchmark, with its LMDB or PostgreSQL backend.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { besides, open } from './sql.mjs';

const SERVER = '/usr/sbin/pdns_server';
const KEY = 'bench';
const SCHEMA = '/usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql';

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const hasBackend = (name) =>
  ['/usr/lib', ...readdirSync('/usr/lib').map((folder) => `/usr/lib/${folder}`)].some((folder) =>
    existsSync(`${folder}/pdns/lib${name}backend.so`),
  );

/** A database for the backend. @returns null when no server is available or the schema is not installed */
async function postgresql(url) {
  if (!existsSync(SCHEMA)) return null;
  const own = await besides(url).catch(() => null);
  if (!own) return null;
  const db = open(own.url);
  await db.run(readFileSync(SCHEMA, 'utf8')).finally(() => db.close());
  const { hostname, port, username, password, pathname } = new URL(own.url);
  const options = { host: hostname, port: port || '5432', user: username, password, dbname: pathname.slice(1) };
  const args = Object.entries(options).map(([name, value]) => `--gpgsql-${name}=${decodeURIComponent(value)}`);
  return { args: ['--launch=gpgsql', ...args], drop: own.drop };
}

/**
 * @param backend `lmdb` or `gpgsql`
 * @param server URL of a PostgreSQL server, for `gpgsql`
 * @returns null when it is not installed
 */
export async function startPowerdns(backend = 'lmdb', server = '') {
  if (!existsSync(SERVER) || !hasBackend(backend)) return null;
  const database = backend === 'gpgsql' ? await postgresql(server) : null;
  if (backend === 'gpgsql' && !database) return null;
  const dir = mkdtempSync(join(tmpdir(), 'zoneward-bench-pdns-'));
  const [dnsPort, port] = [await freePort(), await freePort()];
  const child = spawn(
    SERVER,
    [
      ...['--no-config', '--daemon=no', '--guardian=no', '--disable-syslog', '--loglevel=3', `--socket-dir=${dir}`],
      ...['--local-address=127.0.0.1', `--local-port=${dnsPort}`],
      ...(database?.args ?? ['--launch=lmdb', `--lmdb-filename=${join(dir, 'db')}`]),
      ...['--webserver=yes', '--webserver-address=127.0.0.1', `--webserver-port=${port}`, '--webserver-loglevel=none'],
      ...['--api=yes', `--api-key=${KEY}`, '--webserver-max-bodysize=64'],
      // no caches: DNS queries see each write at once
      ...['--cache-ttl=0', '--query-cache-ttl=0', '--negquery-cache-ttl=0'],
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    kill();
    await ended;
    process.off('exit', kill);
    rmSync(dir, { recursive: true, force: true });
    await database?.drop();
  };
  const url = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 200; i++) {
    const ready = await fetch(`${url}/api/v1/servers/localhost`, { headers: { 'x-api-key': KEY } }).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return { url, port, dnsPort, pid: child.pid, key: KEY, stop };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error('pdns_server did not start');
}
