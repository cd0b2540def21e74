import { Global, Module } from '@nestjs/common';
import { RedisModule } from '../redis/redis.module.js';
import { Metrics } from './metrics.js';
import { MetricsServer } from './metrics-server.js';

/** Serves all contexts. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}

/** Shows them at a port of their own: only the service imports it. */
@Module({ imports: [RedisModule], providers: [MetricsServer] })
export class MetricsServerModule {}
