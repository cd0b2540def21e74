import { Module } from '@nestjs/common';
import { RecordCache } from './record-cache.js';

@Module({ providers: [RecordCache], exports: [RecordCache] })
export class CacheModule {}
