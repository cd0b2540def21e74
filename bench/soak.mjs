// Two replicas on one database under writes at a real PowerDNS, one of them killed every five seconds: no acknowledged
// write may be lost, and at the end the cache must equal PowerDNS. Runs for SOAK_SECONDS (180) on the server of
// DATABASE_URL (PostgreSQL or MariaDB), with REDIS_URL if it is set.
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { startPowerdns } from './powerdns.mjs';
import { NO_RATES } from './service.mjs';
import { besides, open } from './sql.mjs';

const {
  DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/postgres',
  REDIS_URL = '',
  SOAK_SECONDS = '180',
} = process.env;
const WRITERS = 8;
const KILL_MS = 5000;
/** Maximum ms until a list or job of a killed process is finished. */
const SETTLE_MS = 180_000;
const ZONE = 'soak.example';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

const own = await besides(DATABASE_URL);
const pdns = await startPowerdns('lmdb', DATABASE_URL);
if (!pdns) throw new Error('PowerDNS is not installed');
const env = {
  DATABASE_URL: own.url,
  ...(REDIS_URL && { REDIS_URL }),
  SECRET_KEY: 'the-same-key-of-both-replicas-0123456789',
  ADMIN_USERNAME: ADMIN.username,
  ADMIN_PASSWORD: ADMIN.password,
};
const replicas = [await startThrowaway(env), await startThrowaway(env)];
let token;

/** One call to a replica. @returns status 0 without an answer */
async function call(replica, method, path, body) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  try {
    const answer = await fetch(replica.url + path, { method, headers, body: body && JSON.stringify(body) });
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
const credentials = { url: pdns.url, api_key: pdns.key };
const account = must(
  await call(replicas[0], 'POST', '/api/accounts', { provider: 'powerdns', name: 'soak', credentials }),
);
must(await call(replicas[0], 'PUT', `/api/accounts/${account.id}`, { sync_interval_minutes: 1 }));
const domain = must(
  await call(replicas[0], 'POST', '/api/domains', { name: ZONE, account_id: account.id, create: true }),
);
const records = `/api/domains/${domain.id}/records`;

/** acknowledged state: host -> value, null when deleted; undefined: result of the last write unknown */
const known = new Map();
const counts = { acknowledged: 0, refused: 0, unanswered: 0, kills: 0 };
let writing = true;

/** Writes at its own hosts, so that each has one writer; uses the other replica when one is unavailable. */
async function writer(number) {
  let turn = number;
  for (let i = 0; writing; i++) {
    const host = `w${number}-${i % 50}`;
    const replica = replicas[turn % 2];
    const value = `10.${number}.${(i >> 8) & 255}.${i & 255}`;
    const gone = known.has(host) && known.get(host) !== undefined && i % 5 === 0;
    known.set(host, undefined);
    const path = `/api/domains/${domain.id}/rrsets/${host}/A`;
    const answer = gone
      ? await call(replica, 'DELETE', path)
      : await call(replica, 'PUT', path, { values: [value], ttl: 300 });
    if (answer.status === 200) {
      known.set(host, gone ? null : value);
      counts.acknowledged++;
    } else if (answer.status === 0) {
      counts.unanswered++;
      turn++;
      await sleep(50);
    } else {
      counts.refused++;
      await sleep(50);
    }
  }
}

async function killer() {
  for (let i = 0; writing; i++) {
    await sleep(KILL_MS);
    if (!writing) return;
    const victim = replicas[i % 2];
    process.kill(victim.pid, 'SIGKILL');
    counts.kills++;
    await victim.stop();
    replicas[i % 2] = await startThrowaway(env);
  }
}

let failure = 0;
const fail = (words) => {
  failure++;
  if (failure <= 20) console.error(words);
};
try {
  const start = Date.now();
  const killing = killer();
  const all = Promise.all(Array.from({ length: WRITERS }, (_none, i) => writer(i)));
  await sleep(Number(SOAK_SECONDS) * 1000);
  writing = false;
  await Promise.all([all, killing]);
  const seconds = (Date.now() - start) / 1000;
  console.log(`${seconds.toFixed(0)} s: ${JSON.stringify(counts)}`);

  // jobs of the remaining replica settle interrupted writes
  const end = Date.now() + SETTLE_MS;
  const db = open(own.url);
  const count = db.prepare("SELECT COUNT(*) AS n FROM record_changes WHERE state IN ('pending', 'unknown')");
  const unsettled = async () => Number((await count([]))[0].n);
  while ((await unsettled()) && Date.now() < end) await sleep(1000);
  if (await unsettled()) fail(`${await unsettled()} changes are open still`);
  await db.close();
  must(await call(replicas[1], 'POST', `/api/accounts/${account.id}/sync`));

  const answer = await fetch(`${pdns.url}/api/v1/servers/localhost/zones/${ZONE}.`, {
    headers: { 'x-api-key': pdns.key },
  });
  const { rrsets } = await answer.json();
  const held = new Map(rrsets.filter(({ type }) => type === 'A').map((set) => [set.name.split('.')[0], set.records]));
  const { list } = must(await call(replicas[0], 'GET', records));
  const cached = new Map(list.filter(({ type }) => type === 'A').map((record) => [record.host, record.value]));
  for (const [host, value] of known) {
    const there =
      held
        .get(host)
        ?.map(({ content }) => content)
        .join() ?? null;
    if ((cached.get(host) ?? null) !== there) fail(`${host}: PowerDNS holds ${there}, the cache ${cached.get(host)}`);
    if (value !== undefined && there !== value) fail(`${host}: ${value} was acknowledged, PowerDNS holds ${there}`);
  }
  const jobs = must(await call(replicas[0], 'GET', '/api/system/jobs?limit=100')).list;
  for (const { name, last_error, state } of jobs) if (state === 'failed') fail(`the job ${name} failed: ${last_error}`);
  const told = jobs.map(({ name, runs, state }) => `${name} ${runs} ${state}`).join(', ');
  console.log(`jobs: ${told}`);
  if (!counts.acknowledged || !counts.kills) fail('nothing was written, or nobody killed');
  console.log(
    failure ? `FAILED: ${failure} differences` : `no write was lost; ${known.size} names are as acknowledged`,
  );
} finally {
  writing = false;
  for (const replica of replicas) await replica.stop();
  await pdns.stop();
  await own.drop();
}
process.exitCode = failure ? 1 : 0;
