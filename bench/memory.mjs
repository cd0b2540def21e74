// Memory of the process, in MiB of VmRSS: `npm run bench:memory`, on each database, or on the one that DATABASE_URL
// names.
//   at rest     two minutes after the start, and two minutes after it was used (goal: 150)
//   streams     the peak of each at a size and at ten times the size (goal: 20 more at most)
//   BENCH_ONLY  `rest` or `streams`
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { appendEntries } from './audit-entries.mjs';
import { seedCopies } from './seed.mjs';
import { onEachDatabase } from './service.mjs';
import { size } from './short.mjs';
import { besides } from './sql.mjs';

const { BENCH_ONLY } = process.env;
const REST_MS = size(120_000, 10);
const LISTS = size(500, 5);
const RECORDS = [size(100_000, 500), size(1_000_000, 5000)];
const ENTRIES = [size(20_000, 200), size(200_000, 2000)];
/** of a document, which is 1 MiB at most */
const LINES = [size(2000, 50), size(20_000, 500)];
const FORMATS = ['zonefile', 'csv', 'json', 'octodns', 'dnscontrol', 'terraform'];

const memory = (pid, what) =>
  Math.round(Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

/** Lets `fetch` learn which connections were closed while SQLite was filled, which holds the loop. */
const turn = () => sleep(100);

const headers = (token) => ({ authorization: `Bearer ${token}` });

/** Reads an answer to its end, into a file or nowhere. */
async function read(url, token, file) {
  const answer = await fetch(url, { headers: headers(token) });
  if (!answer.ok) throw new Error(await answer.text());
  if (file) return pipeline(Readable.fromWeb(answer.body), createWriteStream(file));
  for await (const _piece of answer.body);
}

/** Runs the administration to its end. @returns its peak */
async function administered(args, env, cwd) {
  const entry = join(import.meta.dirname, '../dist/zoneward.cjs');
  const child = spawn(process.execPath, [entry, 'admin', ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peak = 0;
  const timer = setInterval(() => {
    try {
      peak = Math.max(peak, memory(child.pid, 'VmHWM') || 0);
    } catch {
      // it has ended
    }
  }, 10);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(' ')} failed`);
  return peak;
}

async function rest({ url, pid, token, post }) {
  await sleep(REST_MS);
  const before = memory(pid, 'VmRSS');
  const account = await post('/api/accounts', { provider: 'zonefile', name: 'files', credentials: {} });
  const domain = await post('/api/domains', { name: 'used.example', account_id: account.id, create: true });
  const path = `/api/domains/${domain.id}`;
  for (let i = 0; i < LISTS; i++) {
    if (i % 5 === 0) await post(`${path}/records`, { host: `h${i}`, type: 'A', value: '192.0.2.1' });
    await read(`${url}${path}/records?limit=20`, token);
    await read(`${url}/api/domains`, token);
  }
  for (const format of FORMATS) await read(`${url}${path}/export?format=${format}`, token);
  await post(`/api/accounts/${account.id}/sync`);
  await read(`${url}/api/openapi.json`, token);
  const used = memory(pid, 'VmRSS');
  await sleep(REST_MS);
  return `${before} at rest, ${used} right after it was used, ${memory(pid, 'VmRSS')} at rest again`;
}

/** The peaks of one size, by what is done. */
async function streams({ kind, url, pid, token, dataDir, databaseUrl, post }, at) {
  const { operator } = await seedCopies(databaseUrl, RECORDS[at]);
  await turn();
  await read(`${url}/api/audit/verify`, token);
  await appendEntries(databaseUrl, ENTRIES[at]);
  await turn();
  const peaks = {};
  const measured = async (what, work) => {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    const done = await work();
    peaks[what] = memory(pid, 'VmHWM');
    return done;
  };
  for (const format of FORMATS)
    await measured(format, () => read(`${url}/api/domains/2/export?format=${format}`, operator));
  const exported = join(dataDir, 'audit.ndjson');
  await measured('audit export', () => read(`${url}/api/audit/export?format=ndjson`, token, exported));
  await measured('audit verification', () => read(`${url}/api/audit/verify`, token));
  const { file } = await measured('backup', () => post('/api/system/backup'));
  const account = await post('/api/accounts', { provider: 'zonefile', name: 'files', credentials: {} });
  const { id } = await post('/api/domains', { name: 'import.example', account_id: account.id, create: true });
  const text = Array.from({ length: LINES[at] }, (_none, i) => `host-${i} 300 IN A 10.0.${i >> 8}.${i & 255}`).join(
    '\n',
  );
  await measured('plan of a zone file', () =>
    post(`/api/domains/${id}/plans`, { document: { format: 'zonefile', text } }),
  );
  peaks['admin audit-verify'] = await administered(['audit-verify', exported], {
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
  });
  const other = kind === 'sqlite' ? { url: 'sqlite:restored.db' } : await besides(databaseUrl);
  try {
    const env = { DATA_DIR: dataDir, DATABASE_URL: other.url };
    peaks['admin restore'] = await administered(['restore', join(dataDir, 'backups', file)], env, dataDir);
  } finally {
    await other.drop?.();
  }
  return peaks;
}

if (BENCH_ONLY !== 'streams') {
  console.log(`\nMiB of the process (goal: 150 at rest)`);
  await onEachDatabase(rest);
}
if (BENCH_ONLY !== 'rest') {
  console.log(`\nMiB of the process at its peak: ${RECORDS} records, ${ENTRIES} entries, documents of ${LINES} lines`);
  const small = {};
  await onEachDatabase(async (service) => {
    const peaks = await streams(service, 0);
    small[service.kind] = peaks;
    return JSON.stringify(peaks);
  });
  await onEachDatabase(async (service) => {
    const large = await streams(service, 1);
    return Object.entries(large)
      .map(([what, peak]) => `\n    ${what}: ${small[service.kind][what]}, ${peak}`)
      .join('');
  });
}
