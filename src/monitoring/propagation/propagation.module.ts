import { Module } from '@nestjs/common';
import { DnsClientModule } from '../../platform/dns-client/dns-client.module.js';
import { RecordsModule } from '../../records/records.module.js';
import { DelegationModule } from '../delegation/delegation.module.js';
import { PropagationController } from './propagation.controller.js';
import { Propagation } from './propagation.service.js';

@Module({
  imports: [RecordsModule, DelegationModule, DnsClientModule],
  controllers: [PropagationController],
  providers: [Propagation],
  exports: [Propagation, RecordsModule],
})
export class PropagationModule {}
