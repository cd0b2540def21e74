// A process of `leases.mjs`: takes leases of the service all the time, and writes under each what only its one holder
// may write: a number that is one more than the one it read when it had the lease. Arguments: the URL of the database,
// how many names there are, how many are taken at once, and how long the slow ones are held before they write, in ms.
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENTITIES } from '../dist/src/entities.js';
import { createLogger } from '../dist/src/platform/common/logger.js';
import { parseDatabaseUrl } from '../dist/src/platform/config/config.js';
import { AppDataSource } from '../dist/src/platform/database/app-data-source.js';
import { Db } from '../dist/src/platform/database/db.js';
import { LeaseLost, Leases } from '../dist/src/platform/database/leases.js';
import { Traces } from '../dist/src/platform/traces/traces.js';

const [url, names, atOnce, slowMs] = process.argv.slice(2);
/** holders that keep a lease for a while; who is frozen holds theirs */
const SLOW = 4;
const WAIT_MS = 100;
const TELL_MS = 100;
/** A write under a lease that somebody else has written under, too. */
class Violation extends Error {}

const source = new AppDataSource(ENTITIES);
await source.open(parseDatabaseUrl(url, tmpdir()));
const db = new Db(source, new Traces());
const leases = new Leases(db, createLogger('silent'));
const counts = { cpu: 0, takes: 0, writes: 0, refused: 0, busy: 0, failed: 0, violations: 0 };
let running = true;

async function write(name, held, ms) {
  counts.takes++;
  const [{ number }] = await db.rows('SELECT number FROM guarded WHERE name = ?', [name]);
  if (ms) await sleep(ms);
  await db.transaction(async (manager) => {
    await (ms ? held.confirm(manager) : held.release(manager));
    const next = 'UPDATE guarded SET number = number + 1 WHERE name = ? AND number = ?';
    if ((await db.run(next, [name, Number(number)], manager)) !== 1) throw new Violation();
  });
  counts.writes++;
}

async function holder(name, waitMs, ms) {
  while (running) {
    const one = name();
    await leases
      .hold([one], waitMs, (held) => write(one, held, ms))
      .catch((error) => {
        if (error instanceof Violation) counts.violations++;
        else if (error instanceof LeaseLost) counts.refused++;
        else if (error.code === 409001) counts.busy++;
        else counts.failed++;
      });
  }
}

const any = (kind, count) => () => `${kind}${Math.floor(Math.random() * count)}`;
const quick = Array.from({ length: Number(atOnce) }, () => holder(any('quick', Number(names)), WAIT_MS, 0));
const slow = Array.from({ length: SLOW }, () => holder(any('slow', SLOW), WAIT_MS, Number(slowMs)));
const telling = setInterval(() => {
  const { user, system } = process.cpuUsage();
  counts.cpu = (user + system) / 1000;
  process.send(counts);
}, TELL_MS);
// nobody outlives the measurement
process.once('disconnect', () => process.exit());
process.once('message', async () => {
  running = false;
  clearInterval(telling);
  await Promise.all([...quick, ...slow]);
  await source.destroy();
  process.send(counts, () => process.exit());
});
