// `npm run bench`: the parts that say how fast it is, one after the other, on SQLite or on the server that DATABASE_URL
// names. `npm run bench -- --charts` measures on both servers (TEST_POSTGRES_URL, TEST_MYSQL_URL), the growth and the
// processes as well, and draws docs/charts/; `--charts=FOLDER` draws elsewhere.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const {
  TEST_POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  TEST_MYSQL_URL = 'mysql://root@127.0.0.1:3306/mysql',
} = process.env;
const PARTS = ['bench.mjs', 'large-zone.mjs', 'batch.mjs', 'parallel.mjs', 'leases.mjs'];
/** What charts need beside the parts: a program, and its database. */
const DRAWN = [
  ['bench.mjs', { DATABASE_URL: TEST_POSTGRES_URL, BENCH_ONLY: 'lists' }],
  ['bench.mjs', { DATABASE_URL: TEST_MYSQL_URL, BENCH_ONLY: 'lists' }],
  ['growth.mjs', {}],
  ['replicas.mjs', { DATABASE_URL: TEST_POSTGRES_URL }],
];

const charts = process.argv.slice(2).find((argument) => /^--charts(=|$)/.test(argument));
const unknown = process.argv.slice(2).filter((argument) => argument !== charts);
if (unknown.length) throw new Error(`${unknown} is not known; there is --charts`);
const folder = mkdtempSync(join(tmpdir(), 'zoneward-figures-'));
const figures = join(folder, 'figures');

/** Runs a program of this folder. @returns whether it ended well */
async function run(program, env, args = []) {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), ...args], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) console.error(`${program} failed`);
  return code === 0;
}

try {
  const ended = [];
  for (const part of PARTS) ended.push(await run(part, charts && { BENCH_FIGURES: figures }));
  if (charts) {
    for (const [part, env] of DRAWN) ended.push(await run(part, { ...env, BENCH_FIGURES: figures }));
    const drawn = charts.split('=')[1] ?? join(import.meta.dirname, '../docs/charts');
    ended.push(await run('charts.mjs', {}, [figures, drawn]));
  }
  process.exitCode = ended.every(Boolean) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
