import { DnsAccount } from './accounts/account.entity.js';
import { ProviderSession } from './accounts/provider-session.entity.js';
import { AuditRuleState } from './administration/audit/rule-state.entity.js';
import { AuditChain, AuditLog, AuditPending } from './audit/audit.entity.js';
import { Identity } from './auth/oauth/identity.entity.js';
import { Passkey } from './auth/passkeys/passkey.entity.js';
import { RecoveryCode, SecondFactor } from './auth/second-factor/second-factor.entity.js';
import { Challenge } from './auth/sessions/challenge.entity.js';
import { Session } from './auth/sessions/session.entity.js';
import { CachedRecord, RecordCount, TrashedRecord } from './cache/record.entity.js';
import { DriftRevert, DriftSet, DriftState } from './changes/drift/drift.entity.js';
import { ChangeSet, RecordChange } from './changes/history/change-set.entity.js';
import { Version } from './changes/history/version.entity.js';
import { Plan, PlanChange } from './changes/plans/plan.entity.js';
import { PlanGroup } from './changes/plans/plan-group.entity.js';
import { Domain, DomainPermission } from './domains/domain.entity.js';
import { AcmeRegistration } from './doors/acme-dns/registration.entity.js';
import { TsigKeyRow, TsigSeen } from './doors/rfc2136/tsig-key.entity.js';
import { TsigSecondary } from './doors/rfc2136/tsig-secondary.entity.js';
import { Hook } from './doors/webhook/hook.entity.js';
import { KeptAnswer } from './idempotency/kept-answer.entity.js';
import { KnownDelegation } from './monitoring/delegation/delegation.entity.js';
import { Certificate, Registration, RegistryServer } from './monitoring/expiry/expiry.entity.js';
import { CheckerNode } from './monitoring/failover/checks/checker-node.entity.js';
import { CheckerQuestion } from './monitoring/failover/checks/checker-question.entity.js';
import { Failover, FailoverRule } from './monitoring/failover/failover.entity.js';
import { Move } from './moves/move.entity.js';
import { Delivery } from './notifications/delivery.entity.js';
import { Mail } from './notifications/mail.entity.js';
import { LoggedEvent } from './overview/event.entity.js';
import { InstallationRow } from './platform/database/installation.entity.js';
import { Lease } from './platform/database/lease.entity.js';
import { JobRow } from './platform/jobs/job.entity.js';
import { Limit } from './platform/limits/limit.entity.js';
import { Setting } from './settings/setting.entity.js';
import { Team, TeamMember } from './teams/team.entity.js';
import { ApiToken, TokenUse } from './tokens/token.entity.js';
import { TrashedDomain, TrashedPermission } from './trash/trashed.entity.js';
import { Tunnel } from './tunnels/tunnel.entity.js';
import { User } from './users/user.entity.js';

/** Every table of the schema; only its own folder writes a table. */
export const ENTITIES = [
  User,
  Session,
  Limit,
  KeptAnswer,
  SecondFactor,
  RecoveryCode,
  Passkey,
  Identity,
  Challenge,
  Mail,
  Delivery,
  ApiToken,
  TokenUse,
  Team,
  TeamMember,
  DnsAccount,
  ProviderSession,
  Domain,
  DomainPermission,
  CachedRecord,
  RecordCount,
  TrashedDomain,
  TrashedPermission,
  TrashedRecord,
  ChangeSet,
  RecordChange,
  Version,
  Plan,
  PlanChange,
  DriftSet,
  DriftState,
  DriftRevert,
  PlanGroup,
  Failover,
  FailoverRule,
  CheckerNode,
  CheckerQuestion,
  Lease,
  InstallationRow,
  JobRow,
  Setting,
  AuditChain,
  AuditPending,
  AuditLog,
  AuditRuleState,
  LoggedEvent,
  KnownDelegation,
  Tunnel,
  Move,
  Registration,
  RegistryServer,
  Certificate,
  AcmeRegistration,
  Hook,
  TsigKeyRow,
  TsigSeen,
  TsigSecondary,
];
