import type { AccountView, SyncResult } from '../../src/accounts/account.dto.js';
import type { Revoked, UserUpdated } from '../../src/administration/users/users.dto.js';
import type { AuditList, AuditVerdict, AuditView } from '../../src/audit/audit.dto.js';
import type { TokenResult } from '../../src/auth/login/login.dto.js';
import type { AuthorizationUrl, BoundIdentity, OauthStatus } from '../../src/auth/oauth/oauth.dto.js';
import type { OauthResult } from '../../src/auth/oauth/oauth-login.dto.js';
import type { PasskeyCreated, PasskeyStart, PasskeyView } from '../../src/auth/passkeys/passkeys.dto.js';
import type { ProfileView } from '../../src/auth/profile/profile.dto.js';
import type { RecoveryCodes, TotpSetup } from '../../src/auth/second-factor/second-factor.dto.js';
import type { EndedSessions, LoginResult, SessionView } from '../../src/auth/sessions/sessions.dto.js';
import type { RecordView } from '../../src/changes/edits/record.dto.js';
import type { DomainDetail, DomainView, LineView } from '../../src/domains/domain.dto.js';
import type { DomainPermissionView, PermissionView } from '../../src/domains/permission.dto.js';
import type { DoorView } from '../../src/doors/doors.dto.js';
import type { TsigKeyCreated, TsigKeyView } from '../../src/doors/rfc2136/rfc2136.dto.js';
import type { HookCreated, HookView } from '../../src/doors/webhook/webhook.dto.js';
import type { Health } from '../../src/http/health.dto.js';
import type { Done, InitStatus, TestResult } from '../../src/init/init.dto.js';
import type { ZoneHealthView } from '../../src/monitoring/delegation/health.dto.js';
import type { CertificateView, RegistrationView } from '../../src/monitoring/expiry/expiry.dto.js';
import type { FailoverView, SwitchResult } from '../../src/monitoring/failover/failover.dto.js';
import type { PropagationView } from '../../src/monitoring/propagation/propagation.dto.js';
import type { MoveView } from '../../src/moves/move.dto.js';
import type { ChannelTestResult, DeliveryList, DeliveryView } from '../../src/notifications/deliveries.dto.js';
import type { SmtpTestResult } from '../../src/notifications/smtp-test.dto.js';
import type { DashboardView } from '../../src/overview/dashboard/dashboard.dto.js';
import type { MetaView } from '../../src/overview/meta.dto.js';
import type { BootstrapView, SiteView } from '../../src/overview/site.dto.js';
import type { StreamTicket } from '../../src/overview/stream.dto.js';
import type { FieldError } from '../../src/platform/common/words/codes.js';
import type { ProviderView } from '../../src/providers/provider.dto.js';
import type { BatchResult } from '../../src/records/batch/batch.dto.js';
import type { Accepted, DriftView } from '../../src/records/drift/drift.dto.js';
import type { ChangeSetDetail, ChangeSetList } from '../../src/records/history/change.dto.js';
import type { PastRecordList, VersionDiff, VersionList } from '../../src/records/history/version.dto.js';
import type { PlanGroupView } from '../../src/records/plans/group.dto.js';
import type { PlanList, PlanView } from '../../src/records/plans/plan.dto.js';
import type { RecordId, RecordList } from '../../src/records/records.dto.js';
import type { RrsetResult, RrsetView } from '../../src/records/rrsets/rrset.dto.js';
import type { FoundRecordList } from '../../src/records/search/search.dto.js';
import type { AuditRules } from '../../src/settings/audit-rules.dto.js';
import type { NotificationsView } from '../../src/settings/channels.dto.js';
import type { DoorsSettings } from '../../src/settings/doors.dto.js';
import type { OauthView } from '../../src/settings/oauth-settings.dto.js';
import type { Confirmed, GeneralView, SecurityView, SmtpView } from '../../src/settings/settings.dto.js';
import type { BackupFile, BackupMade } from '../../src/system/backups.dto.js';
import type { JobList, JobView } from '../../src/system/jobs.dto.js';
import type {
  CacheCleared,
  DatabaseStatus,
  LoginStats,
  SystemStatus,
  UnlockResult,
} from '../../src/system/system.dto.js';
import type { MemberView, TeamDetail, TeamView } from '../../src/teams/team.dto.js';
import type {
  Explanation,
  GrantableDomain,
  TokenCreated,
  TokenSelf,
  TokenUseView,
  TokenView,
} from '../../src/tokens/token.dto.js';
import type { TrashedList } from '../../src/trash/trash.dto.js';
import type { TunnelCreated, TunnelToken, TunnelView } from '../../src/tunnels/tunnel.dto.js';
import type { UserView } from '../../src/users/user.dto.js';

