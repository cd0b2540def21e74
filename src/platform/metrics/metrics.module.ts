import { Module } from '@nestjs/common';
import { RedisModule } from '../redis/redis.module.js';
import { MetricsServer } from './metrics-server.js';

@Module({
  imports: [RedisModule],
  providers: [MetricsServer],
})
export class MetricsModule {}
