// One, two and four processes over one PostgreSQL (DATABASE_URL), without Redis and with it (REDIS_URL): lists of
// records by token and creates in different zones, a second each way of BENCH_SECONDS (5), at a provider without
// latency; and how long the death of a process holds up changes of the zones that it was changing. The share of the
// machine's processors that was busy says whether there was room for more processes; the load generator, the database
// and the provider are on the same machine.
//   BENCH_SHARE   percent of one processor that each process may use (Linux control groups, as root): small machines of
//                 its own, as it were, beside a database that is not busy
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { figure } from './figures.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';
import { besides } from './sql.mjs';

const {
  DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  REDIS_URL = 'redis://127.0.0.1:6379',
  BENCH_SECONDS = size(5, 0.4),
  BENCH_SHARE,
} = process.env;
const MS = Number(BENCH_SECONDS) * 1000;
const PROCESSES = size([1, 2, 4], [2]);
/** A multiple of every number of processes: each zone has one client, at one process. */
const ZONES = size(24, 4);
const ROWS = 50;
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const GIVE_UP_MS = 120_000;

const [standIn, load] = ['stand-in.mjs', 'load.mjs'].map((file) => fork(join(import.meta.dirname, file)));
const [vendor] = await once(standIn, 'message');

/** ms that the processors have worked and have rested. */
function processors() {
  const times = cpus().map(({ times }) => times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  return { idle, all: times.reduce((sum, one) => sum + Object.values(one).reduce((a, b) => a + b), 0) };
}

async function under(job, drawn) {
  const before = processors();
  load.send({ connections: ZONES, ms: MS, ...job });
  const [{ result, error }] = await once(load, 'message');
  if (error) throw new Error(error);
  if (drawn) figure('replicas', ...drawn, Math.round(result.rps));
  const after = processors();
  const busy = Math.round(100 * (1 - (after.idle - before.idle) / (after.all - before.all)));
  return `${result.rps.toFixed(0)} a second (p99 ${result.p99.toFixed(0)} ms, processors ${busy} % busy)`;
}

/** µs in which a process gets its share of a processor. */
const PERIOD = 20_000;

/** Gives a process its share of a processor, if it has one. @returns what gives it all again, once it has ended */
function share(pid) {
  if (!BENCH_SHARE) return () => {};
  const old = existsSync('/sys/fs/cgroup/cpu');
  const group = join('/sys/fs/cgroup', old ? 'cpu' : '', `bench-${pid}`);
  mkdirSync(group);
  const quota = (PERIOD * Number(BENCH_SHARE)) / 100;
  const limits = old ? { 'cpu.cfs_period_us': PERIOD, 'cpu.cfs_quota_us': quota } : { 'cpu.max': `${quota} ${PERIOD}` };
  for (const [file, value] of Object.entries({ ...limits, 'cgroup.procs': pid }))
    writeFileSync(join(group, file), String(value));
  return () => rmdirSync(group);
}

/** A client of one process. */
const clientOf = (url, token) => async (method, path, body) => {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  const { msg, data } = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${msg}`);
  return data;
};

/** Zones with records. @returns the paths of their records */
async function fill(send) {
  await send('PUT', '/api/settings/security', NO_RATES);
  const credentials = { url: `http://127.0.0.1:${vendor}`, api_key: 'bench' };
  const account = await send('POST', '/api/accounts', { provider: 'powerdns', name: 'replicas', credentials });
  const paths = [];
  for (let i = 0; i < ZONES; i++) {
    const name = `z${i}-${process.hrtime.bigint()}.example`;
    const { id } = await send('POST', '/api/domains', { name, account_id: account.id, create: true });
    const values = Array.from({ length: ROWS }, (_none, n) => ({ host: `h${n}`, type: 'A', value: '192.0.2.1' }));
    const changes = values.map((record) => ({ op: 'create', ...record }));
    await send('POST', `/api/domains/${id}/records/batch`, { changes });
    paths.push(`/api/domains/${id}/records`);
  }
  return paths;
}

/** Kills the first of the processes while it changes every zone. @returns ms until each takes a change from another */
async function death(processes, paths, headers, token) {
  const [victim, survivor] = processes;
  const body = JSON.stringify({ host: 'd{n}', type: 'A', value: '192.0.2.1' });
  load.send({ port: Number(new URL(victim.url).port), method: 'POST', path: paths, headers, body, connections: ZONES });
  await sleep(500);
  process.kill(victim.pid, 'SIGKILL');
  const dead = performance.now();
  await once(load, 'message');
  const send = clientOf(survivor.url, token);
  const after = async (path) => {
    for (;;) {
      const made = await send('POST', path, { host: 'after', type: 'A', value: '192.0.2.2' }).catch(() => null);
      const ms = performance.now() - dead;
      if (made || ms > GIVE_UP_MS) return ms;
      await sleep(100);
    }
  };
  const times = (await Promise.all(paths.map(after))).toSorted((a, b) => a - b);
  return `half of the zones after ${times[ZONES >> 1].toFixed(0)} ms, all after ${times.at(-1).toFixed(0)} ms`;
}

async function measure(count, redis) {
  const own = await besides(DATABASE_URL);
  const env = {
    DATABASE_URL: own.url,
    ...(redis && { REDIS_URL }),
    SECRET_KEY: 'the-same-key-of-all-replicas-0123456789',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  };
  const processes = [];
  const ended = [];
  try {
    for (let i = 0; i < count; i++) processes.push(await startThrowaway(env));
    for (const { pid } of processes) ended.push(share(pid));
    const { url } = processes[0];
    const session = (await clientOf(url)('POST', '/api/auth/login', ADMIN)).token;
    const paths = await fill(clientOf(url, session));
    const { token } = await clientOf(url, session)('POST', '/api/tokens', { name: 'replicas' });
    const headers = { authorization: `Bearer ${token}` };
    const port = processes.map((one) => Number(new URL(one.url).port));
    const lists = { port, path: paths.map((path) => `${path}?limit=${ROWS}`), headers };
    const body = JSON.stringify({ host: 'w{n}', type: 'A', value: '192.0.2.1' });
    const creates = { port, method: 'POST', path: paths, headers, body };
    for (const job of [lists, creates]) await under({ ...job, ms: MS / 2, first: 1_000_000 });
    const place = `${count} ${redis ? 'with' : 'without'} Redis`;
    console.log(`${place}: lists ${await under(lists, ['lists of 50 records', place])}`);
    console.log(`  creates ${await under(creates, ['creates', place])}`);
    if (count > 1) console.log(`  one dies: ${await death(processes, paths, headers, token)}`);
  } finally {
    for (const one of processes) await one.stop();
    for (const unshare of ended) unshare();
    await own.drop();
  }
}

try {
  for (const redis of size([false, true], [true])) for (const count of PROCESSES) await measure(count, redis);
} finally {
  standIn.kill();
  load.kill();
}
