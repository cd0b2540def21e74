import { Module } from '@nestjs/common';
import { DomainsModule } from '../../domains/domains.module.js';
import { RecordsModule } from '../records.module.js';
import { SearchController } from './search.controller.js';
import { RecordSearch } from './search.service.js';

@Module({
  imports: [RecordsModule, DomainsModule],
  controllers: [SearchController],
  providers: [RecordSearch],
  exports: [RecordSearch],
})
export class SearchModule {}
