import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { DnsRecordsRepository } from './dns-records.repository.js';
import { RecordCache } from './record-cache.js';
import { RecordCountsRepository } from './record-counts.repository.js';

@Module({
  imports: [DomainsModule],
  providers: [DnsRecordsRepository, RecordCountsRepository, RecordCache],
  exports: [DnsRecordsRepository, RecordCache],
})
export class CacheModule {}
