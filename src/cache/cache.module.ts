import { Module } from '@nestjs/common';
import { DnsRecordsRepository } from './dns-records.repository.js';
import { RecordCache } from './record-cache.js';
import { RecordCountsRepository } from './record-counts.repository.js';

@Module({
  providers: [DnsRecordsRepository, RecordCountsRepository, RecordCache],
  exports: [DnsRecordsRepository, RecordCache],
})
export class CacheModule {}
