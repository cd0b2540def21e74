import { Module } from '@nestjs/common';
import { GuardModule } from '../auth/guard/guard.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { RecordsModule } from '../records/records.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { AcmeDnsController } from './acme-dns/acme-dns.controller.js';
import { AcmeDnsService } from './acme-dns/acme-dns.service.js';
import { AcmeRegistrationsRepository } from './acme-dns/acme-registrations.repository.js';
import { DoorsController } from './doors.controller.js';
import { DoorsService } from './doors.service.js';
import { NicUpdateController, V3UpdateController } from './dyndns2/dyndns2.controller.js';
import { Dyndns2Service } from './dyndns2/dyndns2.service.js';
import { HttpreqController } from './httpreq/httpreq.controller.js';
import { Challenges } from './kit/challenges.service.js';
import { DoorNames } from './kit/door-names.service.js';

@Module({
  imports: [GuardModule, DomainsModule, RecordsModule, TokensModule],
  controllers: [DoorsController, HttpreqController, AcmeDnsController, NicUpdateController, V3UpdateController],
  providers: [DoorsService, DoorNames, Challenges, AcmeDnsService, AcmeRegistrationsRepository, Dyndns2Service],
})
export class DoorsModule {}
