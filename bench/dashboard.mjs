// Processor time of the service for the first requests of a page: the overview, and the newest changes of all domains
// beside those of one. On SQLite the database is part of the service.

import { join } from 'node:path';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { seed } from './seed.mjs';
import { size } from './short.mjs';
import { besides, kindOf, open } from './sql.mjs';

const DOMAINS = size(1000, 200);
const RECORDS = size(100_000, 200);
/** change sets of the first domain, and of all the others */
const [SETS_OF_ONE, SETS_OF_OTHERS] = size([5000, 45_000], [50, 450]);
const CALLS = size(200, 2);
const WARM_UP = size(30, 1);
const GOAL_MS = 30;
const METRICS_TOKEN = 'bench-metrics-token-0123456789';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const DAY_MS = 86_400_000;

const at = (days) => new Date(Date.now() + days * DAY_MS).toISOString();

async function insert(db, table, columns, rows) {
  const one = `(${columns.map(() => '?').join(', ')})`;
  for (let i = 0; i < rows.length; i += 200) {
    const some = rows.slice(i, i + 200);
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => one).join(', ')}`;
    await db.run(sql, some.flat());
  }
}

/** Change sets, certificates, delegations and rules of failover, of which some need attention. */
async function addMore(url) {
  const db = open(url);
  const bool = db.kind === 'sqlite' ? Number : Boolean;
  // as in an installation whose domains are looked after: one in fifty needs something
  await db.run('UPDATE domains SET expires_at = ?, watch_certificates = ?', [at(200), bool(1)]);
  await db.run('UPDATE domains SET expires_at = ? WHERE id % 50 = 0', [at(10)]);
  await db.run("UPDATE domains SET status = 'missing' WHERE id % 100 = 1");
  const ids = Array.from({ length: DOMAINS }, (_, i) => i + 1);
  await insert(
    db,
    'certificates',
    ['domain_id', 'host', 'valid_from', 'valid_to', 'checked_at'],
    ids.flatMap((id) =>
      Array.from({ length: 5 }, (_, i) => [id, `h${i}.zone-${id}.example`, at(-40), at((id + i) % 60), at(0)]),
    ),
  );
  await insert(
    db,
    'delegations',
    ['domain_id', 'names', 'broken', 'checked_at', 'next_at'],
    ids.map((id) => [id, '["ns1.example.net"]', id % 50 ? '[]' : '["not_delegated"]', at(0), at(1)]),
  );
  const config = JSON.stringify({ host: 'www', type: 'A', primary: ['192.0.2.1'], backup: ['192.0.2.2'], check: {} });
  await insert(
    db,
    'failovers',
    ['domain_id', 'enabled'],
    ids.slice(0, 200).map((id) => [id, bool(0)]),
  );
  // not enabled: nothing is checked meanwhile
  await insert(
    db,
    'failover_rules',
    ['domain_id', 'position', 'version', 'name', 'config', 'hold', 'active', 'checks', 'switches', 'recent'],
    ids
      .slice(0, 200)
      .map((id) => [id, 0, 1, `www.zone-${id}.example`, config, bool(id % 10 === 0), 'primary', '{}', 0, '[]']),
  );
  const columns = ['id', 'domain_id', 'domain', 'door', 'actor_type', 'request_id', 'comment', 'atomic', 'background'];
  const sets = Array.from({ length: SETS_OF_ONE + SETS_OF_OTHERS }, (_, i) => {
    const domain = i % 10 ? (i % (DOMAINS - 1)) + 2 : 1;
    return [i + 1, domain, 'x', 'api', 'user', `r${i}`, '', bool(0), bool(0), bool(0), '', 'done', 1, at(0), at(0)];
  });
  const more = ['whole', 'owner', 'state', 'total', 'created_at', 'finished_at'];
  await insert(db, 'change_sets', [...columns, ...more], sets);
  await insert(
    db,
    'record_changes',
    ['change_set_id', 'position', 'op', 'host', 'type', 'state'],
    sets.map(([id]) => [id, 0, 'create', 'www', 'A', 'applied']),
  );
  if (db.kind === 'postgresql') await db.run('VACUUM ANALYZE');
  if (db.kind === 'mysql')
    await db.run('ANALYZE TABLE change_sets, record_changes, certificates, delegations, domains, domain_permissions');
  await db.close();
}

/** Seconds of processor time that the service has used, as its own metrics say. */
async function cpuOf(url) {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const text = await answer.text();
  const seconds = /^process_cpu_seconds_total (\S+)/m.exec(text)?.[1];
  if (!seconds) throw new Error(`no processor time in the metrics: ${answer.status}`);
  return Number(seconds);
}

/** ms of processor time and of waiting for one call, one after the other. */
async function measure(url, path, token) {
  const call = async () => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    const { code, msg, data } = await answer.json();
    if (code !== 0) throw new Error(`${path}: ${msg}`);
    return data;
  };
  for (let i = 0; i < WARM_UP; i++) await call();
  const [before, begin] = [await cpuOf(url), performance.now()];
  for (let i = 0; i < CALLS; i++) await call();
  const waited = (performance.now() - begin) / CALLS;
  const used = ((await cpuOf(url)) - before) * 1000;
  return { cpu: used / CALLS, waited };
}

const { DATABASE_URL, TEST_POSTGRES_URL, TEST_MYSQL_URL } = process.env;
const SERVERS = DATABASE_URL
  ? [DATABASE_URL]
  : [
      'sqlite:bench.db',
      TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres',
      TEST_MYSQL_URL ?? 'mysql://root@127.0.0.1:3306/mysql',
    ];

console.log(
  `The overview and the newest changes: ${DOMAINS} domains, ${RECORDS} records, ${SETS_OF_ONE + SETS_OF_OTHERS} change sets`,
);
for (const server of SERVERS) {
  const kind = kindOf(server);
  const own = kind === 'sqlite' ? null : await besides(server).catch(() => null);
  if (kind !== 'sqlite' && !own) {
    console.log(`  ${kind}: left out, no server answers`);
    continue;
  }
  const service = await startThrowaway({
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    DATABASE_URL: own?.url ?? 'sqlite:bench.db',
    METRICS: 'on',
    METRICS_TOKEN,
  });
  try {
    const url = own?.url ?? `sqlite:${join(service.dataDir, 'bench.db')}`;
    const { operator, users } = await seed(url, { domains: DOMAINS, records: RECORDS, permissions: [DOMAINS, 50] });
    await addMore(url);
    console.log(`  ${kind}`);
    for (const [who, token] of [
      ['administrator', operator],
      [`user with ${DOMAINS} permissions`, users[DOMAINS]],
      ['user with 50 permissions', users[50]],
    ])
      for (const path of ['/api/dashboard', '/api/changes', '/api/domains/1/changes']) {
        const { cpu, waited } = await measure(service.url, path, token);
        const goal = path === '/api/dashboard' ? ` (goal: ${GOAL_MS} ms)` : '';
        console.log(`    ${who}, ${path}: ${cpu.toFixed(1)} ms of processor time${goal}, ${waited.toFixed(1)} ms`);
      }
  } finally {
    await service.stop();
    await own?.drop();
  }
}
