// The benchmark: `npm run bench`, on SQLite, or `DATABASE_URL=postgres://… npm run bench` on a server (in a temporary
// database). Everything listens on loopback and is removed at the end. To reduce noise, compared jobs alternate over
// several rounds; medians are printed.
//   BENCH_SECONDS   length of one measurement, default 2
//   BENCH_ROUNDS    repetitions of each, default 5
//   BENCH_PROFILE   directory for CPU profiles of the service (open them in the developer tools of a browser)
//   BENCH_ONLY      `creates`: only the rate of record creates; `lists`: only lists beside their floor
import { fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { figure } from './figures.mjs';
import { startPowerdns } from './powerdns.mjs';
import { seed } from './seed.mjs';
import { size } from './short.mjs';
import { besides, kindOf } from './sql.mjs';

const SECONDS = Number(process.env.BENCH_SECONDS ?? size(2, 0.1));
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? size(5, 1));
const PROFILE = process.env.BENCH_PROFILE;
const ONLY = process.env.BENCH_ONLY;
const DATABASE_URL = process.env.DATABASE_URL;
const KIND = DATABASE_URL ? kindOf(DATABASE_URL) : 'sqlite';
const POSTGRES_URL =
  KIND === 'postgresql'
    ? DATABASE_URL
    : (process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres');
const CONNECTIONS = 24;
// V8's compilers need a number of requests rather than time; the time is a limit for slow machines
const WARM = { count: size(8000, 24), ms: 8000 };
const CREATES = size(150, 24);
/** Creates of a single writer. */
const ALONE = size(30, 2);
// warm-up creates, in a separate zone: a long-running service has its code compiled
const WARM_CREATES = { count: size(600, 24), ms: 12_000 };
/** Records of the zones whose lists are filtered. */
const FILTERED = [size(100_000, 200), 100];
/** Share of the plainest handler of Nest (docs/decisions/0019-lists-beside-nest.md). */
const GOAL = 0.7;
/** Share of the rate of PowerDNS alone with its PostgreSQL backend, the common one. */
const CREATE_GOAL = 0.4;
const LIMIT_MS = 900_000;

const cleanups = [];
async function cleanUp() {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup().catch((error) => console.error(error.message));
}

/** Starts a script of this folder as a process and returns its first message. */
async function start(file, args = []) {
  const child = fork(join(import.meta.dirname, file), args);
  cleanups.push(async () => void child.kill('SIGKILL'));
  const ended = new Promise((_, reject) => child.once('exit', () => reject(new Error(`${file} ended`))));
  ended.catch(() => undefined);
  const next = () => Promise.race([ended, new Promise((resolve) => child.once('message', resolve))]);
  return { child, next };
}

/** The service on an empty database of the selected kind, then seeded. */
async function startSeeded(size) {
  let databaseUrl = 'sqlite:bench.db';
  if (KIND !== 'sqlite') {
    const own = await besides(DATABASE_URL);
    cleanups.push(own.drop);
    databaseUrl = own.url;
  }
  const service = await startThrowaway(
    {
      DATABASE_URL: databaseUrl,
      ADMIN_USERNAME: 'admin',
      ADMIN_PASSWORD: 'correct-horse-battery-9',
      // the logins come from many networks
      TRUSTED_PROXIES: '127.0.0.1/32',
    },
    PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${PROFILE}`] : [],
  );
  cleanups.push(service.stop);
  const url = KIND === 'sqlite' ? `sqlite:${join(service.dataDir, 'bench.db')}` : databaseUrl;
  const { pid } = service;
  const port = Number(new URL(service.url).port);
  return { url: service.url, port, pid, databaseUrl: url, tokens: await seed(url, size) };
}

const bearer = (token) => ({ authorization: `Bearer ${token}` });
const get = async (port, path, token) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: token ? bearer(token) : {} });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};
const post = async (service, path, body) => {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { ...bearer(service.tokens.operator), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (answer.code !== 0) throw new Error(`${path}: ${answer.msg}`);
  return answer.data;
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/**
 * CPU time of a process so far in microseconds, NaN without /proc: unlike the clock it excludes other load on the
 * machine.
 */
function cpuOf(pid) {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  const [user, system] = readFileSync(file, 'utf8').split(') ').at(-1).split(' ').slice(11, 13).map(Number);
  return (user + system) * 10_000;
}

/** Runs the jobs alternately, round after round. @returns medians by name, and the median of `a/b` of the same round */
async function compare(load, jobs, { rounds = ROUNDS, warm = true } = {}) {
  const measure = async (job) => {
    const before = cpuOf(job.pid);
    load.child.send(job);
    const { result, error } = await load.next();
    if (error) throw new Error(error);
    return { ...result, cpu: (cpuOf(job.pid) - before) / result.requests };
  };
  if (warm) for (const job of Object.values(jobs)) await measure({ ...job, ...WARM });
  const seen = Object.fromEntries(Object.keys(jobs).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, job] of Object.entries(jobs)) seen[name].push(await measure({ ...job, ...job.next?.(round) }));
  }
  const of = (name) =>
    Object.fromEntries(
      ['rps', 'p50', 'p99', 'cpu'].map((key) => [key, median(seen[name].map((result) => result[key]))]),
    );
  const ratio = (a, b) => median(seen[a].map((result, i) => result.rps / seen[b][i].rps));
  return { of, ratio };
}

const cell = (value, width) => String(value).padStart(width);
const percent = (ratio) => `${(ratio * 100).toFixed(0)} %`;
const WIDTHS = [9, 9, 9, 9, 10, 12];
const line = (label, cells) => label.padEnd(44) + cells.map((value, i) => cell(value, WIDTHS[i])).join('');
const HEAD = line('', ['req/s', 'p50 ms', 'p99 ms', 'CPU us', 'of floor', 'of Express']);
function row(label, { rps, p50, p99, cpu }, ofFloor = '', ofExpress = '') {
  const micros = Number.isNaN(cpu) ? '' : Math.round(cpu);
  console.log(line(label, [Math.round(rps), p50.toFixed(2), p99.toFixed(2), micros, ofFloor, ofExpress]));
}

/** Rate of record creates: one by one, and in one list. */
async function creates(load, service) {
  await writes(load, service, 'lmdb');
  await writes(load, service, 'gpgsql', CREATE_GOAL);
}

async function main() {
  console.log(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, ${KIND}, load ${loadavg()[0].toFixed(1)}`,
  );
  console.log(`${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s each in turns, medians\n`);
  if (ONLY === 'creates') {
    console.log(HEAD);
    const service = await startSeeded({ domains: 100, records: 0, permissions: [100] });
    return creates(await start('load.mjs'), service);
  }
  const large = await startSeeded({
    domains: 10_000,
    records: size(10_000, 100),
    permissions: [100, 1000, 10_000],
    filtered: FILTERED,
  });
  const floor = await start('floor.mjs', [large.databaseUrl, 'http']);
  const floorPort = await floor.next();
  const handler = await start('floor.mjs', [large.databaseUrl, 'express']);
  const handlerPort = await handler.next();
  const frame = await start('floor.mjs', [large.databaseUrl, 'nest']);
  const framePort = await frame.next();
  const express = await start('express.mjs');
  const expressPort = await express.next();
  const load = await start('load.mjs');
  const timed = { connections: CONNECTIONS, ms: SECONDS * 1000 };
  const ask = ({ port, pid }, path, token) => ({ ...timed, port, pid, path, headers: bearer(token) });

  /** Compares the service with what answers the same on one route, after checking that it does. */
  const beside = async (path, token) => {
    const answer = await get(large.port, path, token);
    for (const port of [floorPort, framePort])
      if (!isDeepStrictEqual(answer, await get(port, path, token)))
        throw new Error(`${path}: the floor does not answer what the service answers; bench/floor.mjs must follow it`);
    express.child.send({ path: path.split('?')[0], data: answer });
    await express.next();
    return compare(load, {
      service: ask(large, path, token),
      floor: ask({ port: floorPort, pid: floor.child.pid }, path, token),
      handler: ask({ port: handlerPort, pid: handler.child.pid }, path, token),
      frame: ask({ port: framePort, pid: frame.child.pid }, path, token),
      express: ask({ port: expressPort, pid: express.child.pid }, path, token),
    });
  };
  const print = (title, { of, ratio }) => {
    row(title, of('service'), percent(ratio('service', 'floor')), percent(ratio('service', 'express')));
    row('  floor: node:http and the driver', of('floor'), '', percent(ratio('floor', 'express')));
    row('  the same within a handler of Express 5', of('handler'), percent(ratio('handler', 'floor')));
    row('  the same within a handler of Nest', of('frame'), percent(ratio('frame', 'floor')));
    row('  bare Express 5, equal JSON', of('express'));
    const place = `${title.split(' ')[0]}s, ${KIND}`;
    figure('lists', 'the service', place, Math.round(of('service').rps));
    figure('lists', 'the plainest handler of Nest', place, Math.round(of('frame').rps));
    figure('lists', 'the plainest handler of Express', place, Math.round(of('handler').rps));
    return ratio('service', 'floor');
  };

  console.log(HEAD);
  const records = await beside('/api/domains/1/records?limit=20', large.tokens.pipeline);
  const reached = print('record list, 20 of 10 000, by token', records);
  const list = '/api/domains?limit=20';
  const domains = await beside(list, large.tokens.users[1000]);
  const domainsReached = print('domain list, 20 of 1 000 permitted of 10 000', domains);

  const tell = () => {
    console.log('');
    for (const [what, share, { of, ratio }] of [
      ['record list', reached, records],
      ['domain list', domainsReached, domains],
    ]) {
      const within = `${percent(ratio('service', 'handler'))} within Express, ${percent(ratio('service', 'frame'))} within Nest`;
      console.log(`${what}: ${percent(share)} of the floor, ${within} (goal: at least ${percent(GOAL)})`);
      const byCpu = (other) => percent(of(other).cpu / of('service').cpu);
      if (!Number.isNaN(of('service').cpu))
        console.log(
          `  by processor time, which a busy machine disturbs less: ${byCpu('floor')}, ${byCpu('handler')}, ${byCpu('frame')}`,
        );
    }
  };
  if (ONLY === 'lists') return tell();
  const small = await startSeeded({ domains: 100, records: 0, permissions: [100] });
  const sizes = await compare(load, {
    small: ask(small, list, small.tokens.users[100]),
    large: ask(large, list, large.tokens.users[100]),
  });
  row('domain list, 100 permitted of    100', sizes.of('small'));
  row('domain list, 100 permitted of 10 000', sizes.of('large'));
  const rights = await compare(load, {
    single: ask(large, list, large.tokens.users[10_000]),
    admin: ask(large, list, large.tokens.operator),
  });
  row('domain list, 10 000 single permissions', rights.of('single'));
  row('domain list, administrator', rights.of('admin'));
  const said = await filters(load, (path, more) => ({ ...ask(large, path, large.tokens.operator), ...more }));
  await creates(load, large);
  await logins(large);

  const flat = sizes.ratio('large', 'small');
  tell();
  for (const line of said) console.log(line);
  const cost = rights.ratio('admin', 'single');
  console.log(
    `domain list with 10 000 single permissions: ${cost.toFixed(2)} times what an administrator's costs (goal: at most 2)`,
  );
  console.log(`domain list: ${percent(flat)} of the speed at 100 domains when there are 10 000 (goal: 80 % to 120 %)`);
}

/** Cost of filters and a keyword search in a zone of 100 000 records, compared with one of 100. @returns the summary */
async function filters(load, ask) {
  const [large, small] = ['/api/domains/2/records?limit=20', '/api/domains/3/records?limit=20'];
  const said = [];
  for (const [what, filter] of [
    ['host', '&host=host-7'],
    ['type', '&type=A'],
  ]) {
    const seen = await compare(load, { small: ask(small + filter), large: ask(large + filter) });
    row(`records by ${what}, 20 of     100`, seen.of('small'));
    row(`records by ${what}, 20 of 100 000`, seen.of('large'));
    said.push(
      `records by ${what}: ${seen.ratio('small', 'large').toFixed(2)} times the cost at 100 when there are 100 000 (goal: at most 1.5)`,
    );
  }
  for (const [what, keyword] of [
    ['that nothing has', 'zq-nowhere'],
    ['that 20 have', 'host-4321'],
    ['that all have', 'host'],
  ]) {
    const { of } = await compare(
      load,
      { all: ask(`${large}&keyword=${keyword}`, { connections: 1 }) },
      { warm: false },
    );
    row(`keyword ${what}, of 100 000`, of('all'));
    said.push(`keyword ${what}: ${of('all').p50.toFixed(1)} ms of 100 000 records, p50 (goal: at most 30)`);
  }
  return said;
}

/**
 * Effect of 20 logins a second on other requests, and whether unknown names can be recognised by their response time.
 */
async function logins({ port }) {
  const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
  const { next } = await start('logins.mjs', [String(port)]);
  const r = await next();
  const times = r.busy.p99 / r.idle.p99;
  console.log(`\nGET /api/auth/me at 100 a second: p99 ${ms(r.idle.p99)} (p50 ${ms(r.idle.p50)})`);
  const busy = `p99 ${ms(r.busy.p99)} (p50 ${ms(r.busy.p50)}), ${times.toFixed(1)} times (goal: below 5)`;
  console.log(`  while ${r.offered} logins arrive at 20 a second: ${busy}`);
  console.log(`  of them ${r.accepted.count} accepted, p50 ${ms(r.accepted.p50)}, p99 ${ms(r.accepted.p99)}`);
  console.log(`  ${r.turned.count} answered 429 after p50 ${ms(r.turned.p50)}, p99 ${ms(r.turned.p99)}`);
  console.log(`  ${r.withoutRetryAfter} of these without Retry-After; ${r.others} others`);
  console.log(`wrong password, medians: known name ${ms(r.known)}, unknown name ${ms(r.unknown)}`);
}

/**
 * Record creates through the service, compared with the same writes sent to the PowerDNS API, with one of its backends.
 * @param goal share of the rate of PowerDNS alone, if there is a goal
 */
async function writes(load, service, backend, goal) {
  const powerdns = await startPowerdns(backend, POSTGRES_URL);
  if (!powerdns)
    return console.log(`record create: left out, pdns-server with its ${backend} backend is not there, or no database`);
  cleanups.push(powerdns.stop);
  const account = await post(service, '/api/accounts', {
    provider: 'powerdns',
    name: `bench ${backend}`,
    credentials: { url: powerdns.url, api_key: powerdns.key },
  });
  const zone = async (name) => post(service, '/api/domains', { name, account_id: account.id, create: true });
  const [through, straight] = [await zone(`through-${backend}.example`), await zone(`straight-${backend}.example`)];
  const warm = await zone(`warm-${backend}.example`);
  const rrset = {
    name: `r{n}.${straight.name}.`,
    type: 'A',
    ttl: 600,
    changetype: 'REPLACE',
    records: [{ content: '192.0.2.1', disabled: false }],
  };
  // a fixed number of writes: a growing zone gets slower, and both zones must grow alike
  const common = { connections: CONNECTIONS, count: CREATES, next: (round) => ({ first: (round + 1) * 10_000 }) };
  const creation = (domain) => ({
    ...common,
    port: service.port,
    pid: service.pid,
    method: 'POST',
    path: `/api/domains/${domain.id}/records`,
    headers: bearer(service.tokens.operator),
    body: JSON.stringify({ host: 'r{n}', type: 'A', value: '192.0.2.1', ttl: 600 }),
  });
  load.child.send({ ...creation(warm), ...WARM_CREATES });
  const { error } = await load.next();
  if (error) throw new Error(error);
  const straightly = {
    ...common,
    connections: 8, // it closes each connection after its answer, and accepts few new ones at once
    port: powerdns.port,
    pid: powerdns.pid,
    method: 'PATCH',
    path: `/api/v1/servers/localhost/zones/${straight.name}.`,
    headers: { 'x-api-key': powerdns.key },
    body: JSON.stringify({ rrsets: [rrset] }),
  };
  const jobs = { service: creation(through), powerdns: straightly };
  const { of, ratio } = await compare(load, jobs, { rounds: ROUNDS + 1, warm: false });
  row(`record create at PowerDNS (${backend})`, of('service'));
  row('  the same PATCH straight at PowerDNS', of('powerdns'));
  const drawn = (writers, seen) => {
    figure('creates', 'through the service', `${backend}, ${writers}`, Math.round(seen('service').rps));
    figure('creates', 'PowerDNS alone', `${backend}, ${writers}`, Math.round(seen('powerdns').rps));
  };
  drawn('many writers', of);
  const wanted = goal ? ` (goal: at least ${percent(goal)})` : '';
  console.log(`record create (${backend}): ${percent(ratio('service', 'powerdns'))} of PowerDNS alone${wanted}`);
  const alone = (job) => ({
    ...job,
    connections: 1,
    count: ALONE,
    next: (round) => ({ first: (round + 50) * 10_000 }),
  });
  const one = await compare(
    load,
    { service: alone(jobs.service), powerdns: alone(straightly) },
    { rounds: Math.min(ROUNDS, 3), warm: false },
  );
  drawn('one writer', one.of);
  row('  one writer alone, through the service', one.of('service'));
  row('  one writer alone, straight at PowerDNS', one.of('powerdns'));
  console.log(
    `  one writer alone: ${percent(one.ratio('service', 'powerdns'))} of PowerDNS alone; load ${loadavg()[0].toFixed(1)}`,
  );
}

const late = setTimeout(() => {
  console.error('the benchmark takes too long on this machine; lower BENCH_SECONDS or BENCH_ROUNDS');
  process.exitCode = 1;
  void cleanUp().then(() => process.exit(1));
}, LIMIT_MS);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void cleanUp().then(() => process.exit(1)));
try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  clearTimeout(late);
  await cleanUp();
}
