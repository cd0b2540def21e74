// One user runs everything heavy at once (a hostile name server, checks of hanging targets, a provider that only
// answers 429, a zone file of 100 000 records, lists of 5 000 changes, synchronisations of 50 000 records, exports and
// backups) while another one checks the health endpoint and changes a record once a second. FAIR_SECONDS (60),
// FAIR_SCALE (1: the sizes above); on SQLite unless DATABASE_URL names a server.
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { size } from './short.mjs';
import { besides } from './sql.mjs';

const { FAIR_SECONDS = size(60, 1), FAIR_SCALE = size(1, 0.002), DATABASE_URL = '' } = process.env;
const SECONDS = Number(FAIR_SECONDS);
const sized = (count) => Math.max(1, Math.round(count * Number(FAIR_SCALE)));
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };
const OTHER = { username: 'other', password: 'correct-horse-battery-8' };
const HOSTILE = '127.0.53.1';
const ends = [];

/** Answers each question with 64 KiB in which 5 400 records repeat a name of 254 octets by a pointer. */
async function startHostile() {
  const long = Buffer.concat([...Array(126).fill(Buffer.from([1, 0x78])), Buffer.from([0])]);
  const answer = (question, tcp) => {
    const end = question.indexOf(0, 12) + 5;
    const head = Buffer.from(question.subarray(0, end));
    head.writeUInt16BE(tcp ? 0x8400 : 0x8600, 2);
    if (!tcp) return head;
    const at = end + 10 + 2;
    const fixed = (length) => Buffer.from([0, 2, 0, 1, 0, 0, 1, 0, length >> 8, length & 255]);
    const first = Buffer.concat([Buffer.from([0xc0, 12]), fixed(long.length), long]);
    const next = Buffer.concat([Buffer.from([0xc0, at]), fixed(2), Buffer.from([0xc0, at])]);
    const count = Math.floor((65_000 - end - first.length) / next.length);
    head.writeUInt16BE(count + 1, 6);
    return Buffer.concat([head, first, ...Array(count).fill(next)]);
  };
  const udp = createSocket('udp4').on('message', (question, from) =>
    udp.send(answer(question), from.port, from.address),
  );
  const tcp = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      const message = answer(chunk.subarray(2), true);
      socket.write(Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]));
    });
  });
  try {
    await new Promise((bound, failed) => udp.once('error', failed).bind(53, HOSTILE, bound));
    await new Promise((bound, failed) => tcp.once('error', failed).listen(53, HOSTILE, bound));
  } catch (error) {
    return console.log(`  the hostile name server is left out: ${error.message}`);
  }
  ends.push(
    () => udp.close(),
    () => tcp.close(),
  );
}

const listening = async (server, host = '127.0.0.1') => {
  await new Promise((done) => server.listen(0, host, done));
  ends.push(() => {
    server.close();
    server.closeAllConnections?.();
  });
  return server.address().port;
};
async function startStandIn() {
  const child = fork(join(import.meta.dirname, 'stand-in.mjs'));
  ends.push(() => child.kill('SIGKILL'));
  const port = await new Promise((done) => child.once('message', done));
  return `http://127.0.0.1:${port}`;
}

