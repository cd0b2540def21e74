import { Module } from '@nestjs/common';
import { RedisLink } from './redis-link.js';

@Module({ providers: [RedisLink], exports: [RedisLink] })
export class RedisModule {}
