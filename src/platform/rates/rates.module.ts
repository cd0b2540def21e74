import { Module } from '@nestjs/common';
import { RedisModule } from '../redis/redis.module.js';
import { RateCounts } from './rate-counts.js';
import { RateStorage } from './rate-storage.js';

@Module({ imports: [RedisModule], providers: [RateStorage, RateCounts], exports: [RateStorage, RateCounts] })
export class RatesModule {}
