import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { DnsRecordsRepository } from './dns-records.repository.js';
import { RecordCache } from './record-cache.js';
import { RecordCountsRepository } from './record-counts.repository.js';
import { RecordEndsRepository } from './record-ends.repository.js';

@Module({
  imports: [DomainsModule],
  providers: [DnsRecordsRepository, RecordCountsRepository, RecordEndsRepository, RecordCache],
  exports: [DnsRecordsRepository, RecordEndsRepository, RecordCache],
})
export class CacheModule {}
