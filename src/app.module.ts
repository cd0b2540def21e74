import { Module, type NestInterceptor } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccountsModule } from './accounts/accounts.module.js';
import { AuditAdministrationModule } from './administration/audit/administration.module.js';
import { AdministrationModule } from './administration/users/administration.module.js';
import { AuditModule } from './audit/audit.module.js';
import { GuardModule } from './auth/guard/guard.module.js';
import { LoginModule } from './auth/login/login.module.js';
import { OauthModule } from './auth/oauth/oauth.module.js';
import { PasskeysModule } from './auth/passkeys/passkeys.module.js';
import { ProfileModule } from './auth/profile/profile.module.js';
import { SecondFactorModule } from './auth/second-factor/second-factor.module.js';
import { SessionJobsModule } from './auth/sessions/jobs.module.js';
import { SessionsModule } from './auth/sessions/sessions.module.js';
import { DomainsModule } from './domains/domains.module.js';
import { DoorsModule } from './doors/doors.module.js';
import { ENTITIES } from './entities.js';
import { AroundInterceptor } from './http/around.interceptor.js';
import { DeadlineInterceptor } from './http/deadline.interceptor.js';
import { ErrorFilter } from './http/error.filter.js';
import { HealthController } from './http/health.controller.js';
import { HealthService } from './http/health.service.js';
import { LocationInterceptor } from './http/location.interceptor.js';
import { IdempotencyInterceptor } from './idempotency/idempotency.interceptor.js';
import { IdempotencyJobsModule } from './idempotency/idempotency.module.js';
import { InitModule } from './init/init.module.js';
import { ExpiryModule } from './monitoring/expiry/expiry.module.js';
import { FailoverModule } from './monitoring/failover/failover.module.js';
import { PreferInterceptor } from './monitoring/propagation/prefer.interceptor.js';
import { PropagationModule } from './monitoring/propagation/propagation.module.js';
import { MovesModule } from './moves/moves.module.js';
import { NotificationJobsModule } from './notifications/jobs.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { DashboardModule } from './overview/dashboard/dashboard.module.js';
import { SiteModule } from './overview/site.module.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { EnvelopeInterceptor } from './platform/http/envelope.interceptor.js';
import { ProtocolPipe } from './platform/http/protocol.js';
import { JobRunnerModule, JobsModule } from './platform/jobs/jobs.module.js';
import { MetricsModule, MetricsServerModule } from './platform/metrics/metrics.module.js';
import { RedisModule } from './platform/redis/redis.module.js';
import { TraceExportModule, TracesModule } from './platform/traces/traces.module.js';
import { ProvidersModule } from './providers/providers.module.js';
import { ManyPlansModule } from './records/many/many.module.js';
import { WaitsInterceptor } from './records/plans/waits.interceptor.js';
import { WriteInterceptor } from './records/plans/write.interceptor.js';
import { RecordsModule } from './records/records.module.js';
import { SearchModule } from './records/search/search.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { SystemServiceModule } from './system/service.module.js';
import { SystemModule } from './system/system.module.js';
import { TeamsModule } from './teams/teams.module.js';
import { TokensModule } from './tokens/tokens.module.js';
import { TrashModule } from './trash/trash.module.js';
import { TunnelsModule } from './tunnels/tunnels.module.js';
import { UsersModule } from './users/users.module.js';

/** Answers pass them in reverse order: what a write met, deadline, waiting, location, envelope, Idempotency-Key. */
const AROUND = [
  IdempotencyInterceptor,
  EnvelopeInterceptor,
  WaitsInterceptor,
  LocationInterceptor,
  PreferInterceptor,
  DeadlineInterceptor,
];

@Module({
  imports: [
    DatabaseModule.forRoot(ENTITIES),
    // routes are tried in this order: what is asked most comes first
    RecordsModule,
    DomainsModule,
    TokensModule,
    JobsModule,
    JobRunnerModule,
    MetricsModule,
    MetricsServerModule,
    TracesModule,
    TraceExportModule,
    RedisModule,
    AuditModule,
    SettingsModule,
    AuditAdministrationModule,
    NotificationsModule,
    NotificationJobsModule,
    GuardModule,
    LoginModule,
    SecondFactorModule,
    SessionsModule,
    PasskeysModule,
    OauthModule,
    ProfileModule,
    UsersModule,
    AdministrationModule,
    SessionJobsModule,
    IdempotencyJobsModule,
    InitModule,
    AccountsModule,
    ProvidersModule,
    TrashModule,
    SearchModule,
    ManyPlansModule,
    PropagationModule,
    TunnelsModule,
    MovesModule,
    ExpiryModule,
    FailoverModule,
    TeamsModule,
    SiteModule,
    DashboardModule,
    DoorsModule,
    SystemModule,
    SystemServiceModule,
  ],
  controllers: [HealthController],
  providers: [
    HealthService,
    { provide: APP_PIPE, useClass: ProtocolPipe },
    ...AROUND,
    {
      provide: APP_INTERCEPTOR,
      inject: [...AROUND, WriteInterceptor],
      useFactory: (...all: NestInterceptor[]) => new AroundInterceptor(all),
    },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class AppModule {}
