// Runs the bundle (dist/bundle.cjs) with V8's code cache, which saves a third of the processor time and a quarter of the
// memory of a start. Plain CommonJS without dependencies.
//   node dist/zoneward.cjs                      starts the service
//   node dist/zoneward.cjs admin <command>      runs a command of the administration
//   node dist/zoneward.cjs --write-code-cache   stores the code cache of this version of Node next to the bundle, unless
//                                               V8 accepts the one that is there or the folder cannot be written
import crypto = require('node:crypto');
import fs = require('node:fs');

import { createRequire, wrap } from 'node:module';

import os = require('node:os');
import path = require('node:path');
import v8 = require('node:v8');
import vm = require('node:vm');

type Bundle = typeof import('./entry.js', { with: { 'resolution-mode': 'import' }});
type Compiled = (exports: object, require: NodeJS.Require, module: object, file: string, folder: string) => void;

/** Maximum share of garbage in the heap, in percent of the memory in use; Node's default is up to 300. */
const GARBAGE_PERCENT = 60;

const WRITE = '--write-code-cache';
const BUNDLE = path.join(__dirname, 'bundle.cjs');
/** Checksum of the bundle, set by scripts/bundle.mjs: V8 compares only the length of the source with that of the cache. */
const CHECKSUM = '__CHECKSUM__';
/** A code cache is valid for one bundle and one version of Node. */
const CACHE = path.join(__dirname, `bundle-${CHECKSUM}-${process.version}-${process.arch}.cache`);

const HASH_BYTES = 32;
const hashOf = (data: Uint8Array): Buffer => crypto.createHash('sha256').update(data).digest();

/** Reads the code cache, which ends with its hash, because V8 crashes on a damaged one. Undefined: missing or damaged. */
function readCache(): Buffer | undefined {
  try {
    const stored = fs.readFileSync(CACHE);
    const data = stored.subarray(0, -HASH_BYTES);
    return hashOf(data).equals(stored.subarray(-HASH_BYTES)) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces a file completely or not at all, also at a power failure. @param part name of the unfinished file */
function writeWhole(file: string, part: string, chunks: Buffer[]): void {
  const handle = fs.openSync(part, 'w');
  try {
    for (const chunk of chunks) fs.writeFileSync(handle, chunk);
    // root may store the cache with a strict umask, and the service runs as another user
    fs.fchmodSync(handle, 0o644);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(part, file);
}

function compile(cachedData: Buffer | undefined): vm.Script {
  // the bundle is ASCII: as latin1 it takes one byte a character in memory
  const source = wrap(fs.readFileSync(BUNDLE, 'latin1'));
  return new vm.Script(source, { filename: BUNDLE, ...(cachedData && { cachedData }) });
}

/** The exports of the bundle. */
function load(script: vm.Script): Bundle {
  const bundle = { exports: {} as Bundle };
  const run = script.runInThisContext() as Compiled;
  run(bundle.exports, createRequire(BUNDLE), bundle, BUNDLE, __dirname);
  return bundle.exports;
}

function isWritable(folder: string): boolean {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Stores the code cache. The cache has the functions that a start compiles, so the service is started once, on an empty
 * SQLite file in a temporary folder.
 */
async function writeCodeCache(): Promise<void> {
  if (!isWritable(__dirname)) return;
  const stored = readCache();
  // V8 rejects one that was made with other flags, such as those of NODE_OPTIONS
  if (stored && !compile(stored).cachedDataRejected) return;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'zoneward-code-cache-'));
  const part = `${CACHE}.${process.pid}`;
  process.once('exit', () => {
    for (const left of [folder, part]) fs.rmSync(left, { recursive: true, force: true });
  });
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
    process.on(signal, () => process.exit(code));
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!/^(PATH|TMPDIR)$/.test(name)) delete process.env[name];
  const own = {
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: folder,
    DATABASE_URL: 'sqlite:code-cache.db',
    LOG_LEVEL: 'error',
  };
  Object.assign(process.env, own);
  const script = compile(undefined);
  await load(script).startService();
  const data = script.createCachedData();
  writeWhole(CACHE, part, [data, hashOf(data)]);
  process.exit(0);
}

/** The first minor version of each major version of Node that runs the bundle; later major versions do. */
const OLDEST_MINORS: Record<string, number> = { 20: 19, 22: 22, 24: 15 };

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || minor >= (OLDEST_MINORS[major] ?? Number.POSITIVE_INFINITY);
}

/** Prints a message and ends the process with 2. */
function refuse(words: string): never {
  process.stderr.write(`${words}\n`);
  process.exit(2);
}

function main(word: string | undefined): Promise<unknown> {
  if (!isSupported(process.versions.node))
    refuse(`Zoneward needs Node.js 20.19, 22.22, 24.15 or a later version of these; this is ${process.version}`);
  if (word === WRITE) return writeCodeCache();
  if (word !== undefined && word !== 'admin')
    refuse(`unknown argument ${word}; usage: node dist/zoneward.cjs [admin <command> | ${WRITE}]`);
  const script = compile(readCache());
  // after the code cache was read: V8 rejects a cache that was made with other flags
  v8.setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
  if (word !== 'admin') return load(script).startService();
  process.argv.splice(2, 1);
  return load(script).runAdmin();
}

/** Resolves with the address of the console when the service listens. */
export const running = main(process.argv[2]);
