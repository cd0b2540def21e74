import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, missing } from './bind.js';

const SERVER = '/usr/sbin/nginx';

/** A reason to skip tests that need nginx, or false. Importing this in CI fails without nginx. */
export const noNginx: string | false = missing(SERVER) ?? false;

/** Directives of the `nginx` blocks about replicas in docs/operations.md: `upstream` and `location`. */
export function documented(block: 'upstream zoneward' | 'location /'): string {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const config = /```nginx\n(upstream[\s\S]*?)```/.exec(docs)?.[1] ?? '';
  const found = new RegExp(`${block} \\{\n([\\s\\S]*?)\n *\\}`).exec(config)?.[1];
  if (!found) throw new Error(`docs/operations.md has no ${block} for nginx`);
  return found;
}

/** nginx in front of replicas, configured as documented. @param ports of the replicas on loopback */
export async function startNginx(
  ports: readonly number[],
): Promise<{ port: number; log(): string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'zoneward-nginx-'));
  const port = await freePort();
  const [options = ''] = /max_fails[^;]*/.exec(documented('upstream zoneward')) ?? [];
  const upstream = documented('upstream zoneward').replace(/^ *server .*\n?/gm, '');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log; user root;
events { worker_connections 1024; }
http {
  access_log off; ${paths.join(' ')}
  upstream zoneward { ${ports.map((one) => `server 127.0.0.1:${one} ${options};`).join(' ')}
    ${upstream} }
  server { listen 127.0.0.1:${port}; location / { ${documented('location /')} } }
}`,
  );
  const child = spawn(SERVER, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const log = () => readFileSync(join(folder, 'error.log'), 'utf8');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (;;) {
    if (await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => null)) return { port, log, stop };
    if (child.exitCode !== null) throw new Error(`nginx did not start:\n${log()}`);
    await sleep(20);
  }
}
