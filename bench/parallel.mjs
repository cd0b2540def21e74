// Record creates by 24 clients at once, each in its own domain, at a provider without latency: how long one change
// waits for others, on each database. Last part of `npm run bench`; with DATABASE_URL on that server only. Warm-up
// creates are not counted; prints the median of the rounds with minimum and maximum.
//   BENCH_ROUNDS    rounds on each database, default 3
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { onEachDatabase } from './service.mjs';
import { size } from './short.mjs';

const CLIENTS = 24;
const WARM = size(1200, 24);
const CREATES = size(720, 24);
/** Goal for p99 of the creates, as a multiple of p50. */
const GOAL = 4;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? size(3, 1));

const [standIn, load] = ['stand-in.mjs', 'load.mjs'].map((file) => fork(join(import.meta.dirname, file)));

/** Creates 24 domains of one account. @returns the paths of their records */
async function paths(post, pid, port) {
  const credentials = { url: `http://127.0.0.1:${port}`, api_key: 'bench' };
  const account = await post('/api/accounts', { provider: 'powerdns', name: 'at once', credentials });
  const made = [];
  for (let i = 0; i < CLIENTS; i++) {
    const domain = { name: `z${i}-${pid}.example`, account_id: account.id, create: true };
    made.push(`/api/domains/${(await post('/api/domains', domain)).id}/records`);
  }
  return made;
}

const spread = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const [least, middle, most] = [0, sorted.length >> 1, sorted.length - 1].map((i) =>
    sorted[i].toFixed(sorted[i] < 100 ? 1 : 0),
  );
  return `${middle} (${least} to ${most})`;
};

try {
  const [port] = await once(standIn, 'message');
  console.log(`\n${CLIENTS} clients create records in ${CLIENTS} domains (goal: p99 under ${GOAL} times p50)`);
  await onEachDatabase(async ({ url, pid, token, post }) => {
    const job = {
      port: Number(new URL(url).port),
      method: 'POST',
      path: await paths(post, pid, port),
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ host: 'r{n}', type: 'A', value: '192.0.2.1', ttl: 600 }),
      connections: CLIENTS,
    };
    const seen = [];
    for (let round = 0; round <= ROUNDS; round++) {
      load.send({ ...job, first: round * WARM, count: round ? CREATES : WARM });
      const [{ result, error }] = await once(load, 'message');
      if (error) throw new Error(error);
      if (round) seen.push({ ...result, ratio: result.p99 / result.p50 });
    }
    const [ratio, p50, p99, rps] = ['ratio', 'p50', 'p99', 'rps'].map((key) => spread(seen.map((one) => one[key])));
    return `p99 ${ratio} times p50; p50 ${p50} ms, p99 ${p99} ms; ${rps} a second, load ${loadavg()[0].toFixed(1)}`;
  });
} finally {
  standIn.kill();
  load.kill();
}
