// Runs the bundle (dist/bundle.cjs) with V8's code cache, which saves a third of the processor time and a quarter of the
// memory of a start. Plain CommonJS without dependencies.
//   node dist/zoneward.cjs                      starts the service
//   node dist/zoneward.cjs admin <command>      runs a command of the administration
//   node dist/zoneward.cjs --write-code-cache   stores the code cache of this version of Node next to the bundle, if it is
//                                               missing and the folder can be written
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

function read(file: string): Buffer | undefined {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
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
  if (fs.existsSync(CACHE) || !isWritable(__dirname)) return;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'zoneward-code-cache-'));
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
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
  const part = `${CACHE}.${process.pid}`;
  fs.writeFileSync(part, script.createCachedData());
  // root may store the cache with a strict umask, and the service runs as another user
  fs.chmodSync(part, 0o644);
  fs.renameSync(part, CACHE);
  process.exit(0);
}

function main(word: string | undefined): Promise<unknown> {
  if (word === WRITE) return writeCodeCache();
  const script = compile(read(CACHE));
  // after the code cache was read: V8 rejects a cache that was made with other flags
  v8.setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
  if (word !== 'admin') return load(script).startService();
  process.argv.splice(2, 1);
  return load(script).runAdmin();
}

/** Resolves with the address of the console when the service listens. */
export const running = main(process.argv[2]);
