// Four processes on one database under writes at three vendors, each a real PowerDNS: one quick, one that takes its
// time over every answer, one that is down more often than not. Every five seconds a process is killed, every other
// time one is frozen, too. No acknowledged write may be lost, and at the end the cache must equal every vendor. Runs
// for SOAK_SECONDS (180) on the server of DATABASE_URL (PostgreSQL or MariaDB), with REDIS_URL if it is set.
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { startPowerdns } from './powerdns.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';
import { besides, open } from './sql.mjs';

const {
  DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  REDIS_URL = '',
  SOAK_SECONDS = size(180, 1),
} = process.env;
const PROCESSES = size(4, 2);
const WRITERS = 4;
const ZONES = size(2, 1);
/** In the short form, 0, nobody is killed and no vendor is down: what was held takes a minute to come free. */
const KILL_MS = size(5000, 0);
/** How long a process is frozen: less than a lease lasts, and more. */
const FREEZE_MS = [4000, 40_000];
/** ms that the slow vendor takes for each piece of an answer. */
const SLOW_MS = 700;
const DOWN_MS = 20_000;
const UP_MS = 8000;
/** ms after which a client of a frozen process asks another one. */
const PATIENCE_MS = 20_000;
/** Maximum ms until a list or job of a killed process is finished. */
const SETTLE_MS = 180_000;
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

/** A way to a PowerDNS: `waitMs` for each piece of an answer; while `down` every connection is cut. */
async function wayTo(pdns, waitMs = 0) {
  const open = new Set();
  const way = { waitMs, down: false };
  const server = createServer((from) => {
    if (way.down) return from.destroy();
    const to = connect(pdns.port, '127.0.0.1');
    for (const socket of [from, to]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    }
    from.pipe(to);
    from.on('close', () => to.destroy());
    to.on('data', (piece) => void setTimeout(() => from.write(piece), way.waitMs));
    to.on('close', () => void setTimeout(() => from.end(), way.waitMs));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  way.url = `http://127.0.0.1:${server.address().port}`;
  way.cut = () => {
    way.down = true;
    for (const socket of open) socket.destroy();
  };
  way.close = () => {
    way.cut();
    server.close();
  };
  return way;
}

const own = await besides(DATABASE_URL);
const pdns = await startPowerdns('lmdb', DATABASE_URL);
if (!pdns) throw new Error('PowerDNS is not installed');
const env = {
  DATABASE_URL: own.url,
  ...(REDIS_URL && { REDIS_URL }),
  SECRET_KEY: 'the-same-key-of-all-replicas-0123456789',
  ADMIN_USERNAME: ADMIN.username,
  ADMIN_PASSWORD: ADMIN.password,
};
const replicas = [];
for (let i = 0; i < PROCESSES; i++) replicas.push(await startThrowaway(env));
const vendors = { quick: await wayTo(pdns), slow: await wayTo(pdns, SLOW_MS), down: await wayTo(pdns) };
let token;

/** One call to a process. @returns status 0 without an answer */
async function call(replica, method, path, body) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const answer = await fetch(replica.url + path, { method, headers, body: body && JSON.stringify(body), signal });
    return { status: answer.status, ...(await answer.json()) };
  } catch {
    return { status: 0 };
  }
}
const must = ({ status, msg, data }) => {
  if (status < 200 || status > 299) throw new Error(`${status} ${msg}`);
  return data;
};

token = must(await call(replicas[0], 'POST', '/api/auth/login', ADMIN)).token;
must(await call(replicas[0], 'PUT', '/api/settings/security', NO_RATES));
/** Zones of all vendors; `known`: host -> acknowledged value, null when deleted, undefined while nobody knows. */
const zones = [];
for (const [vendor, { url }] of Object.entries(vendors)) {
  const credentials = { url, api_key: pdns.key };
  const made = { provider: 'powerdns', name: vendor, credentials };
  const account = must(await call(replicas[0], 'POST', '/api/accounts', made));
  must(await call(replicas[0], 'PUT', `/api/accounts/${account.id}`, { sync_interval_minutes: 1 }));
  for (let i = 0; i < ZONES; i++) {
    const name = `${vendor}-${i}.example`;
    const domain = must(
      await call(replicas[0], 'POST', '/api/domains', { name, account_id: account.id, create: true }),
    );
    zones.push({ vendor, name, account, path: `/api/domains/${domain.id}`, known: new Map() });
  }
}

const empty = () => ({ acknowledged: 0, refused: 0, unanswered: 0, ms: [] });
const counts = { quick: empty(), slow: empty(), down: empty() };
let killed = 0;
let frozen = 0;
let writing = true;

