import { Module } from '@nestjs/common';
import { DomainsModule } from '../../domains/domains.module.js';
import { RecordsModule } from '../records.module.js';
import { SearchModule } from '../search/search.module.js';
import { ManyPlansController } from './many.controller.js';
import { ManyPlans } from './many-plans.service.js';

@Module({
  imports: [RecordsModule, SearchModule, DomainsModule],
  controllers: [ManyPlansController],
  providers: [ManyPlans],
})
export class ManyPlansModule {}
