import { Foundation1763600000000 } from './1763600000000-foundation.js';
import { Identity1763700000000 } from './1763700000000-identity.js';
import { Access1763800000000 } from './1763800000000-access.js';
import { RecordCreated1763910000000 } from './1763910000000-record-created.js';
import { Ownership1763920000000 } from './1763920000000-ownership.js';
import { ShownFactors1763930000000 } from './1763930000000-shown-factors.js';
import { ConfirmedSettings1763940000000 } from './1763940000000-confirmed-settings.js';
import { AuditFilters1763950000000 } from './1763950000000-audit-filters.js';
import { Lists1763960000000 } from './1763960000000-lists.js';
import { ChangeSets1763970000000 } from './1763970000000-change-sets.js';
import { LeaseScopes1763975000000 } from './1763975000000-lease-scopes.js';
import { Changes1763980000000 } from './1763980000000-changes.js';
import { LateChanges1763985000000 } from './1763985000000-late-changes.js';
import { AuditLinks1764000000000 } from './1764000000000-audit-links.js';
import { Jobs1764010000000 } from './1764010000000-jobs.js';
import { Notifications1764020000000 } from './1764020000000-notifications.js';
import { EventsLog1764040000000 } from './1764040000000-events-log.js';
import { AuditTimes1764041000000 } from './1764041000000-audit-times.js';
import { Failover1764050000000 } from './1764050000000-failover.js';
import { Expiry1764060000000 } from './1764060000000-expiry.js';
import { JobsAsked1764062000000 } from './1764062000000-jobs-asked.js';
import { Tunnels1764070000000 } from './1764070000000-tunnels.js';
import { Delegations1764080000000 } from './1764080000000-delegations.js';
import { SharedZones1764100000000 } from './1764100000000-shared-zones.js';
import { PausedLists1764115000000 } from './1764115000000-paused-lists.js';
import { AccountPauses1764120000000 } from './1764120000000-account-pauses.js';
import { Makers1764130000000 } from './1764130000000-makers.js';
import { Installation1764140000000 } from './1764140000000-installation.js';
import { ConfirmedLists1764150000000 } from './1764150000000-confirmed-lists.js';
import { RecordExtras1764160000000 } from './1764160000000-record-extras.js';
import { PrivateZones1764170000000 } from './1764170000000-private-zones.js';
import { ReadOnlyReasons1764180000000 } from './1764180000000-read-only-reasons.js';
import { ProviderSessions1764190000000 } from './1764190000000-provider-sessions.js';
import { ChangeFilters1764200000000 } from './1764200000000-change-filters.js';
import { AuditOrigins1764210000000 } from './1764210000000-audit-origins.js';
import { Attention1764230000000 } from './1764230000000-attention.js';
import { DeliveriesEnded1764250000000 } from './1764250000000-deliveries-ended.js';
import { Versions1764300000000 } from './1764300000000-versions.js';
import { Plans1764310000000 } from './1764310000000-plans.js';
import { KeptAnswers1764320000000 } from './1764320000000-kept-answers.js';
import { RecordSearch1764330000000 } from './1764330000000-record-search.js';
import { RecordEnds1764370000000 } from './1764370000000-record-ends.js';
import { ChangeRules1764380000000 } from './1764380000000-change-rules.js';
import { Approval1764390000000 } from './1764390000000-approval.js';
import { PlanGroups1764400000000 } from './1764400000000-plan-groups.js';
import { Drift1764410000000 } from './1764410000000-drift.js';
import { Moves1764420000000 } from './1764420000000-moves.js';
import { Trash1764430000000 } from './1764430000000-trash.js';
import { PlannedLists1764440000000 } from './1764440000000-planned-lists.js';
import { Doors1764450000000 } from './1764450000000-doors.js';
import { Hooks1764460000000 } from './1764460000000-hooks.js';
import { TsigKeys1764475000000 } from './1764475000000-tsig-keys.js';
import { TsigSecondaries1764490000000 } from './1764490000000-tsig-secondaries.js';
import { Growth1764495000000 } from './1764495000000-growth.js';
import { RecordValues1764496000000 } from './1764496000000-record-values.js';

/** In order; the class name's number is the order TypeORM checks. */
export const MIGRATIONS = [
  Foundation1763600000000,
  Identity1763700000000,
  Access1763800000000,
  RecordCreated1763910000000,
  Ownership1763920000000,
  ShownFactors1763930000000,
  ConfirmedSettings1763940000000,
  AuditFilters1763950000000,
  Lists1763960000000,
  ChangeSets1763970000000,
  LeaseScopes1763975000000,
  Changes1763980000000,
  LateChanges1763985000000,
  AuditLinks1764000000000,
  Jobs1764010000000,
  Notifications1764020000000,
  EventsLog1764040000000,
  AuditTimes1764041000000,
  Failover1764050000000,
  Expiry1764060000000,
  JobsAsked1764062000000,
  Tunnels1764070000000,
  Delegations1764080000000,
  SharedZones1764100000000,
  PausedLists1764115000000,
  AccountPauses1764120000000,
  Makers1764130000000,
  Installation1764140000000,
  ConfirmedLists1764150000000,
  RecordExtras1764160000000,
  PrivateZones1764170000000,
  ReadOnlyReasons1764180000000,
  ProviderSessions1764190000000,
  ChangeFilters1764200000000,
  AuditOrigins1764210000000,
  Attention1764230000000,
  DeliveriesEnded1764250000000,
  Versions1764300000000,
  Plans1764310000000,
  KeptAnswers1764320000000,
  RecordSearch1764330000000,
  RecordEnds1764370000000,
  ChangeRules1764380000000,
  Approval1764390000000,
  PlanGroups1764400000000,
  Drift1764410000000,
  Moves1764420000000,
  Trash1764430000000,
  PlannedLists1764440000000,
  Doors1764450000000,
  Hooks1764460000000,
  TsigKeys1764475000000,
  TsigSecondaries1764490000000,
  Growth1764495000000,
  RecordValues1764496000000,
];