const own = DATABASE_URL ? await besides(DATABASE_URL) : null;
const service = await startThrowaway(
  {
    DATABASE_URL: own?.url ?? 'sqlite:bench.db',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'info',
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
  },
  ['--import', join(import.meta.dirname, 'loop-delay.mjs')],
);
const client = (token) => async (method, path, body) => {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok)
    throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`), {
      status: answer.status,
    });
  return text.startsWith('{"code"') ? JSON.parse(text).data : text;
};

try {
  await main();
} finally {
  for (const end of ends) end();
  await service.stop();
  await own?.drop();
}

async function main() {
  const greedy = client((await client()('POST', '/api/auth/login', ADMIN)).token);
  await greedy('POST', '/api/users', { ...OTHER, role: 2 });
  const other = client((await client()('POST', '/api/auth/login', OTHER)).token);
  const account = (who, url) =>
    who('POST', '/api/accounts', { provider: 'powerdns', name: url, credentials: { url, api_key: 'bench' } });
  const domain = async (who, account_id, name, create = true) =>
    (await who('POST', '/api/domains', { name, account_id, create })).id;

  const [standIn, elsewhere] = [await startStandIn(), await startStandIn()];
  const zone = { name: 'large.example.', rrsets: [] };
  for (let i = 0; i < sized(50_000); i++)
    zone.rrsets.push({
      name: `h${i}.large.example.`,
      type: 'A',
      ttl: 300,
      records: [{ content: '192.0.2.1', disabled: false }],
    });
  const made = await fetch(`${standIn}/api/v1/servers/localhost/zones`, { method: 'POST', body: JSON.stringify(zone) });
  if (!made.ok) throw new Error('the stand-in took no zone');
  const vendor = await account(greedy, standIn);
  const busy = await domain(greedy, vendor.id, 'busy.example');
  const mine = await domain(other, (await account(other, elsewhere)).id, 'mine.example');
  const record = (await other('POST', `/api/domains/${mine}/records`, { host: 'www', type: 'A', value: '192.0.2.1' }))
    .id;

  // targets that accept connections without answering
  const silent = await listening(
    createServer((socket) => void socket.on('error', () => undefined)),
    '0.0.0.0',
  );
  for (let d = 0; d < 7; d++) {
    const id = await domain(greedy, vendor.id, `hangs${d}.example`);
    const check = { kind: 'http', port: silent, interval_s: 1, timeout_s: 1, fall: 20, rise: 2 };
    const rules = Array.from({ length: sized(40) }, (_none, i) => ({
      host: `h${i}`,
      type: 'A',
      primary: [`127.30.${d}.${i + 1}`],
      backup: [`127.31.${d}.${i + 1}`],
      check,
    }));
    await greedy('POST', `/api/domains/${id}/failover`, { enabled: true, rules });
  }
  // a provider that always answers 429, once it has a zone
  let full = false;
  const tired = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (full) return response.writeHead(429, { 'retry-after': '1' }).end();
    const answer = await fetch(elsewhere + request.url, { method: request.method, ...(body && { body }) });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  const limited = await domain(
    greedy,
    (await account(greedy, `http://127.0.0.1:${await listening(tired)}`)).id,
    'limited.example',
  );
  full = true;
  // a large zone file
  const files = await greedy('POST', '/api/accounts', { provider: 'zonefile', name: 'files', credentials: {} });
  const lines = Array.from({ length: sized(100_000) }, (_none, i) => `h${i} 300 IN A 192.0.2.${i & 255}`);
  const head =
    '$ORIGIN file.example.\n@ 3600 IN SOA ns1.example.net. hostmaster.example.net. 1 3600 600 86400 300\n@ 3600 IN NS ns1.example.net.\n';
  const file = await domain(greedy, files.id, 'file.example');
  writeFileSync(join(service.dataDir, 'zones', 'file.example.zone'), `${head}${lines.join('\n')}\n`);
  // a zone with a hostile name server
  await startHostile();
  const sick = await domain(greedy, vendor.id, 'sick.example');
  for (let i = 0; i < 8; i++) {
    await greedy('POST', `/api/domains/${sick}/records`, { host: '@', type: 'NS', value: `ns${i}.sick.example.` });
    await greedy('POST', `/api/domains/${sick}/records`, { host: `ns${i}`, type: 'A', value: HOSTILE });
  }
  await greedy('POST', `/api/accounts/${files.id}/sync?wait=50`);

  let on = true;
  let round = 0;
  const done = {};
  /** Repeats a request until the time is over; the service may refuse it. */
  const again = async (name, body) => {
    done[name] = { ok: 0, refused: 0 };
    while (on) {
      await body().then(
        () => void done[name].ok++,
        ({ status = 0 }) => {
          done[name].refused++;
          return sleep(status === 429 ? 200 : 20);
        },
      );
    }
  };
  const changes = (count) =>
    Array.from({ length: count }, (_none, i) => ({
      op: 'upsert',
      host: `b${i}`,
      type: 'A',
      value: `192.0.2.${(round + i) & 255}`,
    }));
  const heavy = [
    ...[1, 2, 3].map((i) => again(`health of a hostile zone ${i}`, () => greedy('GET', `/api/domains/${sick}/health`))),
    ...[1, 2, 3].map((i) =>
      again(`create at a vendor of 429s ${i}`, () =>
        greedy('POST', `/api/domains/${limited}/records`, {
          host: `c${i}`,
          type: 'A',
          value: `192.0.2.${round++ & 255}`,
        }),
      ),
    ),
    again('write to the large file', () =>
      greedy('PUT', `/api/domains/${file}/rrsets/w/A`, { values: [`192.0.2.${round++ & 255}`] }),
    ),
    again('list of 5 000 changes', () =>
      greedy('POST', `/api/domains/${busy}/records/batch?wait=50`, { changes: changes(sized(5000), round++) }),
    ),
    again('synchronisation', () => greedy('POST', `/api/accounts/${vendor.id}/sync?wait=50`)),
    again('export', () => greedy('GET', '/api/audit/export?format=ndjson')),
    again('backup', () => greedy('POST', '/api/system/backup')),
  ];

  const times = { live: [], change: [] };
  const measured = async (list, body) => {
    const begin = performance.now();
    await body();
    list.push(performance.now() - begin);
  };
  const failures = [];
  process.kill(service.pid, 'SIGUSR2');
  const until = performance.now() + SECONDS * 1000;
  while (performance.now() < until) {
    const n = round++ & 255;
    await Promise.all([
      sleep(1000),
      measured(times.live, () => client()('GET', '/health/live')),
      measured(times.change, () =>
        other('PUT', `/api/domains/${mine}/records/${record}`, { value: `198.51.100.${n}` }),
      ).catch(({ message }) => failures.push(message)),
    ]);
  }
  process.kill(service.pid, 'SIGUSR2');
  await sleep(1000);
  on = false;
  const told = service
    .log()
    .match(/\{"msg":"loop delay".*\}/g)
    ?.at(-1);
  const { p50, p99, max } = JSON.parse(told ?? '{}');
  const line = (name, list, unit = 'ms') => {
    const sorted = list.toSorted((a, b) => a - b);
    const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]?.toFixed(1);
    console.log(`  ${name}: p50 ${at(0.5)} ${unit}, most ${at(1)} ${unit}, of ${sorted.length}`);
  };
  console.log(`\nFairness, ${SECONDS} s on ${own ? 'a server' : 'SQLite'}, Node ${process.version}`);
  console.log(`  event loop held: p50 ${p50} ms, p99 ${p99} ms (goal: 50), most ${max} ms (goal: 200)`);
  line('GET /health/live', times.live);
  line('change of a record by somebody else (goal: 2000 ms)', times.change);
  for (const message of failures) console.log(`    failed: ${message}`);
  for (const [name, { ok, refused }] of Object.entries(done)) console.log(`  ${name}: ${ok} done, ${refused} refused`);
  await Promise.race([Promise.all(heavy), sleep(5000)]);
}
