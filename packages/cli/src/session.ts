import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { type Try, Zoneward } from '@zoneward/client';
import type { Command } from 'commander';
import { Failure, Interrupted } from './failures.js';
import { harmless, say } from './output.js';

interface Profile {
  url: string;
  token: string;
}
interface Profiles {
  [name: string]: Profile;
}

/** Options that every command takes. */
export interface Common {
  profile?: string;
  json?: boolean;
  debug?: boolean;
}

/** What a command works with. */
export interface Session {
  zoneward: Zoneward;
  json: boolean;
}

const stopping = new AbortController();
/** Is aborted when the command shall end. */
export const signal = stopping.signal;

/** Ends what is under way at the first Ctrl-C; the second one ends the process. */
export function endOnSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort(new Interrupted()));
}

const SHARED = 0o077;
const file = (): string =>
  process.env.ZONEWARD_CONFIG ??
  join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'zoneward', 'profiles.json');

/** @throws Failure when others could read the file, or it is no file of profiles */
function profiles(): Profiles {
  const path = file();
  if (!existsSync(path)) return {};
  if (process.platform !== 'win32' && statSync(path).mode & SHARED)
    throw new Failure(`${path} can be read by others, and has credentials in it: chmod 600 it, and make new ones`);
  try {
    // without what every object has: a profile may have any name
    return Object.setPrototypeOf(JSON.parse(readFileSync(path, 'utf8')), null) as Profiles;
  } catch {
    throw new Failure(`${path} is no file of profiles: mend it, or delete it and run zoneward login`);
  }
}

function write(all: Profiles): void {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
  // where a link leads stays where it is
  const path = existsSync(file()) ? realpathSync(file()) : file();
  const next = `${path}.${randomUUID()}`;
  // a new file: nothing is written to what others have put there
  writeFileSync(next, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, path);
}

export const profileOf = ({ profile }: Common): string => profile ?? process.env.ZONEWARD_PROFILE ?? 'default';
export const keep = (name: string, profile: Profile): void => write({ ...profiles(), [name]: profile });

/** @returns what was forgotten, if it was there */
export function forget(name: string): Profile | undefined {
  const { [name]: old, ...others } = profiles();
  if (old) write(others);
  return old;
}

const told = ({ method, path, status, requestId, ms, number }: Try): void =>
  say(
    `zoneward: ${method} ${path}: ${status ?? 'no answer'} in ${ms} ms, try ${number}, request ${harmless(requestId ?? '-')}`,
  );

/** The service at an address. @throws Failure when it is none */
export function connect(url: string, token: string | undefined, { debug }: Common): Zoneward {
  try {
    const onTry = debug ? { onTry: told } : {};
    return new Zoneward({ url, ...(token ? { token } : {}), headers: { 'User-Agent': 'zoneward-cli' }, ...onTry });
  } catch (error) {
    throw new Failure(`ZONEWARD_URL, ZONEWARD_TOKEN: ${(error as Error).message}`);
  }
}

/**
 * The service that the environment or the profile names. The token of a profile goes to the address of that profile
 * only.
 * @throws Failure when there is no address, or no token
 */
export function sessionOf(command: Command): Session {
  const common = command.optsWithGlobals<Common>();
  const { ZONEWARD_URL, ZONEWARD_TOKEN } = process.env;
  if (common.profile !== undefined && ZONEWARD_URL && ZONEWARD_TOKEN)
    throw new Failure('--profile, or ZONEWARD_URL and ZONEWARD_TOKEN: unset them, or leave it out');
  const name = profileOf(common);
  const profile = ZONEWARD_URL && ZONEWARD_TOKEN ? undefined : profiles()[name];
  const url = ZONEWARD_URL || profile?.url;
  if (!url)
    throw new Failure(`there is no profile ${harmless(name)}: zoneward login, or set ZONEWARD_URL and ZONEWARD_TOKEN`);
  const same = profile && new URL(profile.url).href === new URL(url, 'http://invalid').href;
  const token = ZONEWARD_TOKEN || (same ? profile.token : undefined);
  if (!token) throw new Failure(`there is no token for ${url}: set ZONEWARD_TOKEN, or zoneward login`);
  return { zoneward: connect(url, token, common), json: common.json === true };
}

let lines: string[] | undefined;

/** All of standard input. */
export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Asks for a line: a person without showing what is typed, a pipe for its next line. @throws Failure at its end */
export async function askSecretly(what: string): Promise<string> {
  if (!process.stdin.isTTY) {
    lines ??= (await readStdin()).toString('utf8').split('\n');
    const line = lines.shift()?.replace(/\r$/, '');
    if (!line) throw new Failure(`${what}: nothing came on standard input`);
    return line;
  }
  process.stderr.write(`${what}: `);
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  reader.on('SIGINT', () => stopping.abort(new Interrupted()));
  try {
    return await reader.question('', { signal }).catch((error) => Promise.reject(signal.reason ?? error));
  } finally {
    reader.close();
    say('');
  }
}

/** Asks a person to agree. Who is no person does not. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  reader.on('SIGINT', () => stopping.abort(new Interrupted()));
  try {
    return /^y(es)?$/i.test(await reader.question(`${question} [y/N] `, { signal }));
  } catch (error) {
    throw signal.reason ?? error;
  } finally {
    reader.close();
  }
}
