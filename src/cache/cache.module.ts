import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { DnsRecordsRepository } from './dns-records.repository.js';
import { RecordCache } from './record-cache.js';
import { RecordCountsRepository } from './record-counts.repository.js';
import { RecordEndsRepository } from './record-ends.repository.js';
import { TrashedRecords } from './trashed-records.repository.js';

@Module({
  imports: [DomainsModule],
  providers: [DnsRecordsRepository, RecordCountsRepository, RecordEndsRepository, RecordCache, TrashedRecords],
  exports: [DnsRecordsRepository, RecordEndsRepository, RecordCache, TrashedRecords],
})
export class CacheModule {}
