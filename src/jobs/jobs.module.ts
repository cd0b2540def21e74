import { Global, Module } from '@nestjs/common';
import { RedisModule } from '../redis/redis.module.js';
import { JobReader } from './job-reader.service.js';
import { Jobs } from './jobs.js';
import { JobsRepository } from './jobs.repository.js';
import { JobRunner } from './runner.service.js';
import { StopWatch } from './stop-watch.service.js';

/** Serves all contexts: what there is to do is said here. */
@Global()
@Module({ providers: [Jobs, JobsRepository, JobReader], exports: [Jobs, JobsRepository, JobReader] })
export class JobsModule {}

/** Does it: only the service imports it. */
@Module({ imports: [RedisModule], providers: [JobRunner, StopWatch] })
export class JobRunnerModule {}
