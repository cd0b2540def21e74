// A PowerDNS of our own for the benchmark of writes.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SERVER = '/usr/sbin/pdns_server';
const KEY = 'bench';

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const hasLmdb = () =>
  readdirSync('/usr/lib').some((folder) => existsSync(`/usr/lib/${folder}/pdns/liblmdbbackend.so`)) ||
  existsSync('/usr/lib/pdns/liblmdbbackend.so');

/** @returns null when it is not installed */
export async function startPowerdns() {
  if (!existsSync(SERVER) || !hasLmdb()) return null;
  const dir = mkdtempSync(join(tmpdir(), 'zoneward-bench-pdns-'));
  const [dnsPort, port] = [await freePort(), await freePort()];
  const child = spawn(
    SERVER,
    [
      ...['--no-config', '--daemon=no', '--guardian=no', '--disable-syslog', '--loglevel=3', `--socket-dir=${dir}`],
      ...[
        '--local-address=127.0.0.1',
        `--local-port=${dnsPort}`,
        '--launch=lmdb',
        `--lmdb-filename=${join(dir, 'db')}`,
      ],
      ...['--webserver=yes', '--webserver-address=127.0.0.1', `--webserver-port=${port}`, '--webserver-loglevel=none'],
      ...['--api=yes', `--api-key=${KEY}`],
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 200; i++) {
    const ready = await fetch(`${url}/api/v1/servers/localhost`, { headers: { 'x-api-key': KEY } }).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return { url, port, key: KEY, stop };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await stop();
  throw new Error('pdns_server did not start');
}
