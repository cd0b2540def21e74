// Exports of a domain of 100 000 records: time, memory and the longest pause of the event loop (goals: 200 MiB beyond
// the start, 50 ms). `npm run bench:export`, on SQLite, or on the server that DATABASE_URL names.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startThrowaway } from '../scripts/throwaway.mjs';
import { seed } from './seed.mjs';
import { size } from './short.mjs';
import { besides, kindOf } from './sql.mjs';

const { DATABASE_URL } = process.env;
const RECORDS = size(100_000, 500);
const FORMATS = ['zonefile', 'csv', 'json', 'octodns', 'dnscontrol', 'terraform'];
const ADMIN = { username: 'admin', password: 'correct-horse-battery-9' };

const memory = (pid, what) =>
  Math.round(Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

async function bench() {
  const own = DATABASE_URL && kindOf(DATABASE_URL) !== 'sqlite' ? await besides(DATABASE_URL) : null;
  const DELAY = new URL('./loop-delay.mjs', import.meta.url).pathname;
  const service = await startThrowaway(
    { ADMIN_USERNAME: ADMIN.username, ADMIN_PASSWORD: ADMIN.password, DATABASE_URL: own?.url ?? 'sqlite:bench.db' },
    ['--import', DELAY],
  );
  const delayed = async () => {
    const told = () => [...service.log().matchAll(/\{"msg":"loop delay".*?\}/g)].map(([line]) => line);
    const before = told().length;
    process.kill(service.pid, 'SIGUSR2');
    while (told().length === before) await new Promise((resolve) => setTimeout(resolve, 20));
    return JSON.parse(told().at(-1));
  };
  try {
    const url = own?.url ?? `sqlite:${join(service.dataDir, 'bench.db')}`;
    const { operator } = await seed(url, { domains: 2, records: 1, permissions: [], filtered: [RECORDS] });
    console.log(`\nA domain of ${RECORDS} records on ${kindOf(url)}`);
    const headers = { authorization: `Bearer ${operator}` };
    for (const format of FORMATS) {
      const before = memory(service.pid, 'VmRSS');
      writeFileSync(`/proc/${service.pid}/clear_refs`, '5');
      await delayed();
      const start = performance.now();
      const answer = await fetch(`${service.url}/api/domains/2/export?format=${format}`, { headers });
      if (!answer.ok) throw new Error(await answer.text());
      let size = 0;
      for await (const piece of answer.body) size += piece.length;
      const ms = Math.round(performance.now() - start);
      const { max } = await delayed();
      const more = memory(service.pid, 'VmHWM') - before;
      console.log(
        `  ${format}: ${(size / 2 ** 20).toFixed(1)} MiB in ${ms} ms, ${more} MiB more (of ${before}), loop ${max} ms at most`,
      );
    }
  } finally {
    await service.stop();
    await own?.drop();
  }
}

await bench();
