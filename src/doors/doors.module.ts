import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { GuardModule } from '../auth/guard/guard.module.js';
import { DomainsModule } from '../domains/domains.module.js';
import { DnsClientModule } from '../platform/dns-client/dns-client.module.js';
import { RecordsModule } from '../records/records.module.js';
import { SearchModule } from '../records/search/search.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { TrashModule } from '../trash/trash.module.js';
import { AcmeDnsController } from './acme-dns/acme-dns.controller.js';
import { AcmeDnsService } from './acme-dns/acme-dns.service.js';
import { AcmeRegistrationsRepository } from './acme-dns/acme-registrations.repository.js';
import { DoorsController } from './doors.controller.js';
import { DoorsService } from './doors.service.js';
import { NicUpdateController, V3UpdateController } from './dyndns2/dyndns2.controller.js';
import { Dyndns2Service } from './dyndns2/dyndns2.service.js';
import { ExternalDnsController } from './external-dns/external-dns.controller.js';
import { ExternalDnsService } from './external-dns/external-dns.service.js';
import { HttpreqController } from './httpreq/httpreq.controller.js';
import { Challenges } from './kit/challenges.service.js';
import { DoorNames } from './kit/door-names.service.js';
import { CertdController, DdnsGoController } from './panel/panel.controller.js';
import { PowerdnsSearch } from './powerdns/search.service.js';
import { PowerdnsApiController, PowerdnsServerController } from './powerdns/servers.controller.js';
import { PowerdnsWrites } from './powerdns/writes.service.js';
import { PowerdnsZonesController } from './powerdns/zones.controller.js';
import { PowerdnsZones } from './powerdns/zones.service.js';
import { DnsListener } from './rfc2136/listener.service.js';
import { Rfc2136Service } from './rfc2136/rfc2136.service.js';
import { Secondaries } from './rfc2136/secondaries.service.js';
import { DnsTransfers } from './rfc2136/transfers.service.js';
import { TsigKeysController } from './rfc2136/tsig-keys.controller.js';
import { TsigKeysService } from './rfc2136/tsig-keys.service.js';
import { TsigSecondariesRepository } from './rfc2136/tsig-secondaries.repository.js';
import { TsigSecretsModule } from './rfc2136/tsig-secrets.js';
import { DnsUpdates } from './rfc2136/updates.service.js';
import { HookSecretsModule } from './webhook/hook-secrets.js';
import { HooksController } from './webhook/hooks.controller.js';
import { HooksService } from './webhook/hooks.service.js';
import { WebhookController } from './webhook/webhook.controller.js';

@Module({
  imports: [
    ...[GuardModule, AccountsModule, DomainsModule, RecordsModule, SearchModule, TokensModule, TrashModule],
    ...[HookSecretsModule, TsigSecretsModule, DnsClientModule],
  ],
  controllers: [
    ...[DoorsController, HttpreqController, AcmeDnsController, NicUpdateController, V3UpdateController],
    ...[ExternalDnsController, DdnsGoController, CertdController],
    ...[HooksController, WebhookController, TsigKeysController],
    ...[PowerdnsApiController, PowerdnsServerController, PowerdnsZonesController],
  ],
  providers: [
    ...[DoorsService, DoorNames, Challenges, AcmeDnsService, AcmeRegistrationsRepository, Dyndns2Service],
    ...[ExternalDnsService, HooksService, PowerdnsZones, PowerdnsWrites, PowerdnsSearch],
    ...[TsigKeysService, TsigSecondariesRepository, DnsTransfers, DnsUpdates, Rfc2136Service, DnsListener, Secondaries],
  ],
})
export class DoorsModule {}
