// The audit log: `npm run bench:audit`, on SQLite, or on the server that DATABASE_URL names. Measures
//   pages of 5 000 and of 500 000 entries, with filters, first time and median (goal: a factor of at most three);
//   export and verification of all entries and their memory (goal: independent of the number of entries);
//   creates by 24 clients on 24 domains of zone files (goal: p99 < 4 × p50).
//   BENCH_PAGES     set: no creates
//   BENCH_ENTRIES   size of the large log, default 500000
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { appendEntries } from './audit-entries.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';
import { besides, kindOf } from './sql.mjs';

const { DATABASE_URL, BENCH_ENTRIES = size(500_000, 2000) } = process.env;
const KIND = DATABASE_URL ? kindOf(DATABASE_URL) : 'sqlite';
const SIZES = [size(5000, 500), Number(BENCH_ENTRIES)];
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const CLIENTS = 24;
const CREATES = size(20, 1);
const ROUNDS = size(15, 1);
const QUERIES = [
  'limit=20',
  'domain=zone-7.example',
  'domain=zone-7*',
  'user=user-9&action=record.*',
  'user=root',
  'user=root&action=record.delete',
  'user=root&domain=zone-7.example',
  'request_id=r-4321',
  'action=record.delete',
  'action=record.*',
  'result=ok',
  'result=failed',
  'keyword=host-99',
  'keyword=nowhere',
  'keyword=host-4321&action=record.create',
  'page=100&action=record.delete',
  'start_date=<today>',
  'start_date=<today>&user=user-3',
  'end_date=<a third>',
  'end_date=<a third>&user=root',
  'end_date=<a third>&user=root&action=record.delete',
];
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

async function start() {
  const own = DATABASE_URL && KIND !== 'sqlite' ? await besides(DATABASE_URL) : null;
  const url = own?.url ?? 'sqlite:bench.db';
  const service = await startThrowaway({
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    DATABASE_URL: url,
  });
  const call = async (method, path, body) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const answer = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
    const { code, msg, data } = await answer.json();
    if (code !== 0) throw new Error(`${method} ${path}: ${msg}`);
    return data;
  };
  let token = '';
  ({ token } = await call('POST', '/api/auth/login', ADMIN));
  await call('PUT', '/api/settings/security', NO_RATES);
  const { pid } = service;
  const memory = (name) =>
    Math.round(
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    );
  /** Duration in seconds of a piece of work, and the resident memory before it and at its peak. */
  const measured = async (work) => {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const [before, begin] = [memory('VmRSS'), performance.now()];
    const what = await work();
    const seconds = ((performance.now() - begin) / 1000).toFixed(1);
    return `${what} in ${seconds} s, ${before} -> ${memory('VmHWM')} MiB`;
  };
  const stop = async () => {
    await service.stop();
    await own?.drop();
  };
  const stored = own ? url : `sqlite:${join(service.dataDir, 'bench.db')}`;
  return { service, call, measured, stop, stored, token: () => token };
}

/** A service whose log has so many entries. */
async function filled(size) {
  const world = await start();
  // links the login's entry, so that nothing is written meanwhile
  await world.call('GET', '/api/audit/verify');
  await appendEntries(world.stored, size);
  // made with the previous key; the next entry creates a new one
  rmSync(join(world.service.dataDir, 'audit-checkpoint.json'), { force: true });
  await world.call('POST', '/api/tokens', { name: 'bench' });
  await world.call('GET', '/api/audit/logs?limit=1');
  const dayOf = (secondsAgo) => new Date(Date.now() - secondsAgo * 1000).toISOString().slice(0, 10);
  const [day, old] = [dayOf(60), dayOf((size * 2) / 3)];
  return { ...world, size, of: (query) => query.replace('<today>', day).replace('<a third>', old) };
}

/** Alternates between both, so that other load on the machine affects both. */
async function pages(logs) {
  for (const query of QUERIES) {
    const took = logs.map(() => []);
    for (let i = 0; i < ROUNDS; i++) {
      for (const [k, { call, of }] of logs.entries()) {
        const begin = performance.now();
        await call('GET', `/api/audit/logs?${of(query)}`);
        took[k].push(performance.now() - begin);
      }
    }
    const row = [(list) => list[0], median].map((one) => {
      const [few, many] = took.map(one);
      return `${few.toFixed(1)} / ${many.toFixed(1)} ms (${(many / few).toFixed(1)} times)`;
    });
    console.log(`${KIND}, ${query}: first ${row[0]}, then ${row[1]}`);
  }
}

async function whole({ service, call, measured, token, size }) {
  const exported = await measured(async () => {
    let bytes = 0;
    const headers = { authorization: `Bearer ${token()}` };
    const response = await fetch(`${service.url}/api/audit/export?format=ndjson`, { headers });
    for await (const chunk of response.body) bytes += chunk.length;
    return `${Math.round(bytes / 1e6)} MB`;
  });
  const verified = await measured(async () => {
    const { ok, entries, reason } = await call('GET', '/api/audit/verify');
    if (!ok) throw new Error(`verify: ${reason}`);
    return entries;
  });
  console.log(`${KIND}, ${size} entries: exported ${exported}; verified ${verified}`);
}

async function writers() {
  const { call, stop } = await start();
  try {
    const account = await call('POST', '/api/accounts', { provider: 'zonefile', name: 'files', credentials: {} });
    const domains = [];
    for (let i = 0; i < CLIENTS; i++)
      domains.push(await call('POST', '/api/domains', { name: `z${i}.example`, account_id: account.id, create: true }));
    const round = async (count, first) => {
      const times = [];
      await Promise.all(
        domains.map(async ({ id }) => {
          for (let i = 0; i < count; i++) {
            const begin = performance.now();
            await call('POST', `/api/domains/${id}/records`, { host: `h${first + i}`, type: 'A', value: '192.0.2.1' });
            times.push(performance.now() - begin);
          }
        }),
      );
      return times.sort((a, b) => a - b);
    };
    await round(CREATES, 0);
    const begin = performance.now();
    const times = await round(CREATES, 1000);
    const rate = Math.round(times.length / ((performance.now() - begin) / 1000));
    const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)]);
    const ratio = (p99 / p50).toFixed(1);
    const figures = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ratio ${ratio} (goal: 4)`;
    console.log(`${KIND}, ${CLIENTS} clients over ${CLIENTS} domains: ${rate} creates/s, ${figures}`);
  } finally {
    await stop();
  }
}

if (!process.env.BENCH_PAGES) await writers();
const logs = [];
try {
  for (const size of SIZES) logs.push(await filled(size));
  await pages(logs);
  for (const log of logs) await whole(log);
} finally {
  for (const { stop } of logs) await stop();
}
