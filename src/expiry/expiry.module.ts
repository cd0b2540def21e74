import { Module } from '@nestjs/common';
import { DomainsModule } from '../domains/domains.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { Bootstrap } from './bootstrap.service.js';
import { Certificates } from './certificates.service.js';
import { ExpiryController } from './expiry.controller.js';
import { Lookup } from './lookup.service.js';
import { RdapHttp } from './rdap.service.js';
import { Registrations } from './registrations.service.js';
import { RegistryServers } from './registry-servers.service.js';
import { Reminders } from './reminders.service.js';
import { Whois } from './whois.service.js';

@Module({
  imports: [DomainsModule, NotificationsModule],
  controllers: [ExpiryController],
  providers: [Registrations, Lookup, Bootstrap, RdapHttp, Whois, RegistryServers, Reminders, Certificates],
})
export class ExpiryModule {}
