import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { DomainPolicy } from './domain-policy.js';
import { DomainsController } from './domains.controller.js';
import { DomainsService } from './domains.service.js';

@Module({
  imports: [AccountsModule],
  controllers: [DomainsController],
  providers: [DomainsService, DomainPolicy],
  exports: [DomainsService, DomainPolicy],
})
export class DomainsModule {}