/** Types of the success data by route: the classes returned by the handlers. */
interface Answers {
  'GET /health/live': Health;
  'GET /health/ready': Health;
  'GET /api/audit/logs': AuditList;
  'GET /api/audit/logs/{id}': AuditView;
  'GET /api/audit/verify': AuditVerdict;
  'GET /api/audit/export': AuditView[];
  'GET /api/settings': GeneralView;
  'PUT /api/settings': GeneralView;
  'GET /api/settings/security': SecurityView;
  'PUT /api/settings/security': SecurityView;
  'GET /api/settings/smtp': SmtpView;
  'PUT /api/settings/smtp': SmtpView;
  'GET /api/settings/audit-rules': AuditRules;
  'PUT /api/settings/audit-rules': AuditRules;
  'GET /api/settings/oauth': OauthView;
  'PUT /api/settings/oauth': OauthView;
  'POST /api/settings/{section}/confirm': Confirmed;
  'POST /api/settings/smtp/test': SmtpTestResult;
  'GET /api/doors': DoorView[];
  'GET /api/tokens/{id}/hooks': HookView[];
  'POST /api/tokens/{id}/hooks': HookCreated;
  'DELETE /api/tokens/{id}/hooks/{hook_id}': null;
  'GET /api/tokens/{id}/tsig-key': TsigKeyView;
  'POST /api/tokens/{id}/tsig-key': TsigKeyCreated;
  'PUT /api/tokens/{id}/tsig-key': TsigKeyView;
  'DELETE /api/tokens/{id}/tsig-key': null;
  'GET /api/settings/doors': DoorsSettings;
  'PUT /api/settings/doors': DoorsSettings;
  'GET /api/settings/notifications': NotificationsView;
  'PUT /api/settings/notifications': NotificationsView;
  'POST /api/settings/notifications/{id}/test': ChannelTestResult;
  'GET /api/auth/sessions': SessionView[];
  'DELETE /api/auth/sessions/others': EndedSessions;
  'DELETE /api/auth/sessions/{id}': null;
  'GET /api/domains': DomainView[];
  'POST /api/domains': DomainDetail;
  'GET /api/domains/{domain_id}': DomainDetail;
  'PUT /api/domains/{domain_id}': DomainDetail;
  'GET /api/domains/{domain_id}/lines': LineView[];
  'POST /api/domains/{domain_id}/expiry': RegistrationView;
  'GET /api/domains/{domain_id}/certificates': CertificateView[];
  'DELETE /api/domains/{domain_id}': null;
  'POST /api/domains/{domain_id}/migration': MoveView;
  'GET /api/domains/{domain_id}/migration': MoveView;
  'POST /api/domains/{domain_id}/migration/copy': MoveView;
  'POST /api/domains/{domain_id}/migration/follow': MoveView;
  'POST /api/domains/{domain_id}/migration/switch': MoveView;
  'POST /api/domains/{domain_id}/migration/finish': MoveView;
  'POST /api/domains/{domain_id}/migration/cancel': MoveView;
  'GET /api/domains/{domain_id}/permissions': DomainPermissionView[];
  'GET /api/teams/{id}/permissions': PermissionView[];
  'POST /api/teams/{id}/permissions': PermissionView;
  'DELETE /api/teams/{id}/permissions/{permissionId}': null;
  'GET /api/accounts': AccountView[];
  'POST /api/accounts': AccountView;
  'GET /api/accounts/{id}': AccountView;
  'PUT /api/accounts/{id}': AccountView;
  'DELETE /api/accounts/{id}': null;
  'GET /api/tunnels': TunnelView[];
  'POST /api/tunnels': TunnelCreated;
  'GET /api/tunnels/{id}': TunnelView;
  'PUT /api/tunnels/{id}': TunnelView;
  'DELETE /api/tunnels/{id}': null;
  'POST /api/tunnels/{id}/rotate-token': TunnelToken;
  'GET /api/teams': TeamView[];
  'POST /api/teams': TeamView;
  'GET /api/teams/{id}': TeamDetail;
  'PUT /api/teams/{id}': TeamDetail;
  'DELETE /api/teams/{id}': null;
  'GET /api/teams/{id}/members': MemberView[];
  'POST /api/teams/{id}/members': MemberView;
  'PUT /api/teams/{id}/members/{userId}': MemberView;
  'DELETE /api/teams/{id}/members/{userId}': null;
  'GET /api/tokens': TokenView[];
  'POST /api/events/ticket': StreamTicket;
  'POST /api/tokens': TokenCreated;
  'GET /api/tokens/domains': GrantableDomain[];
  'GET /api/tokens/self': TokenSelf;
  'GET /api/tokens/{id}/uses': TokenUseView[];
  'POST /api/tokens/{id}/rotate': TokenCreated;
  'POST /api/tokens/{id}/explain': Explanation;
  'GET /api/tokens/{id}': TokenView;
  'PUT /api/tokens/{id}': TokenView;
  'DELETE /api/tokens/{id}': null;
  'PATCH /api/tokens/{id}/status': TokenView;
  'POST /api/users/{id}/explain': Explanation;
  'POST /api/auth/login': Required<LoginResult>;
  'POST /api/auth/second-factor': Required<LoginResult>;
  'POST /api/auth/register': UserView;
  'GET /api/auth/me': UserView;
  'POST /api/auth/logout': null;
  'POST /api/auth/refresh': Required<TokenResult>;
  'POST /api/auth/password': null;
  'POST /api/auth/password-reset': null;
  'POST /api/auth/password-reset/confirm': null;
  'POST /api/auth/2fa/setup': TotpSetup;
  'POST /api/auth/2fa/verify': RecoveryCodes;
  'POST /api/auth/2fa/disable': null;
  'GET /api/auth/oauth/status': OauthStatus;
  'POST /api/auth/oauth/start': AuthorizationUrl;
  // of a login or of linking an account; tests expect the fields that they read
  'POST /api/auth/oauth/callback': Required<OauthResult>;
  'GET /api/security/bind-oauth': BoundIdentity[];
  'POST /api/security/bind-oauth': AuthorizationUrl;
  'DELETE /api/security/bind-oauth/{provider}': null;
  'GET /api/auth/webauthn': PasskeyView[];
  'POST /api/auth/webauthn/register/start': PasskeyStart;
  'POST /api/auth/webauthn/register/finish': PasskeyCreated;
  'PATCH /api/auth/webauthn/{id}': PasskeyView;
  'DELETE /api/auth/webauthn/{id}': null;
  'POST /api/auth/webauthn/login/start': PasskeyStart;
  'POST /api/auth/webauthn/login/finish': Required<LoginResult>;
  'GET /api/security/profile': ProfileView;
  'PUT /api/security/profile': ProfileView;
  'POST /api/security/email-code': null;
  'GET /api/users': UserView[];
  'POST /api/users': UserView;
  'GET /api/users/{id}': UserView;
  'PUT /api/users/{id}': UserUpdated;
  'DELETE /api/users/{id}': null;
  'POST /api/users/{id}/revoke-all': Revoked;
  'GET /api/init/status': InitStatus;
  'POST /api/init/test-db': TestResult;
  'POST /api/init/database': Done;
  'POST /api/init/admin': Done;
  'GET /api/providers': ProviderView[];
  'GET /api/domains/{domain_id}/export': null;
  'GET /api/domains/{domain_id}/records': RecordList;
  'POST /api/domains/{domain_id}/records': RecordId;
  'GET /api/domains/{domain_id}/records/{record_id}': RecordView;
  'PUT /api/domains/{domain_id}/records/{record_id}': RecordView;
  'DELETE /api/domains/{domain_id}/records/{record_id}': null;
  'PATCH /api/domains/{domain_id}/records/{record_id}/status': RecordView;
  'GET /api/domains/{domain_id}/health': ZoneHealthView;
  'GET /api/domains/{domain_id}/records/{record_id}/propagation': PropagationView;
  'POST /api/domains/{domain_id}/records/batch': BatchResult;
  'GET /api/domains/{domain_id}/versions': VersionList;
  'GET /api/domains/{domain_id}/versions/{version}': PastRecordList;
  'GET /api/domains/{domain_id}/versions/{version}/diff/{other}': VersionDiff;
  'POST /api/domains/{domain_id}/plans': PlanView;
  'GET /api/domains/{domain_id}/plans': PlanList;
  'GET /api/domains/{domain_id}/drift': DriftView;
  'DELETE /api/domains/{domain_id}/drift': Accepted;
  'POST /api/plans': PlanGroupView;
  'GET /api/plans/{id}': PlanView;
  'POST /api/plans/{id}/apply': BatchResult;
  'POST /api/plans/{id}/approve': BatchResult;
  'POST /api/plans/{id}/reject': PlanView;
  'GET /api/trash/domains': TrashedList;
  'POST /api/trash/domains/{id}/restore': DomainDetail;
  'GET /api/changes': ChangeSetList;
  'GET /api/records': FoundRecordList;
  'GET /api/domains/{domain_id}/changes': ChangeSetList;
  'GET /api/domains/{domain_id}/changes/{changeSetId}': ChangeSetDetail;
  'GET /api/domains/{domain_id}/failover': FailoverView;
  'POST /api/domains/{domain_id}/failover': FailoverView;
  'DELETE /api/domains/{domain_id}/failover': null;
  'GET /api/domains/{domain_id}/failover/history': ChangeSetList;
  'POST /api/domains/{domain_id}/failover/{ruleId}/switch': SwitchResult;
  'GET /api/domains/{domain_id}/rrsets/{host}/{type}': RrsetView;
  'PUT /api/domains/{domain_id}/rrsets/{host}/{type}': RrsetResult;
  'DELETE /api/domains/{domain_id}/rrsets/{host}/{type}': RrsetResult;
  'POST /api/accounts/{id}/sync': SyncResult;
  'POST /api/accounts/{id}/resume': AccountView;
  'GET /api/system/notifications': DeliveryList;
  'POST /api/system/notifications/{id}/retry': DeliveryView;
  'GET /api/system/status': SystemStatus;
  'GET /api/system/database': DatabaseStatus;
  'POST /api/system/clear-cache': CacheCleared;
  'POST /api/system/backup': BackupMade;
  'GET /api/system/backups': BackupFile[];
  'GET /api/system/backups/{file}': null;
  'DELETE /api/system/backups/{file}': null;
  'GET /api/site': SiteView;
  'GET /api/bootstrap': BootstrapView;
  'GET /api/dashboard': DashboardView;
  'GET /api/meta': MetaView;
  'GET /api/system/login-stats': LoginStats;
  'POST /api/system/unlock-account': UnlockResult;
  'GET /api/system/jobs': JobList;
  'GET /api/system/jobs/{id}': JobView;
  'POST /api/system/jobs/{id}/retry': JobView;
}

