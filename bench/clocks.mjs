// Three replicas on one PostgreSQL (or MariaDB, by DATABASE_URL) with clocks at -300, 0 and +300 s under creates at a
// real PowerDNS, for SOAK_SECONDS (600): one is frozen for two minutes, one restarted every minute, both scaled with
// the total. No acknowledged write may be lost, nothing may be done twice; prints the largest gap between runs of each
// job and of failover checks beside its interval. Clocks are set by libfaketime (Debian: faketime), which covers all
// clock calls of a process including C code, but not the monotonic clock; a shim over `Date` would not.
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { startPowerdns } from './powerdns.mjs';
import { size } from './short.mjs';
import { besides, open } from './sql.mjs';

const {
  DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  REDIS_URL = '',
  SOAK_SECONDS = size(600, 2),
} = process.env;
const SECONDS = Number(SOAK_SECONDS);
const OFFSETS = [-300, 0, 300];
const WRITERS = 6;
const FREEZE_MS = Math.min(120_000, SECONDS * 200);
const RESTART_MS = Math.min(60_000, SECONDS * 100);
const CHECK_S = 5;
/** ms after which a client of a frozen replica uses another one. */
const PATIENCE_MS = 15_000;
const SETTLE_MS = 180_000;
const SAMPLE_MS = 250;
/** ms that a frozen process blocks others: its leases, then its open transaction. */
const FROZEN_MS = 30_000 + 30_000;
const ZONE = 'clocks.example';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

const library = readdirSync('/usr/lib')
  .map((folder) => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));
