// Four processes on one database take leases, write under them and give them back, as fast as they can. Then one is
// killed, another one frozen until others have its leases and have written, and continued: what it writes then has to
// be refused. Runs on PostgreSQL and MariaDB (TEST_POSTGRES_URL, TEST_MYSQL_URL), or on the server of DATABASE_URL.
//   BENCH_SECONDS   length of the measurement on each, default 20
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENTITIES } from '../dist/src/entities.js';
import { parseDatabaseUrl } from '../dist/src/platform/config/config.js';
import { AppDataSource } from '../dist/src/platform/database/app-data-source.js';
import { size } from './short.mjs';
import { besides, kindOf, open } from './sql.mjs';

const {
  DATABASE_URL = '',
  TEST_POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  TEST_MYSQL_URL = 'mysql://root@127.0.0.1:3306/mysql',
  BENCH_SECONDS = size(20, 1),
} = process.env;
const PROCESSES = size(4, 2);
const NAMES = 1000;
/** Leases that each process holds at once, and how long the slow ones are held in ms. */
const AT_ONCE = 8;
const SLOW_MS = 300;
const SLOW_NAMES = ['slow0', 'slow1', 'slow2', 'slow3'];
/** How often somebody is killed, and frozen. */
const TURNS = size(2, 1);
/** In the short form the leases of who is frozen are ended in the database: they last half a minute. */
const IS_WAITED = size(true, false);
/** ms until others have written under the leases of a frozen process. */
const LIMIT_MS = 60_000;
const GOAL = 1000;

const keyOf = (name) => createHash('sha256').update(name).digest('hex');
const summed = (all) => {
  const sum = { cpu: 0, takes: 0, writes: 0, refused: 0, busy: 0, failed: 0, violations: 0 };
  for (const counts of all) for (const key of Object.keys(sum)) sum[key] += counts?.[key] ?? 0;
  return sum;
};

async function measure(url) {
  const source = new AppDataSource(ENTITIES);
  await source.open(parseDatabaseUrl(url, tmpdir()));
  await source.destroy();
  const db = open(url);
  const all = [];
  const start = async () => {
    const child = fork(join(import.meta.dirname, 'lease-holder.mjs'), [url, NAMES, AT_ONCE, SLOW_MS].map(String));
    const one = { child, counts: null };
    all.push(one);
    child.on('message', (counts) => {
      one.counts = counts;
    });
    await once(child, 'message');
    return one;
  };
  const numbers = db.prepare("SELECT name, number FROM guarded WHERE name LIKE 'slow%' ORDER BY name");
  const written = db.prepare('SELECT SUM(number) AS n FROM guarded');
  // who was frozen in the middle of a transaction keeps its rows until the database ends that
  const held = db.prepare('SELECT name FROM leases WHERE owner LIKE ? FOR UPDATE SKIP LOCKED');
  const state = async (names) =>
    (await numbers([])).flatMap(({ name, number }) => (names.includes(name) ? Number(number) : []));

  /** Freezes a process while it holds slow names. @returns which */
  async function freeze({ child }) {
    for (;;) {
      child.kill('SIGSTOP');
      await sleep(50);
      const rows = new Set((await held([`%/${child.pid}/%`])).map(({ name }) => name));
      const mine = SLOW_NAMES.filter((name) => rows.has(keyOf(name)));
      if (mine.length) return mine;
      child.kill('SIGCONT');
      await sleep(50);
    }
  }

  /** Waits until the leases of a frozen process have ended, and others have written under each. */
  async function overtake(names) {
    const before = await state(names);
    for (const name of IS_WAITED ? [] : names)
      await db.run("UPDATE leases SET expires_at = '2000-01-01T00:00:00.000Z' WHERE name = ?", [keyOf(name)]);
    for (const end = Date.now() + LIMIT_MS; ; await sleep(50)) {
      if ((await state(names)).every((number, i) => number > before[i])) return;
      if (Date.now() > end) throw new Error(`nobody has taken ${names} of a frozen process`);
    }
  }

  try {
    await db.run('CREATE TABLE guarded (name VARCHAR(20) NOT NULL PRIMARY KEY, number BIGINT NOT NULL)');
    for (const name of [...SLOW_NAMES, ...Array.from({ length: NAMES }, (_none, i) => `quick${i}`)])
      await db.run('INSERT INTO guarded (name, number) VALUES (?, 0)', [name]);
    const running = await Promise.all(Array.from({ length: PROCESSES }, start));
    const now = () => summed(all.map(({ counts }) => counts));
    const [first, begun] = [now(), performance.now()];
    await sleep(Number(BENCH_SECONDS) * 1000);
    const seen = now();
    const takes = seen.takes - first.takes;
    const rate = (takes / (performance.now() - begun)) * 1000;
    const cpu = (seen.cpu - first.cpu) / takes;
    const load = loadavg()[0].toFixed(1);

    for (let turn = 0; turn < TURNS; turn++) {
      const [victim] = running.splice(0, 1);
      victim.child.kill('SIGKILL');
      await once(victim.child, 'exit');
      running.push(await start());
      const [frozen] = running;
      await overtake(await freeze(frozen));
      frozen.child.kill('SIGCONT');
      await sleep(SLOW_MS * 2);
    }

    for (const { child } of running) child.send('end');
    await Promise.all(running.map(({ child }) => once(child, 'exit')));
    const { refused, failed, writes, violations } = summed(all.map(({ counts }) => counts));
    const lost = Math.max(0, writes - Number((await written([]))[0].n));
    const words = [
      `${rate.toFixed(0)} takes a second by ${PROCESSES} processes (goal: ${GOAL}), ${cpu.toFixed(1)} ms of the processor each, load ${load}`,
      `killed ${TURNS} times, frozen ${TURNS} times: ${refused} late writes refused, ${failed} calls failed`,
      `${violations} violations, ${lost} writes lost`,
    ];
    if (violations || lost || !refused) process.exitCode = 1;
    return words.join('; ');
  } finally {
    for (const { child } of all) child.kill('SIGKILL');
    await db.close();
  }
}

console.log('\nleases: taken, written under and given back');
for (const server of DATABASE_URL && kindOf(DATABASE_URL) !== 'sqlite'
  ? [DATABASE_URL]
  : [TEST_POSTGRES_URL, TEST_MYSQL_URL]) {
  const own = await besides(server).catch(() => null);
  if (!own) console.log(`  ${kindOf(server)}: left out, no server answers`);
  else console.log(`  ${kindOf(server)}: ${await measure(own.url).finally(own.drop)}`);
}
