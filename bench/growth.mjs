// How the cost of each request grows with the installation: `npm run bench:growth`, on SQLite, or on the server that
// DATABASE_URL names (in a temporary database). Seeds 10 to 10 000 domains with a hundred records and audit entries
// each, a tenth of the records in one zone, and as many users, teams of ten grants, and tokens, each size in a database
// of its own. Prints for each size ms of processor time of the service (on SQLite with the database) and the shortest
// time that one call took, and the exponents of both: about 0 where a page costs a page, 1 where all is read.
//   BENCH_SIZES     numbers of domains, default 10,100,1000,10000
//   BENCH_CALLS     calls of each request, default 40
//   BENCH_ONLY      only requests whose name contains this
import { createHash, randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { passwordHash } from '../dist/src/users/passwords.js';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { figure } from './figures.mjs';
import { requests, statements } from './grown.mjs';
import { size } from './short.mjs';
import { besides, kindOf, open } from './sql.mjs';

const { DATABASE_URL, BENCH_ONLY = '' } = process.env;
const SIZES = (process.env.BENCH_SIZES ?? size('10,100,1000,10000', '10,20')).split(',').map(Number);
const CALLS = Number(process.env.BENCH_CALLS ?? size(40, 1));
const WARM_UP = size(15, 0);
const EACH = 100;
const KIND = DATABASE_URL ? kindOf(DATABASE_URL) : 'sqlite';
const METRICS_TOKEN = 'bench-metrics-token-0123456789';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
/** What the chart of growth shows. */
const DRAWN = [
  ...['token check', 'login', 'domains, of a user', 'records of the large zone, of a user', 'create', 'plan'],
  ...['search, value', 'search, keyword of few', 'changes', 'dashboard', 'audit, page 100'],
];
/** Above this a cost grows with what is stored. */
const FINDING = 0.3;
/** Smaller times tell nothing of growth. */
const LEAST_MS = 0.2;
const AT_REST = 'at rest, a second';
const REST_MS = size(10_000, 200);

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** Fills the database. @returns the tokens of an administrator and of a user with ten grants, one of the large zone */
async function seed(url, count) {
  const db = open(url);
  const cheap = await passwordHash('x', 4);
  if (KIND === 'sqlite') await db.run('BEGIN');
  for (const sql of statements({ count, each: EACH }, cheap)) await db.run(sql);
  const tokens = [];
  for (const userId of [1, count + 1]) {
    const text = `svc_${randomBytes(32).toString('hex')}`;
    const values = `${userId}, 'bench', '${sha256(text)}', FALSE, '[]', '["*"]', 3, TRUE, '2026-01-01T00:00:00.000Z'`;
    const columns = 'user_id, name, token_hash, narrowed, allowed_domains, allowed_services, max_role, is_active';
    if (!tokens.length && KIND === 'postgresql') await advance(db);
    await db.run(`INSERT INTO api_tokens (${columns}, created_at) VALUES (${values})`);
    tokens.push(text);
  }
  // no rate limits: the work is measured
  const values = { rate_limits: { login: 0, public: 0, user: 0, token: 0 } };
  await db.run(
    `INSERT INTO settings (name, content) VALUES ('security', '${JSON.stringify({ values, super: values })}')`,
  );
  if (KIND === 'sqlite') await db.run('COMMIT');
  // what the housekeeping of a server does a minute later; SQLite has none
  if (KIND === 'postgresql') await db.run('VACUUM ANALYZE');
  if (KIND === 'mysql') for (const { name } of await db.prepare(TABLES)([])) await db.run(`ANALYZE TABLE ${name}`);
  await db.close();
  return tokens;
}

const TABLES = 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()';
const NUMBERED = `SELECT table_name AS name FROM information_schema.columns
  WHERE table_schema = 'public' AND column_name = 'id' AND column_default LIKE 'nextval%'`;

/** Sequences of PostgreSQL do not advance for ids that are given. */
async function advance(db) {
  for (const { name: table } of await db.prepare(NUMBERED)([]))
    await db.run(
      `SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT COALESCE(MAX(id), 1) FROM ${table}))`,
    );
}

/** Seconds of processor time that the service has used, as its own metrics say. */
async function cpuOf(url) {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const seconds = /^process_cpu_seconds_total (\S+)/m.exec(await answer.text())?.[1];
  if (!seconds) throw new Error(`no processor time in the metrics: ${answer.status}`);
  return Number(seconds);
}

let calls = 0;

/** ms of processor time of one call, and the shortest that one took, one after the other. */
async function measure(url, tokens, { method = 'GET', path, who = 'admin', body }) {
  const headers = tokens[who] ? { authorization: `Bearer ${tokens[who]}` } : {};
  if (body) headers['content-type'] = 'application/json';
  let wall = Number.POSITIVE_INFINITY;
  const call = async () => {
    const text = body && JSON.stringify(body(calls++));
    const begin = performance.now();
    const answer = await fetch(url + path, { method, headers, body: text });
    const { code, msg, data } = await answer.json();
    wall = Math.min(wall, performance.now() - begin);
    if (code !== 0) throw new Error(`${method} ${path}: ${msg} ${JSON.stringify(data)}`);
  };
  for (let i = 0; i < WARM_UP; i++) await call();
  const before = await cpuOf(url);
  for (let i = 0; i < CALLS; i++) await call();
  return { cpu: (((await cpuOf(url)) - before) * 1000) / CALLS, wall };
}

/** ms of processor time that the service uses in a second without any request. */
async function rest(url) {
  const before = await cpuOf(url);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  return { cpu: (((await cpuOf(url)) - before) * 1_000_000) / REST_MS, wall: 0 };
}

/** Measures all requests in a new installation of one size. @returns the times by name */
async function measured(count) {
  const own = KIND === 'sqlite' ? null : await besides(DATABASE_URL);
  let service;
  try {
    service = await startThrowaway({
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
      DATABASE_URL: own?.url ?? 'sqlite:bench.db',
      METRICS: 'on',
      METRICS_TOKEN,
      EXPIRY_LOOKUPS: 'off',
    });
    const { url } = service;
    const begin = performance.now();
    const [admin, user] = await seed(own?.url ?? `sqlite:${join(service.dataDir, 'bench.db')}`, count);
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    console.error(`${KIND}, ${count} domains: seeded in ${seconds} s, load ${loadavg()[0].toFixed(1)}`);
    const post = async (path, body) => {
      const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
      const answer = await (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
      if (answer.code !== 0) throw new Error(`${path}: ${answer.msg} ${JSON.stringify(answer.data)}`);
      return answer.data;
    };
    const { token: session } = await post('/api/auth/login', { username: `user-${count}`, password: 'x' });
    const account = await post('/api/accounts', { provider: 'zonefile', name: 'files', credentials: {} });
    const small = await post('/api/domains', { name: 'small.example', account_id: account.id, create: true });
    const tokens = { admin, user, session };
    const times = {};
    const asked = { ...requests({ count, each: EACH }, small.id), [AT_REST]: null };
    for (const [what, request] of Object.entries(asked))
      if (what.includes(BENCH_ONLY)) times[what] = request ? await measure(url, tokens, request) : await rest(url);
    return times;
  } finally {
    await service?.stop();
    await own?.drop();
  }
}

/** The slope of the logarithm of times over that of sizes, by least squares. */
function exponent(sizes, times) {
  const [x, y] = [sizes, times.map((ms) => Math.max(ms, LEAST_MS))].map((list) => list.map(Math.log));
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const [mx, my] = [mean(x), mean(y)];
  const over = x.reduce((sum, one, i) => sum + (one - mx) * (y[i] - my), 0);
  return over / x.reduce((sum, one) => sum + (one - mx) ** 2, 0);
}

const all = [];
for (const count of SIZES) all.push(await measured(count));
const cells = (list) => list.map((ms) => ms.toFixed(ms < 10 ? 2 : 0).padStart(7)).join('');
const head = `${SIZES.map((count) => String(count).padStart(7)).join('')}   exp.   last`;
console.log(
  `${KIND}: ms of processor time and shortest ms of one call, by the number of domains; their exponents, over all`,
);
console.log(`sizes and between the last two; load ${loadavg()[0].toFixed(1)}`);
console.log(`${''.padEnd(38)}${head} |${head}`);
for (const what of Object.keys(all[0])) {
  const row = ['cpu', 'wall'].map((key) => all.map((times) => times[what][key]));
  const exponents = row.map((times) => [exponent(SIZES, times), exponent(SIZES.slice(-2), times.slice(-2))]);
  // the shortest call is disturbed least by what else the machine does
  const grows = Math.max(...exponents[1]) > FINDING ? '  grows' : '';
  const [cpu, wall] = row.map(
    (times, i) => cells(times) + exponents[i].map((one) => one.toFixed(2).padStart(7)).join(''),
  );
  console.log(`${what.padEnd(38)}${cpu} |${wall}${grows}`);
  if (DRAWN.includes(what)) for (const [i, times] of all.entries()) figure('growth', what, SIZES[i], times[what].wall);
}
