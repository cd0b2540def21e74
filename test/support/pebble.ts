import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './bind.js';

/** A real ACME server, which looks challenges up at a name server of ours. */
export interface Pebble {
  /** of its directory, with the certificate `ca` */
  url: string;
  ca: string;
  stop(): Promise<void>;
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });

/** @param dnsPort on loopback */
export async function startPebble(dnsPort: number): Promise<Pebble> {
  const folder = await mkdtemp(join(tmpdir(), 'zoneward-pebble-'));
  const [certificate, privateKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', privateKey, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
    stdio: 'ignore',
  });
  const port = await freePort();
  const pebble = {
    ...{ listenAddress: `127.0.0.1:${port}`, managementListenAddress: `127.0.0.1:${await freePort()}` },
    ...{ certificate, privateKey, httpPort: 5002, tlsPort: 5001, ocspResponderURL: '' },
    externalAccountBindingRequired: false,
  };
  const config = join(folder, 'pebble.json');
  await writeFile(config, JSON.stringify({ pebble }));
  const env = {
    PATH: process.env.PATH ?? '',
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: '0',
    PEBBLE_AUTHZREUSE: '0',
  };
  const args = ['-config', config, '-dnsserver', `127.0.0.1:${dnsPort}`];
  const child: ChildProcess = spawn('pebble', args, { env, stdio: 'ignore' });
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 100 || child.exitCode !== null) {
      await stop();
      throw new Error('pebble does not answer');
    }
    await sleep(100);
  }
  return { url: `https://127.0.0.1:${port}/dir`, ca: certificate, stop };
}