type Split<S extends string> = S extends `${infer First}/${infer Rest}` ? [First, ...Split<Rest>] : [S];
type Bare<P extends string> = P extends `${infer Path}?${string}` ? Path : P;
type Fits<Route extends unknown[], Path extends unknown[]> = Route extends [infer R, ...infer Routes]
  ? Path extends [infer P, ...infer Paths]
    ? R extends `{${string}}`
      ? Fits<Routes, Paths>
      : [P] extends [R]
        ? Fits<Routes, Paths>
        : false
    : false
  : Path extends []
    ? true
    : false;
type Route<Call extends string> = Call extends keyof Answers
  ? Call
  : { [R in keyof Answers]: Fits<Split<R>, Split<Call>> extends true ? R : never }[keyof Answers];

/** Optional query string of a list. */
export type Query = '' | `?${string}`;

/** Data type of a route's answer; for a path known only at run time, whatever the test assumes. */
export type DataOf<Method extends string, Path extends string> = [Route<`${Method} ${Bare<Path>}`>] extends [never]
  ? unknown
  : Answers[Route<`${Method} ${Bare<Path>}`>];

/** Data of an error. Its fields depend on the code; tests expect those that they read. */
export interface Failure {
  reason: string;
  params?: Record<string, unknown>;
  errors: FieldError[];
  required: string;
  rule: number;
  id: number;
  count: number;
  of: number;
  names: string[];
  records: { id: number; host: string; type: string }[];
  domains: { id: number; name: string }[];
  methods: string[];
  provider: string | null;
  kind: string;
  retryable: boolean;
  retry_at?: string;
  applied: 'no' | 'unknown';
}
