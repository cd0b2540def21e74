// Rules of one domain whose primary addresses all fail at once, at PowerDNS (LMDB) and at BIND: time until the first
// and the last name answers with its backup in DNS. SWITCHES_RULES and SWITCHES_INTERVAL (seconds) for other sizes; on
// SQLite unless DATABASE_URL names a server.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { startPowerdns } from './powerdns.mjs';
import { NO_RATES } from './service.mjs';
import { size } from './short.mjs';
import { besides } from './sql.mjs';

const { SWITCHES_RULES = size(500, 3), SWITCHES_INTERVAL = size(2, 1), DATABASE_URL = '' } = process.env;
const RULES = Number(SWITCHES_RULES);
const CHECK = { kind: 'tcp', interval_s: Number(SWITCHES_INTERVAL), timeout_s: 1, fall: 1, rise: 1 };
const ZONE = 'switches.example';
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
/** Names queried concurrently. */
const ASKED = 20;
const GIVE_UP_MS = 180_000;

const addressOf = (side, i) => `127.${side}.${(i >> 8) + 1}.${i & 255}`;
const hosts = Array.from({ length: RULES }, (_, i) => `h${i}`);

async function each(list, at, work) {
  const left = [...list.entries()];
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift()) await work(one[1], one[0]);
  };
  await Promise.all(Array.from({ length: at }, worker));
}

const listening = (address, port) =>
  new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => undefined).destroy());
    server.once('error', reject).listen(port, address, () => resolve(server));
  });

/** BIND with the zone. @returns null when it is not installed */
async function startBind() {
  const dir = mkdtempSync(join(tmpdir(), 'zoneward-bench-bind-'));
  const probe = await listening('127.0.0.1', 0);
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  const secret = randomBytes(32).toString('base64');
  writeFileSync(join(dir, 'zone'), '$TTL 600\n@ SOA ns1 hostmaster 1 3600 600 86400 300\n@ NS ns1\nns1 A 127.0.0.1\n');
  writeFileSync(
    join(dir, 'named.conf'),
    `key "bench" { algorithm hmac-sha256; secret "${secret}"; };
options { directory "${dir}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; pid-file none;
  session-keyfile none; recursion no; dnssec-validation no; notify no; allow-transfer { key "bench"; }; };
controls { };
zone "${ZONE}" { type primary; file "zone"; allow-update { key "bench"; }; };
`,
  );
  const child = spawn('named', ['-g', '-n', '1', '-c', join(dir, 'named.conf')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', () => resolve(null)));
  await sleep(1000);
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  if (child.pid === undefined || child.exitCode !== null) {
    await stop();
    return null;
  }
  const tsig = { tsig_name: 'bench', tsig_secret: secret, tsig_algorithm: 'hmac-sha256' };
  const credentials = { server: '127.0.0.1', port: String(port), zones: ZONE, ...tsig };
  return { provider: 'rfc2136', credentials, dnsPort: port, create: false, stop };
}

async function startPdns() {
  const pdns = await startPowerdns('lmdb');
  const credentials = pdns && { url: pdns.url, api_key: pdns.key, nameservers: 'ns1.example' };
  return pdns && { provider: 'powerdns', credentials, dnsPort: pdns.dnsPort, create: true, stop: pdns.stop };
}

async function measure({ provider, credentials, dnsPort, create }) {
  const own = DATABASE_URL ? await besides(DATABASE_URL) : null;
  const service = await startThrowaway({
    DATABASE_URL: own?.url ?? 'sqlite:bench.db',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  });
  const servers = [];
  try {
    let token;
    const call = async (method, path, body) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const answer = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
      const { msg, data } = await answer.json();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${msg}`);
      return data;
    };
    token = (await call('POST', '/api/auth/login', ADMIN)).token;
    await call('PUT', '/api/settings/security', NO_RATES);
    const probe = await listening(addressOf(10, 0), 0);
    const { port } = probe.address();
    const primaries = [probe];
    servers.push(probe);
    for (const i of hosts.keys()) {
      if (i) primaries.push(await listening(addressOf(10, i), port));
      servers.push(await listening(addressOf(20, i), port));
    }
    const account = await call('POST', '/api/accounts', { provider, name: 'bench', credentials });
    const { id } = await call('POST', '/api/domains', { name: ZONE, account_id: account.id, create });
    const changes = hosts.map((host, i) => ({ op: 'create', host, type: 'A', value: addressOf(10, i), ttl: 60 }));
    const made = await call('POST', `/api/domains/${id}/records/batch?wait=60`, { changes });
    if (!made.outcomes?.every(({ ok }) => ok)) throw new Error('the records were not made');
    const check = { ...CHECK, port };
    const rules = hosts.map((host, i) => ({
      ...{ host, type: 'A', primary: [addressOf(10, i)], backup: [addressOf(20, i)], check },
    }));
    const path = `/api/domains/${id}/failover`;
    await call('POST', path, { enabled: true, rules });
    const all = async (is) => (await call('GET', path)).rules.every(is);
    while (!(await all(({ state }) => state.values.every(({ up }) => up)))) await sleep(1000);

    const down = performance.now();
    for (const server of primaries) server.close();
    const resolver = new Resolver({ timeout: 2000, tries: 3 });
    resolver.setServers([`127.0.0.1:${dnsPort}`]);
    let left = [...hosts.keys()];
    const seen = [];
    while (left.length && performance.now() - down < GIVE_UP_MS) {
      await each(left, ASKED, async (i) => {
        const [address] = await resolver.resolve4(`h${i}.${ZONE}`).catch(() => []);
        if (address !== addressOf(20, i)) return;
        seen.push(performance.now() - down);
        left = left.filter((other) => other !== i);
      });
      await sleep(100);
    }
    const s = (ms) => `${(ms / 1000).toFixed(1)} s`;
    const [first = 0, last = 0] = [Math.min(...seen), Math.max(...seen)];
    const told = performance.now();
    while (!(await all(({ state }) => state.active === 'backup')) && performance.now() - told < GIVE_UP_MS)
      await sleep(200);
    const settled = performance.now() - down;
    const { total } = await call('GET', `${path}/history`);
    console.log(
      `${provider}: ${seen.length} of ${RULES} switched, first ${s(first)}, last ${s(last)} after all went down ` +
        `(${s(last - first)} apart), all noted after ${s(settled)}, ${total} change sets`,
    );
  } finally {
    for (const server of servers) server.close();
    await service.stop();
    await own?.drop();
  }
}

for (const start of [startPdns, startBind]) {
  const server = await start();
  if (!server) console.log(`${start.name}: left out, not installed`);
  else await measure(server).finally(() => server.stop());
}
process.exit(0);
