// A process with one scheduled job of the given name: each run prints a line on stdout and lasts `ms`.
// node job-process.mjs <database url> <redis url or ''> <name> <every ms> <ms>
import { createLogger } from '../../dist/src/platform/common/logger.js';
import { parseDatabaseUrl } from '../../dist/src/platform/config/config.js';
import { AppDataSource } from '../../dist/src/platform/database/app-data-source.js';
import { Db } from '../../dist/src/platform/database/db.js';
import { Events } from '../../dist/src/platform/events/events.js';
import { JobQueue } from '../../dist/src/platform/jobs/job-queue.service.js';
import { Jobs } from '../../dist/src/platform/jobs/jobs.js';
import { JobsRepository } from '../../dist/src/platform/jobs/jobs.repository.js';
import { JobRunner } from '../../dist/src/platform/jobs/runner.service.js';
import { RedisLink } from '../../dist/src/platform/redis/redis-link.js';
import { Traces } from '../../dist/src/platform/traces/traces.js';

const [url, redis, name, every, ms] = process.argv.slice(2);
const source = new AppDataSource([]);
await source.open(parseDatabaseUrl(url, process.cwd()));
const logger = createLogger('silent');
const traces = new Traces();
const repository = new JobsRepository(new Db(source, traces));
const queue = new JobQueue(repository);
const jobs = new Jobs(queue, repository);
const events = new Events(logger);
const works = { halted: null, paused: null, serve() {} };
jobs.schedule(name, Number(every), async () => {
  process.stdout.write('run\n');
  await new Promise((resolve) => setTimeout(resolve, Number(ms)));
});
const link = new RedisLink({ redisUrl: redis || null }, logger);
new JobRunner(link, jobs, queue, repository, { open: true }, events, works, traces, logger).onModuleInit();
await events.emit('database.opened');
