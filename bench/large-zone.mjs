// Time, processor time and memory of the first and later synchronisations of a large zone at PowerDNS. Part of
// `npm run bench`.
//   BENCH_RECORDS   records of the zone, default 100 000
//   BENCH_PROFILE   directory for a CPU profile of the service
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { figure } from './figures.mjs';
import { startPowerdns } from './powerdns.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';

const RECORDS = Number(process.env.BENCH_RECORDS ?? size(100_000, 200));
const PROFILE = process.env.BENCH_PROFILE;
const ZONE = 'large.example';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

/** Measures on SQLite and prints the result. */
async function largeZone() {
  const pdns = await startPowerdns();
  if (!pdns) return console.log('a large zone: left out, PowerDNS is not installed');
  const service = await startThrowaway(
    { ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password, DATABASE_URL: 'sqlite:bench.db' },
    PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${PROFILE}`] : [],
  );
  let token;
  const call = async (method, path, body) => {
    const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
    const answer = await (
      await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) })
    ).json();
    if (answer.code !== 0) throw new Error(`${method} ${path}: ${answer.msg}`);
    return answer.data;
  };
  const peakMiB = () =>
    Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024);
  const cpuMs = () => {
    const fields = readFileSync(`/proc/${service.pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  /** Time, processor time, and the peak of memory from here on. */
  const measured = async (what, work) => {
    writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
    const [start, cpu] = [performance.now(), cpuMs()];
    await work();
    const ms = Math.round(performance.now() - start);
    const used = cpuMs() - cpu;
    console.log(`  ${what}: ${ms} ms, ${used} ms of the processor, peak ${peakMiB()} MiB`);
    figure('zone', 'the service', what, used / 1000);
    figure('memory', 'the process', what, peakMiB());
  };
  try {
    const rrsets = Array.from({ length: RECORDS - 1 }, (_none, i) => ({
      name: `host-${i}.${ZONE}.`,
      type: i % 4 ? 'A' : 'TXT',
      ttl: 300,
      records: [{ content: i % 4 ? `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` : `"text of ${i}"`, disabled: false }],
    }));
    const zone = { name: `${ZONE}.`, kind: 'Native', nameservers: ['ns1.example.net.'], rrsets };
    const headers = { 'x-api-key': pdns.key };
    const made = await fetch(`${pdns.url}/api/v1/servers/localhost/zones`, {
      method: 'POST',
      headers,
      body: JSON.stringify(zone),
    });
    if (!made.ok) throw new Error(await made.text());
    ({ token } = await call('POST', '/api/auth/login', ADMIN));
    await call('PUT', '/api/settings/security', NO_RATES);
    const credentials = { url: pdns.url, api_key: pdns.key };
    const account = await call('POST', '/api/accounts', { provider: 'powerdns', name: 'large', credentials });
    console.log(
      `\nA zone of ${RECORDS} records (the process before: ${peakMiB()} MiB; load ${loadavg()[0].toFixed(1)})`,
    );
    const sync = () => call('POST', `/api/accounts/${account.id}/sync`);
    for (const which of ['first', 'second', 'third']) await measured(`${which} synchronisation`, sync);
    const [domain] = await call('GET', `/api/domains?keyword=${ZONE}`);
    const path = `/api/domains/${domain.id}/records`;
    for (const host of ['one-more', 'another'])
      await measured(`create a record in it`, () => call('POST', path, { host, type: 'A', value: '192.0.2.1' }));
    console.log(`  goals: 5000 ms, 300 MiB; load ${loadavg()[0].toFixed(1)}`);
  } finally {
    await service.stop();
    await pdns.stop();
  }
}

await largeZone();
