// Measures starts of the service on a migrated SQLite file: time from `node` to listening, processor time and memory.
//   npm run bench:start
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { size } from './short.mjs';

const ENTRY = join(import.meta.dirname, '../dist/zoneward.cjs');
const hasCache = readdirSync(dirname(ENTRY)).some((file) => file.endsWith(`${process.version}-${process.arch}.cache`));
const RUNS = size(9, 1);

const dataDir = mkdtempSync(join(tmpdir(), 'zoneward-start-'));
const own = { MALLOC_ARENA_MAX: '2', HOST: '127.0.0.1', PORT: '0', DRAIN_MS: '0', DATABASE_URL: 'sqlite:zoneward.db' };
const env = { PATH: process.env.PATH, ...own, DATA_DIR: dataDir };

/** Starts and stops the service once. @returns ms until it listens, ms of processor time until then, MiB of memory */
async function start() {
  const begun = performance.now();
  const child = spawn(process.execPath, [ENTRY], { cwd: dataDir, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('"msg":"listening"')) resolve();
    });
    void ended.then((code) => reject(new Error(`the service ended with ${code}:\n${output}`)));
  });
  const ready = performance.now() - begun;
  const [, fields] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
  child.kill('SIGTERM');
  await ended;
  return { ready, processor: (user + system) * 10, memory: kib / 1024 };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
try {
  await start(); // migrates
  const runs = [];
  for (let i = 0; i < RUNS; i++) runs.push(await start());
  const of = (key) => median(runs.map((run) => run[key])).toFixed(0);
  console.log(`${hasCache ? 'with' : 'without'} the code cache, median of ${RUNS}:`);
  console.log(`listening after ${of('ready')} ms, ${of('processor')} ms of processor time, ${of('memory')} MiB`);
} finally {
  rmSync(dataDir, { recursive: true });
}
