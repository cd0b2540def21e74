// Memory and time of a backup of a million records on each database: `npm run bench:backup`; with DATABASE_URL on that
// server only.
import { seed } from './seed.mjs';
import { onEachDatabase } from './service.mjs';
import { open } from './sql.mjs';

const RECORDS = 1_000_000;
const FIRST = 1000;
/** MiB of the whole process. */
const GOAL = 200;

/** Copies the existing records within their zone under new ids until there are enough. */
async function fill(url) {
  await seed(url, { domains: 2, records: 0, permissions: [], filtered: [FIRST] });
  const db = open(url);
  const rest = 'ttl, line, proxied, enabled, remark, read_only, updated_at, created_at, search';
  for (let count = FIRST; count < RECORDS; count *= 2)
    await db.run(
      `INSERT INTO dns_records (id, domain_id, remote_id, host, type, value, ${rest})
        SELECT id + ${count}, domain_id, CONCAT('r', id + ${count}), host, type, value, ${rest}
          FROM dns_records WHERE id <= ${RECORDS - count}`,
    );
  await db.close();
}

console.log(`\nA backup of ${RECORDS} records (goal: ${GOAL} MiB of the whole process)`);
await onEachDatabase(async ({ databaseUrl, post, peakMiB }) => {
  await fill(databaseUrl);
  const before = peakMiB();
  const start = performance.now();
  const { size } = await post('/api/system/backup');
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return `${seconds} s, ${Math.round(size / 1e6)} MB, peak ${peakMiB()} MiB, ${before} MiB before`;
});