if (!library) throw new Error('libfaketime is not installed (Debian: faketime)');
const clockOf = (seconds) =>
  seconds
    ? { LD_PRELOAD: library, FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
    : {};

const own = await besides(DATABASE_URL);
const pdns = await startPowerdns('lmdb', DATABASE_URL);
if (!pdns) throw new Error('PowerDNS is not installed');
const env = {
  DATABASE_URL: own.url,
  ...(REDIS_URL && { REDIS_URL }),
  SECRET_KEY: 'the-same-key-of-all-replicas-0123456789',
  OUTBOUND_ALLOW: '127.0.0.0/8',
  ADMIN_USERNAME: ADMIN.username,
  ADMIN_PASSWORD: ADMIN.password,
};
const begin = (i) => startThrowaway({ ...env, ...clockOf(OFFSETS[i]) });
// the one with the right clock creates the first jobs
const replicas = [];
for (const i of [1, 0, 2]) replicas[i] = await begin(i);
let token;

/** One call to a replica. @returns status 0 without an answer */
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

token = must(await call(replicas[1], 'POST', '/api/auth/login', ADMIN)).token;
const credentials = { url: pdns.url, api_key: pdns.key };
const account = must(
  await call(replicas[1], 'POST', '/api/accounts', { provider: 'powerdns', name: 'soak', credentials }),
);
const domain = must(
  await call(replicas[1], 'POST', '/api/domains', { name: ZONE, account_id: account.id, create: true }),
);
const target = createServer((socket) => socket.destroy());
await new Promise((resolve) => target.listen(0, '127.0.0.1', resolve));
const check = { kind: 'tcp', port: target.address().port, interval_s: CHECK_S, timeout_s: 2, fall: 2, rise: 1 };
must(await call(replicas[1], 'PUT', `/api/domains/${domain.id}/rrsets/www/A`, { values: ['127.0.0.1'], ttl: 60 }));
const rule = { host: 'www', type: 'A', primary: ['127.0.0.1'], backup: ['127.0.0.2'], check };
must(await call(replicas[1], 'POST', `/api/domains/${domain.id}/failover`, { enabled: true, rules: [rule] }));

/** host -> acknowledged value; null: unknown result */
const known = new Map();
const counts = { acknowledged: 0, refused: 0, unanswered: 0, restarts: 0 };
let writing = true;

async function writer(number) {
  for (let i = 0, turn = number; writing; i++) {
    const host = `w${number}-${i}`;
    const value = `10.${number}.${(i >> 8) & 255}.${i & 255}`;
    known.set(host, null);
    const path = `/api/domains/${domain.id}/records`;
    const { status } = await call(replicas[turn++ % 3], 'POST', path, { host, type: 'A', value });
    if (status === 201) {
      known.set(host, value);
      counts.acknowledged++;
    } else counts[status ? 'refused' : 'unanswered']++;
    await sleep(status === 201 ? 20 : 100);
  }
}

let frozen = -1;
async function freezer() {
  await sleep(SECONDS * 150);
  // the one with the right clock, so that the others have to run all jobs
  frozen = 1;
  process.kill(replicas[1].pid, 'SIGSTOP');
  await sleep(FREEZE_MS);
  process.kill(replicas[1].pid, 'SIGCONT');
  frozen = -1;
}

async function restarter() {
  for (let i = 0; writing; i++) {
    await sleep(RESTART_MS);
    const victim = i % 3;
    if (!writing) return;
    if (victim === frozen) continue;
    await replicas[victim].stop();
    // a busy machine may exceed the start-up timeout
    for (let tries = 1; ; tries++) {
      const started = await begin(victim).catch((error) => error);
      if (!(started instanceof Error)) {
        replicas[victim] = started;
        break;
      }
      if (tries === 3) throw started;
    }
    counts.restarts++;
  }
}

/** name -> interval, start of its last run, the largest gap in ms */
const gaps = new Map();
function seen(name, every, at) {
  const one = gaps.get(name) ?? { every, last: at, largest: 0, times: 0 };
  if (at > one.last) {
    one.largest = Math.max(one.largest, at - one.last);
    one.last = at;
    one.times++;
  }
  gaps.set(name, one);
}

async function sampler(db) {
  const jobs = db.prepare("SELECT name, every_ms, started_at FROM jobs WHERE kind = 'scheduled'");
  const rules = db.prepare('SELECT checks FROM failover_rules');
  while (writing) {
    // with rules to check it stays in one long run
    for (const { name, every_ms, started_at } of await jobs([]))
      if (started_at && name !== 'failover.check') seen(name, Number(every_ms), Date.parse(started_at));
    const checks = (await rules([])).flatMap((rule) => Object.values(JSON.parse(rule.checks)));
    for (const { last_check_at: at } of checks) if (at) seen('checks of failover', CHECK_S * 1000, Date.parse(at));
    await sleep(SAMPLE_MS);
  }
}

let failure = 0;
const fail = (words) => {
  failure++;
  if (failure <= 20) console.error(words);
};
const db = open(own.url);
try {
  const begun = Date.now();
  const all = Promise.all([
    ...Array.from({ length: WRITERS }, (_none, i) => writer(i)),
    freezer(),
    restarter(),
    sampler(db),
  ]);
  await sleep(SECONDS * 1000);
  writing = false;
  await all;
  console.log(`${((Date.now() - begun) / 1000).toFixed(0)} s: ${JSON.stringify(counts)}`);

  const end = Date.now() + SETTLE_MS;
  const count = db.prepare("SELECT COUNT(*) AS n FROM record_changes WHERE state IN ('pending', 'unknown')");
  const unsettled = async () => Number((await count([]))[0].n);
  while ((await unsettled()) && Date.now() < end) await sleep(1000);
  if (await unsettled()) fail(`${await unsettled()} changes are open still`);

  const answer = await fetch(`${pdns.url}/api/v1/servers/localhost/zones/${ZONE}.`, {
    headers: { 'x-api-key': pdns.key },
  });
  const { rrsets } = await answer.json();
  const held = new Map(rrsets.filter(({ type }) => type === 'A').map((set) => [set.name.split('.')[0], set.records]));
  let lost = 0;
  let doubles = 0;
  for (const [host, value] of known) {
    const there = (held.get(host) ?? []).map(({ content }) => content);
    if (value !== null && !there.includes(value) && ++lost)
      fail(`${host}: ${value} was acknowledged, and is not there`);
    if (there.length > 1 && ++doubles) fail(`${host} is there ${there.length} times`);
  }
  const made = db.prepare(
    "SELECT host, COUNT(*) AS n FROM dns_records WHERE type = 'A' GROUP BY host HAVING COUNT(*) > 1",
  );
  for (const { host, n } of await made([])) if (++doubles) fail(`the cache has ${host} ${n} times`);
  const switches = db.prepare("SELECT COUNT(*) AS n FROM audit_logs WHERE action = 'failover.switch'");
  const switched = Number((await switches([]))[0].n);
  if (switched) fail(`failover switched ${switched} times, and nothing was down`);
  console.log(`${lost} acknowledged writes lost, ${doubles} done twice`);

  for (const [name, { every, last, largest, times }] of gaps) {
    if (every * 3 > SECONDS * 1000) continue;
    const gap = Math.max(largest, begun + SECONDS * 1000 - last);
    const late = gap > 3 * every + FROZEN_MS;
    console.log(`${late ? 'LATE ' : ''}${name}: every ${every / 1000} s, ${times} times, largest gap ${gap / 1000} s`);
    if (late) fail(`${name} stood still for ${gap / 1000} s`);
  }
  if (!counts.acknowledged || !counts.restarts) fail('nothing was written, or nothing restarted');
  console.log(failure ? `FAILED: ${failure}` : 'all is as acknowledged, and everything ran');
} finally {
  writing = false;
  await db.close();
  for (const replica of replicas) await replica.stop();
  target.close();
  await pdns.stop();
  await own.drop();
}
process.exitCode = failure ? 1 : 0;
