// All accounts of a large installation synchronised at once: BENCH_DOMAINS (10 000) domains with 100 records each at
// 20 accounts, the first time and again, without a difference; how long an account of one domain takes beside them, and
// how long `/health/live`. On SQLite, or the server that DATABASE_URL names.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { onEachDatabase } from './service.mjs';
import { size } from './short.mjs';

const DOMAINS = Number(process.env.BENCH_DOMAINS ?? size(10_000, 40));
const ACCOUNTS = 20;
const EACH = DOMAINS / ACCOUNTS;
const RECORDS = size(100, 3);

/** A PowerDNS without latency, whose zones are made up as they are asked for. Sends its port. */
async function vendor() {
  const ROOT = /^\/a(\d+)\/api\/v1\/servers\/localhost(?:\/zones(?:\/([^?]+))?)?(?:\?|$)/;
  const zoneOf = (id, rrsets = []) => ({ id, name: id, kind: 'Native', rrsets });
  const set = (name, type, content) => ({ name, type, ttl: 300, records: [{ content, disabled: false }] });
  const whole = (id) => [
    set(id, 'SOA', `ns1.example.net. hostmaster.${id} 1 10800 3600 604800 3600`),
    ...Array.from({ length: RECORDS - 1 }, (_none, i) => set(`h${i}.${id}`, 'A', `192.0.2.${i % 250}`)),
  ];
  const answer = (url) => {
    const [, account, id] = ROOT.exec(url);
    if (id) return zoneOf(id, whole(id));
    if (!url.includes('/zones')) return { id: 'localhost', version: '5.0.0' };
    const count = account === `${ACCOUNTS}` ? 1 : EACH;
    return Array.from({ length: count }, (_none, i) => zoneOf(`z${i}.a${account}.example.`));
  };
  const server = createServer(({ url }, response) => {
    const json = JSON.stringify(answer(url));
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
      .end(json);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(server.address().port);
}

async function measure(port, { pid, url, token, post, peakMiB }) {
  const authorization = `Bearer ${token}`;
  const account = async (i) => {
    const credentials = { url: `http://127.0.0.1:${port}/a${i}`, api_key: 'bench' };
    return (await post('/api/accounts', { provider: 'powerdns', name: `a${i}`, credentials })).id;
  };
  const ids = [];
  for (let i = 0; i <= ACCOUNTS; i++) ids.push(await account(i));
  const small = ids.pop();
  const cpuMs = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  const timed = async (work) => {
    const start = performance.now();
    await work();
    return performance.now() - start;
  };
  const round = async () => {
    const [start, cpu] = [performance.now(), cpuMs()];
    const jobs = [];
    for (const id of ids) jobs.push((await post(`/api/accounts/${id}/sync?wait=0`)).job_id);
    let [live, beside, ended] = [0, 0, 0];
    while (ended < jobs.length) {
      const health = await timed(() => fetch(`${url}/health/live`).then((answer) => answer.text()));
      const other = await timed(() => post(`/api/accounts/${small}/sync`));
      [live, beside] = [Math.max(live, health), Math.max(beside, other)];
      await sleep(200);
      const states = await Promise.all(
        jobs.map(async (id) => {
          const answer = await fetch(`${url}/api/system/jobs/${id}`, { headers: { authorization } });
          return (await answer.json()).data.state;
        }),
      );
      const failed = states.find((state) => !['waiting', 'running', 'done'].includes(state));
      if (failed) throw new Error(`a synchronisation is ${failed}`);
      ended = states.filter((state) => state === 'done').length;
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const used = ((cpuMs() - cpu) / 1000).toFixed(1);
    return `${seconds} s (${used} s of the processor; another account ${beside.toFixed(0)} ms at most, /health/live ${live.toFixed(0)})`;
  };
  const first = await round();
  const again = await round();
  return `first ${first}, again ${again}, peak ${peakMiB()} MiB`;
}

if (process.argv[2] === 'vendor') await vendor();
else {
  const child = fork(import.meta.filename, ['vendor']);
  try {
    const [port] = await once(child, 'message');
    console.log(`${DOMAINS} domains of ${RECORDS} records at ${ACCOUNTS} accounts (load ${loadavg()[0].toFixed(1)})`);
    await onEachDatabase((service) => measure(port, service));
  } finally {
    child.kill();
  }
}
