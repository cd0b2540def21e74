import { Module } from '@nestjs/common';
import { DomainsModule } from '../../domains/domains.module.js';
import { NotificationsModule } from '../../notifications/notifications.module.js';
import { Bootstrap } from './bootstrap.service.js';
import { CertificatesRepository } from './certificates.repository.js';
import { Certificates } from './certificates.service.js';
import { ExpiryController } from './expiry.controller.js';
import { Lookup } from './lookup.service.js';
import { RdapHttp } from './rdap.service.js';
import { RegistrationWatch } from './registration-watch.service.js';
import { RegistrationsRepository } from './registrations.repository.js';
import { Registrations } from './registrations.service.js';
import { RegistryServersRepository } from './registry-servers.repository.js';
import { RegistryServers } from './registry-servers.service.js';
import { Reminders } from './reminders.service.js';
import { Whois } from './whois.service.js';

@Module({
  imports: [DomainsModule, NotificationsModule],
  controllers: [ExpiryController],
  providers: [
    Registrations,
    RegistrationsRepository,
    RegistrationWatch,
    Lookup,
    Bootstrap,
    RdapHttp,
    Whois,
    RegistryServers,
    RegistryServersRepository,
    Reminders,
    Certificates,
    CertificatesRepository,
  ],
  exports: [CertificatesRepository],
})
export class ExpiryModule {}
