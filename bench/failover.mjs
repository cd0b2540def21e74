// 1 000 failover rules with two values each, checked every 10 s by one process: deviation of checks from their
// schedule, and the CPU used. FAILOVER_RULES and FAILOVER_SECONDS for other sizes; on SQLite unless DATABASE_URL names
// a server.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';
import { besides } from './sql.mjs';

const { FAILOVER_RULES = size(1000, 10), FAILOVER_SECONDS = size(90, 3), DATABASE_URL = '' } = process.env;
const RULES = Number(FAILOVER_RULES);
const INTERVAL_S = size(10, 1);
/** Maximum rules of one domain. */
const CHUNK = 200;
/** ms until all rules have been checked and the start-up load is over. */
const WARM_MS = size(25_000, 2000);
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

const own = DATABASE_URL ? await besides(DATABASE_URL) : null;
const service = await startThrowaway({
  DATABASE_URL: own?.url ?? 'sqlite:bench.db',
  OUTBOUND_ALLOW: '127.0.0.0/8',
  ADMIN_USERNAME: ADMIN.username,
  ADMIN_PASSWORD: ADMIN.password,
});
let token;
async function call(method, path, body) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
  const { msg, data } = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${msg}`);
  return data;
}

/** Connection times in ms by address; each value has its own address. */
const seen = new Map();
const server = createServer((socket) => {
  const at = performance.now();
  const address = socket.localAddress;
  if (measuring) seen.set(address, [...(seen.get(address) ?? []), at]);
  socket.on('error', () => undefined).destroy();
});
let measuring = false;
await new Promise((done) => server.listen(0, '0.0.0.0', done));
const { port } = server.address();
const addressOf = (side, i) => `127.${side}.${(i >> 8) + 1}.${i & 255}`;

token = (await call('POST', '/api/auth/login', ADMIN)).token;
await call('PUT', '/api/settings/security', NO_RATES);
const account = await call('POST', '/api/accounts', { provider: 'zonefile', name: 'bench', credentials: {} });
const check = { kind: 'tcp', port, interval_s: INTERVAL_S, timeout_s: Math.min(5, INTERVAL_S), fall: 3, rise: 2 };
for (let from = 0; from < RULES; from += CHUNK) {
  const name = `failover${from}.example`;
  const domain = await call('POST', '/api/domains', { name, account_id: account.id, create: true });
  const rules = Array.from({ length: Math.min(CHUNK, RULES - from) }, (_, i) => ({
    host: `h${i}`,
    type: 'A',
    primary: [addressOf(10, from + i)],
    backup: [addressOf(20, from + i)],
    check,
  }));
  await call('POST', `/api/domains/${domain.id}/failover`, { enabled: true, rules });
}

/** CPU seconds used by a process. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

await sleep(WARM_MS);
measuring = true;
const [cpu, begin] = [cpuOf(service.pid), performance.now()];
await sleep(Number(FAILOVER_SECONDS) * 1000);
measuring = false;
const passed = (performance.now() - begin) / 1000;
const used = cpuOf(service.pid) - cpu;

const errors = [...seen.values()]
  .flatMap((times) => times.slice(1).map((at, i) => Math.abs(at - times[i] - INTERVAL_S * 1000) / (INTERVAL_S * 10)))
  .sort((a, b) => a - b);
const at = (part) => `${errors[Math.min(errors.length - 1, Math.floor(errors.length * part))].toFixed(2)} %`;
const checks = [...seen.values()].reduce((sum, times) => sum + times.length, 0);
console.log(
  `${RULES} rules, ${seen.size} values, ${checks} checks in ${passed.toFixed(0)} s (${(checks / passed).toFixed(0)} a second)`,
);
console.log(
  `away from the interval of ${INTERVAL_S} s: median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, most ${at(1)}`,
);
console.log(`processor: ${(used / passed).toFixed(3)} of a core`);
await service.stop();
await own?.drop();
server.close();
process.exit(0);