/** Writes at its own hosts, so that each has one writer; uses the next process when one does not answer. */
async function writer({ vendor, path, known }, number) {
  const count = counts[vendor];
  let turn = number;
  for (let i = 0; writing; i++) {
    const host = `w${number}-${i % 50}`;
    const value = `10.${number}.${(i >> 8) & 255}.${i & 255}`;
    const gone = known.has(host) && known.get(host) !== undefined && i % 5 === 0;
    known.set(host, undefined);
    const replica = replicas[turn % PROCESSES];
    const set = `${path}/rrsets/${host}/A`;
    const begun = performance.now();
    const { status } = await (gone
      ? call(replica, 'DELETE', set)
      : call(replica, 'PUT', set, { values: [value], ttl: 300 }));
    if (status === 200) {
      known.set(host, gone ? null : value);
      count.acknowledged++;
      count.ms.push(performance.now() - begun);
      continue;
    }
    count[status ? 'refused' : 'unanswered']++;
    turn++;
    await sleep(50);
  }
}

async function killer() {
  for (let i = 0; writing; i++) {
    await sleep(KILL_MS);
    if (!writing) return;
    const at = i % PROCESSES;
    const victim = replicas[at];
    // a frozen one comes back to what others have taken over meanwhile
    if (i % 2) {
      process.kill(victim.pid, 'SIGSTOP');
      frozen++;
      await sleep(FREEZE_MS[(i >> 1) % FREEZE_MS.length]);
      process.kill(victim.pid, 'SIGCONT');
      continue;
    }
    process.kill(victim.pid, 'SIGKILL');
    killed++;
    await victim.stop();
    replicas[at] = await startThrowaway(env);
  }
}

async function outages() {
  while (writing) {
    vendors.down.cut();
    await sleep(DOWN_MS);
    vendors.down.down = false;
    await sleep(UP_MS);
  }
}

let failure = 0;
const fail = (words) => {
  failure++;
  if (failure <= 20) console.error(words);
};

/** Compares what was acknowledged, what the vendor holds and what the cache holds. */
async function compare({ name, path, known }) {
  const answer = await fetch(`${pdns.url}/api/v1/servers/localhost/zones/${name}.`, {
    headers: { 'x-api-key': pdns.key },
  });
  const { rrsets } = await answer.json();
  const held = new Map(
    rrsets
      .filter(({ type }) => type === 'A')
      .map((set) => [set.name.split('.')[0], set.records.map(({ content }) => content).join()]),
  );
  const { list } = must(await call(replicas[0], 'GET', `${path}/records`));
  const cached = new Map(list.filter(({ type }) => type === 'A').map((record) => [record.host, record.value]));
  for (const [host, value] of known) {
    const there = held.get(host) ?? null;
    if ((cached.get(host) ?? null) !== there)
      fail(`${host}.${name}: the vendor holds ${there}, the cache ${cached.get(host)}`);
    if (value !== undefined && there !== value)
      fail(`${host}.${name}: ${value} was acknowledged, the vendor holds ${there}`);
  }
  return known.size;
}

try {
  const start = Date.now();
  const killing = KILL_MS ? Promise.all([killer(), outages()]) : null;
  const all = Promise.all(zones.flatMap((zone) => Array.from({ length: WRITERS }, (_none, i) => writer(zone, i))));
  await sleep(Number(SOAK_SECONDS) * 1000);
  writing = false;
  await Promise.all([all, killing]);
  const seconds = ((Date.now() - start) / 1000).toFixed(0);
  console.log(`${seconds} s, ${PROCESSES} processes, killed ${killed} times, frozen ${frozen} times`);
  for (const [vendor, { ms, ...count }] of Object.entries(counts)) {
    ms.sort((a, b) => a - b);
    const [p50, p99] = [0.5, 0.99].map((share) => ms[Math.floor(ms.length * share)]?.toFixed(0));
    console.log(`  ${vendor}: ${JSON.stringify(count)}, acknowledged in ${p50} ms (p99 ${p99})`);
  }

  // jobs of what is left settle interrupted writes
  const end = Date.now() + SETTLE_MS;
  const db = open(own.url);
  const count = db.prepare("SELECT COUNT(*) AS n FROM record_changes WHERE state IN ('pending', 'unknown')");
  const unsettled = async () => Number((await count([]))[0].n);
  while ((await unsettled()) && Date.now() < end) await sleep(1000);
  if (await unsettled()) fail(`${await unsettled()} changes are open still`);
  await db.close();
  for (const id of new Set(zones.map(({ account }) => account.id)))
    must(await call(replicas[1], 'POST', `/api/accounts/${id}/sync`));

  let names = 0;
  for (const zone of zones) names += await compare(zone);
  const jobs = must(await call(replicas[0], 'GET', '/api/system/jobs?limit=100')).list;
  for (const { name, last_error, state } of jobs) if (state === 'failed') fail(`the job ${name} failed: ${last_error}`);
  console.log(`jobs: ${jobs.map(({ name, runs, state }) => `${name} ${runs} ${state}`).join(', ')}`);
  if (!counts.quick.acknowledged || (KILL_MS && !counts.slow.acknowledged)) fail('nothing was written');
  if (KILL_MS && !killed) fail('nobody was killed');
  console.log(failure ? `FAILED: ${failure} differences` : `no write was lost; ${names} names are as acknowledged`);
} finally {
  writing = false;
  for (const replica of replicas) await replica.stop();
  for (const way of Object.values(vendors)) way.close();
  await pdns.stop();
  await own.drop();
}
process.exitCode = failure ? 1 : 0;
