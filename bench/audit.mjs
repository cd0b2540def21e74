// The audit log: `npm run bench:audit`, on SQLite, or on the server that DATABASE_URL names.
//   pages of 5 000 and of 500 000 entries, with filters (goal: three times at most); an export and a verification of
//   all of them, and what memory they take; creates by 24 clients over 24 domains of zone files (goal: p99 < 4 × p50)
//   BENCH_PAGES     set: no creates
//   BENCH_ENTRIES   how many the large log has, default 500000
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { entryHash } from '../dist/src/audit/chain.js';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { besides, kindOf, open } from './sql.mjs';

const { DATABASE_URL, BENCH_ENTRIES = '500000' } = process.env;
const KIND = DATABASE_URL ? kindOf(DATABASE_URL) : 'sqlite';
const SIZES = [5000, Number(BENCH_ENTRIES)];
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const CLIENTS = 24;
const CREATES = 20;
const ROWS = 100;
const ROUNDS = 15;
/** entries of one domain, and of one user: as many in a small log as in a large one */
const OF_ONE = 200;

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
  const peakMiB = () =>
    Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024);
  const stop = async () => {
    await service.stop();
    await own?.drop();
  };
  const stored = own ? url : `sqlite:${join(service.dataDir, 'bench.db')}`;
  return { service, call, peakMiB, stop, stored, token: () => token };
}

/** As a version before seals has left it: behind the entries that are there. */
async function fill(url, count) {
  const db = open(url);
  const [end] = await db.prepare('SELECT seq, hash FROM audit_chain WHERE id = 1')([]);
  let { seq, hash } = end;
  const names = 'created_at, actor_type, user_id, username, action, domain, domain_id, target, state_after, result, ip';
  const columns = `${names}, user_agent, request_id, change_set_id, seq, prev_hash, hash`.split(', ');
  const one = `(${columns.map(() => '?').join(', ')})`;
  const begin = Date.now() - count * 1000;
  if (KIND === 'sqlite') await db.run('BEGIN');
  for (let i = 0; i < count; i += ROWS) {
    const values = [];
    for (let k = i; k < Math.min(count, i + ROWS); k++) {
      const of = (k / OF_ONE) | 0;
      const after = { host: `host-${k}`, type: 'A', value: `10.0.${(k >> 8) & 255}.${k & 255}`, ttl: 600 };
      const target = { type: 'record', id: k, name: after.host };
      const row = {
        ...{ seq: ++seq, created_at: new Date(begin + k * 1000).toISOString(), actor_type: 'user', user_id: 1 },
        ...{
          username: `user-${of}`,
          token_id: null,
          token_name: null,
          domain: `zone-${of}.example`,
          domain_id: of + 1,
        },
        ...{ action: k % 3 ? 'record.create' : 'record.delete', target, state_before: null, state_after: after },
        ...{ result: 'ok', error: null, ip: '127.0.0.1', user_agent: 'bench', request_id: `r-${k}`, change_set_id: k },
        prev_hash: hash,
      };
      hash = entryHash(hash, row);
      const stored = { ...row, target: JSON.stringify(target), state_after: JSON.stringify(after), hash };
      values.push(...columns.map((column) => stored[column]));
    }
    await db.run(
      `INSERT INTO audit_logs (${columns.join(', ')}) VALUES ${Array(values.length / columns.length)
        .fill(one)
        .join(', ')}`,
      values,
    );
  }
  await db.run('UPDATE audit_chain SET seq = ?, hash = ?, secret = NULL, signature = NULL WHERE id = 1', [seq, hash]);
  if (KIND === 'sqlite') await db.run('COMMIT');
  if (KIND === 'postgresql') await db.run('ANALYZE audit_logs');
  if (KIND === 'mysql') await db.run('ANALYZE TABLE audit_logs');
  await db.close();
}

async function pages(size) {
  const { service, call, peakMiB, stop, stored, token } = await start();
  try {
    // links the entry of the login, so that nobody writes meanwhile
    await call('GET', '/api/audit/verify');
    await fill(stored, size);
    // of the key that was there before; the next entry makes one
    rmSync(join(service.dataDir, 'audit-checkpoint.json'), { force: true });
    await call('POST', '/api/tokens', { name: 'bench' });
    const day = new Date(Date.now() - 60_000).toISOString().slice(0, 10);
    const QUERIES = [
      'domain=zone-7.example',
      'user=user-9&action=record.*',
      'request_id=r-4321',
      `keyword=host-99`,
    ].concat(`start_date=${day}&user=user-3`, 'action=record.delete', 'limit=20');
    const took = {};
    for (const query of QUERIES) {
      const times = [];
      for (let i = 0; i < ROUNDS; i++) {
        const begin = performance.now();
        await call('GET', `/api/audit/logs?${query}`);
        times.push(performance.now() - begin);
      }
      took[query] = median(times);
    }
    const before = peakMiB();
    let begin = performance.now();
    let bytes = 0;
    const headers = { authorization: `Bearer ${token()}` };
    const response = await fetch(`${service.url}/api/audit/export?format=ndjson`, { headers });
    for await (const chunk of response.body) bytes += chunk.length;
    const exported = `${Math.round(bytes / 1e6)} MB in ${((performance.now() - begin) / 1000).toFixed(1)} s`;
    const peak = peakMiB();
    begin = performance.now();
    const { ok, entries, reason } = await call('GET', '/api/audit/verify');
    if (!ok) throw new Error(`verify: ${reason}`);
    const verified = `${entries} verified in ${((performance.now() - begin) / 1000).toFixed(1)} s`;
    console.log(
      `${KIND}, ${size} entries: export ${exported}, peak ${before} -> ${peak} MiB; ${verified}, ${peakMiB()} MiB`,
    );
    return took;
  } finally {
    await stop();
  }
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
    console.log(
      `${KIND}, ${CLIENTS} clients over ${CLIENTS} domains: ${rate} creates/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ratio ${ratio} (goal: 4)`,
    );
  } finally {
    await stop();
  }
}

if (!process.env.BENCH_PAGES) await writers();
const [small, large] = [await pages(SIZES[0]), await pages(SIZES[1])];
for (const query of Object.keys(small)) {
  const [a, b] = [small[query], large[query]];
  console.log(
    `${query}: ${a.toFixed(1)} ms of ${SIZES[0]}, ${b.toFixed(1)} ms of ${SIZES[1]}: ${(b / a).toFixed(1)} times`,
  );
}
