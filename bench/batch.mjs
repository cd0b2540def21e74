// Time and memory for a list of 5 000 new records at PowerDNS, with each of its backends, in a fresh process. Last part
// of `npm run bench`; on SQLite, or on the server that DATABASE_URL names.
import { readFileSync } from 'node:fs';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { startPowerdns } from './powerdns.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';
import { besides, kindOf } from './sql.mjs';

const CHANGES = size(5000, 250);
const GOAL = '20 s, 300 MiB';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const { DATABASE_URL, TEST_POSTGRES_URL } = process.env;
const SERVER = TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';

async function batch(backend) {
  const pdns = await startPowerdns(backend, SERVER);
  if (!pdns) return console.log(`a list of ${CHANGES} at PowerDNS (${backend}): left out, it is not installed`);
  const own = DATABASE_URL && kindOf(DATABASE_URL) !== 'sqlite' ? await besides(DATABASE_URL) : null;
  const service = await startThrowaway({
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    DATABASE_URL: own?.url ?? 'sqlite:bench.db',
  });
  let token;
  const call = async (method, path, body) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const answer = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
    const { code, msg, data } = await answer.json();
    if (code !== 0) throw new Error(`${method} ${path}: ${msg}`);
    return data;
  };
  const peakMiB = () =>
    Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024);
  try {
    ({ token } = await call('POST', '/api/auth/login', ADMIN));
    await call('PUT', '/api/settings/security', NO_RATES);
    const credentials = { url: pdns.url, api_key: pdns.key };
    const account = await call('POST', '/api/accounts', { provider: 'powerdns', name: 'batch', credentials });
    const domain = await call('POST', '/api/domains', { name: 'batch.example', account_id: account.id, create: true });
    const changes = Array.from({ length: CHANGES }, (_none, i) => ({
      ...{ op: 'create', host: `h${i}`, type: 'A', value: `10.1.${i >> 8}.${i & 255}`, ttl: 600 },
    }));
    const before = peakMiB();
    const start = performance.now();
    const { outcomes } = await call('POST', `/api/domains/${domain.id}/records/batch?wait=120`, { changes });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const done = outcomes?.filter((outcome) => outcome.ok).length ?? 0;
    if (done !== CHANGES) throw new Error(`${done} of ${CHANGES} records were created within ${seconds} s`);
    console.log(
      `${CHANGES} creates in one list at PowerDNS (${backend}): ${seconds} s, peak ${peakMiB()} MiB, ${before} MiB before (goal: ${GOAL})`,
    );
  } finally {
    await service.stop();
    await own?.drop();
    await pdns.stop();
  }
}

console.log('');
for (const backend of ['lmdb', 'gpgsql']) await batch(backend);
