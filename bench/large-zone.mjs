// Time and memory of the first and later synchronisations of a zone of 10 000 records at PowerDNS. Last part of `npm
// run bench`.
import { readFileSync } from 'node:fs';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { startPowerdns } from './powerdns.mjs';
import { NO_RATES } from './service.mjs';

const RECORDS = 10_000;
const ZONE = 'large.example';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

/** Measures on SQLite and prints the result. */
async function largeZone() {
  const pdns = await startPowerdns();
  if (!pdns) return console.log('a large zone: left out, PowerDNS is not installed');
  const service = await startThrowaway({
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    DATABASE_URL: 'sqlite:bench.db',
  });
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
  try {
    const rrsets = Array.from({ length: RECORDS - 1 }, (_none, i) => ({
      name: `host-${i}.${ZONE}.`,
      type: i % 4 ? 'A' : 'TXT',
      ttl: 300,
      records: [{ content: i % 4 ? `10.1.${i >> 8}.${i & 255}` : `"text of ${i}"`, disabled: false }],
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
    console.log(`\nA zone of ${RECORDS} records (the process before: ${peakMiB()} MiB)`);
    for (const which of ['first', 'second', 'third']) {
      const start = performance.now();
      await call('POST', `/api/accounts/${account.id}/sync`);
      console.log(
        `  ${which} sync: ${Math.round(performance.now() - start)} ms, peak ${peakMiB()} MiB (goal: 5000 ms, 300 MiB)`,
      );
    }
    const [domain] = await call('GET', `/api/domains?keyword=${ZONE}`);
    const start = performance.now();
    await call('POST', `/api/domains/${domain.id}/records`, { host: 'one-more', type: 'A', value: '192.0.2.1' });
    console.log(`  create a record in it: ${Math.round(performance.now() - start)} ms`);
  } finally {
    await service.stop();
    await pdns.stop();
  }
}

await largeZone();
