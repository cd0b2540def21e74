import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A name server of a test on loopback that accepts signed transfers and updates of its zones. */
export interface NameServer {
  port: number;
  tsig: { name: string; algorithm: string; secret: string };
  zones: string[];
  pid: number;
  /** Its own temporary folder, removed with it. */
  folder: string;
  stop(): Promise<void>;
}

/** Whether a program is in PATH, or at this path. */
const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(resolve(folder, program)));

/**
 * Why tests that need these programs cannot run here; undefined if they can.
 * @throws Error in the gate, where every program must be installed
 */
export function missing(...programs: string[]): string | undefined {
  const absent = programs.filter((program) => !isInstalled(program));
  if (absent.length === 0) return undefined;
  const reason = `not installed: ${absent.join(', ')}`;
  if (process.env.TEST_SKIPS === 'forbidden') throw new Error(reason);
  return reason;
}

/** Lowest ephemeral port, Linux' default. */
const FIRST_HANDED_OUT = 32_768;

/**
 * A free port of 127.0.0.1 below the ephemeral range, so that no connection of another test gets it meanwhile. UDP
 * queries of dig must not get it either: name servers share their UDP ports (SO_REUSEPORT) and so does dig, which
 * sometimes got its server's own port and read its own question as the answer.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, FIRST_HANDED_OUT);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    await new Promise((done) => server.close(done));
    return port;
  }
}

/** Listens on any free port of 127.0.0.1. @returns the port */
export const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });

/** Initial content of a test zone: SOA, NS, and the address of the NS. */
export const zoneText = (zone: string): string =>
  `$ORIGIN ${zone}.\n$TTL 600\n@ SOA ns1 hostmaster 1 3600 600 86400 300\n@ NS ns1\nns1 A 127.0.0.1\n`;

/** What differs between name servers. */
interface Program {
  zones: string[];
  /** Address to listen on at port 53; omitted: 127.0.0.1 and a free port. */
  address?: string;
  /** Additional files in the zone folder: name and content. */
  files?: Record<string, string>;
  /** Content of a zone; omitted: `zoneText`. */
  text?: ((zone: string) => string) | undefined;
  /** Name whose SOA is queried to detect that the server is ready; omitted: its first zone. */
  ready?: string;
  /** Configuration for the server's own folder, which contains `<zone>.zone` for each zone. */
  configuration(folder: string, port: number, tsig: NameServer['tsig']): string;
  /** Command line that runs it in the foreground. */
  command(configurationFile: string): [string, string[]];
}

/**
 * Starts a name server in a temporary folder and waits until it answers for its first zone.
 * @throws Error with the server's log
 */
export async function startNameServer({
  zones,
  address: own,
  files = {},
  text = zoneText,
  ready = zones[0] as string,
  configuration,
  command,
}: Program): Promise<NameServer> {
  const folder = await mkdtemp(join(tmpdir(), 'zoneward-dns-'));
  const address = own ?? '127.0.0.1';
  const port = own ? 53 : await freePort();
  const tsig = { name: 'zoneward-test', algorithm: 'hmac-sha256', secret: randomBytes(32).toString('base64') };
  for (const zone of zones) await writeFile(join(folder, `${zone}.zone`), text(zone));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const file = join(folder, 'server.conf');
  await writeFile(file, configuration(folder, port, tsig));
  const child = spawn(...command(file), { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-20_000);
    });
  }
  const exited = new Promise((done) => child.once('exit', done));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  for (let attempt = 0; !answers(address, port, ready); attempt++) {
    if (ended(child) || attempt > 100) {
      await stop();
      throw new Error(`the name server did not start:\n${log}`);
    }
    await sleep(50);
  }
  return { port, tsig, zones, pid: child.pid as number, folder, stop };
}

const ended = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

function answers(address: string, port: number, zone: string): boolean {
  try {
    const options = [`@${address}`, '-p', String(port), '+tcp', '+short', '+tries=1', '+time=1'];
    return execFileSync('dig', [...options, zone, 'SOA'], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
  } catch {
    return false;
  }
}

/** Why BIND cannot be tested here, if so. */
export const bindMissing = (): string | undefined => missing('named', 'dig');

/** What every one of them has, on loopback alone. @param more statements of one alone */
const optionsOf = (folder: string, port: number, more = ''): string => `options {
  directory "${folder}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  pid-file none;
  session-keyfile none;
  recursion no;
  dnssec-validation no;
  notify no;
  ${more}
};
controls { };`;

/**
 * BIND 9 as primary of the zones.
 * @param checkNames `fail` is BIND's default: it refuses addresses at names such as `_name`
 * @param ofZone further statements of each zone, such as `dnssec-policy default;`
 */
export const startBind = ({
  zones,
  checkNames = 'ignore',
  ofZone = '',
  text,
}: {
  zones: string[];
  checkNames?: 'fail' | 'ignore';
  ofZone?: string;
  text?: (zone: string) => string;
}): Promise<NameServer> =>
  startNameServer({
    zones,
    text,
    command: (file) => ['named', ['-g', '-n', '1', '-c', file]],
    configuration: (folder, port, tsig) => `
key "${tsig.name}" { algorithm ${tsig.algorithm}; secret "${tsig.secret}"; };
${optionsOf(folder, port, `check-names primary ${checkNames}; allow-transfer { key "${tsig.name}"; };`)}
${zones.map((zone) => `zone "${zone}" { type primary; file "${zone}.zone"; allow-update { key "${tsig.name}"; }; ${ofZone} };`).join('\n')}
`,
  });

/** BIND 9 as secondary of a zone, which it transfers with a key from a primary on loopback. */
export const startSecondary = (
  primary: number,
  key: { name: string; algorithm: string; secret: string },
  zone: string,
): Promise<NameServer> =>
  startNameServer({
    zones: [],
    ready: zone,
    command: (file) => ['named', ['-g', '-n', '1', '-c', file]],
    configuration: (folder, port) => `
key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };
${optionsOf(folder, port)}
zone "${zone}" { type secondary; file "${zone}.zone"; primaries { 127.0.0.1 port ${primary} key "${key.name}"; }; };
`,
  });
