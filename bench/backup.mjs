// Memory and time of a backup of a million records on each database: `npm run bench:backup`; with DATABASE_URL on that
// server only.
import { seedCopies } from './seed.mjs';
import { onEachDatabase } from './service.mjs';
import { size } from './short.mjs';

const RECORDS = size(1_000_000, 2000);
/** MiB of the whole process. */
const GOAL = 200;

console.log(`\nA backup of ${RECORDS} records (goal: ${GOAL} MiB of the whole process)`);
await onEachDatabase(async ({ databaseUrl, post, peakMiB }) => {
  await seedCopies(databaseUrl, RECORDS);
  const before = peakMiB();
  const start = performance.now();
  const { size } = await post('/api/system/backup');
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return `${seconds} s, ${Math.round(size / 1e6)} MB, peak ${peakMiB()} MiB, ${before} MiB before`;
});
