import { Global, Module } from '@nestjs/common';
import { RedisModule } from '../redis/redis.module.js';
import { JobQueue } from './job-queue.service.js';
import { JobReader } from './job-reader.service.js';
import { Jobs } from './jobs.js';
import { JobsRepository } from './jobs.repository.js';
import { JobRunner } from './runner.service.js';
import { StopWatch } from './stop-watch.service.js';

/** Serves all contexts: each registers its jobs here. */
@Global()
@Module({
  providers: [Jobs, JobQueue, JobsRepository, JobReader],
  exports: [Jobs, JobQueue, JobsRepository, JobReader],
})
export class JobsModule {}

/** Runs the jobs: only the service imports it. */
@Module({ imports: [RedisModule], providers: [JobRunner, StopWatch] })
export class JobRunnerModule {}
