import { Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccountsModule } from './accounts/accounts.module.js';
import { AuditInterceptor } from './audit/audit.interceptor.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { SecurityJobsModule } from './auth/sessions/jobs.module.js';
import { validationPipe } from './common/validation.js';
import { DatabaseModule } from './database/database.module.js';
import { DomainsModule } from './domains/domains.module.js';
import { ENTITIES } from './entities.js';
import { EnvelopeInterceptor } from './http/envelope.interceptor.js';
import { ErrorFilter } from './http/error.filter.js';
import { HealthController } from './http/health.controller.js';
import { LocationInterceptor } from './http/location.interceptor.js';
import { UnknownQueryInterceptor } from './http/unknown-query.interceptor.js';
import { InitModule } from './init/init.module.js';
import { NotificationJobsModule } from './notifications/jobs.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { ProvidersModule } from './providers/providers.module.js';
import { RecordsModule } from './records/records.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { SystemModule } from './system/system.module.js';
import { TeamsModule } from './teams/teams.module.js';
import { TokensModule } from './tokens/tokens.module.js';
import { UsersModule } from './users/users.module.js';

@Module({
  imports: [
    DatabaseModule.forRoot(ENTITIES),
    AuditModule,
    SettingsModule,
    NotificationsModule,
    NotificationJobsModule,
    TeamsModule,
    AuthModule,
    SecurityJobsModule,
    InitModule,
    AccountsModule,
    ProvidersModule,
    DomainsModule,
    RecordsModule,
    TokensModule,
    SystemModule,
    UsersModule,
  ],
  controllers: [HealthController],
  providers: [
    { provide: APP_PIPE, useFactory: validationPipe },
    // requests pass them in this order, answers the other way round: an answer is audited, then located, then wrapped
    { provide: APP_INTERCEPTOR, useClass: UnknownQueryInterceptor },
    { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
    { provide: APP_INTERCEPTOR, useClass: LocationInterceptor },
    { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class AppModule {}
