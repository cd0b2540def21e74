import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { SEVERITIES } from '../../monitoring/delegation/health.dto.js';
import { ToNumber } from '../../platform/common/paging.dto.js';
import { ChangeSetView } from '../../records/history/change.dto.js';

/** What may need attention. Part of the API: add to it, never change a meaning. */
export const ATTENTION_KINDS = [
  'registration_ending',
  'certificate_ending',
  'delegation_broken',
  'domain_missing',
  'sync_failed',
  'account_paused',
  'account_held',
  'failover_held',
  'failover_backup',
  'change_in_doubt',
  'change_held',
  'job_failing',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];
export type Severity = (typeof SEVERITIES)[number];

export class DashboardQuery {
  /** entries of each kind of attention, and change sets; default 10 */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(50)
  limit?: number;
}

class ProviderCounts {
  /** kind of provider, as `GET /api/providers` lists it */
  provider!: string;
  /** null where the caller may not list accounts */
  accounts!: number | null;
  domains!: number;
  /** null for tokens with rules, which may not read every record */
  records!: number | null;
}

class DashboardCounts {
  /** null where the caller may not list accounts */
  accounts!: number | null;
  domains!: number;
  /** null for tokens with rules, which may not read every record */
  records!: number | null;
  /** by kind of provider, sorted by it */
  @ApiProperty({ type: [ProviderCounts] })
  by_provider!: ProviderCounts[];
}

/** How the synchronisation of the domains stands: each is counted once, by the first of these that holds. */
class DomainsHealth {
  /** their provider does not list them any more */
  missing!: number;
  /** the last synchronisation of their account failed */
  sync_failed!: number;
  /** their account is paused: its provider asked for no calls */
  paused!: number;
  /** their records were never read */
  never_synced!: number;
  ok!: number;
}

/** How many there are of each kind, those that `list` has no room for included; null: the caller may not see them. */
class AttentionTotals implements Record<AttentionKind, number | null> {
  registration_ending!: number | null;
  certificate_ending!: number | null;
  delegation_broken!: number | null;
  domain_missing!: number | null;
  sync_failed!: number | null;
  account_paused!: number | null;
  account_held!: number | null;
  failover_held!: number | null;
  failover_backup!: number | null;
  change_in_doubt!: number | null;
  change_held!: number | null;
  job_failing!: number | null;
}

export class AttentionItem {
  /**
   * `registration_ending`: within the longest of `expiry_notice_days`, 30 days where there are none.
   * `certificate_ending`: it should have been renewed. `delegation_broken`: critical at the last check.
   * `domain_missing`: its provider does not list it. `sync_failed`, `account_paused`, `account_held`: of an account.
   * `failover_held`, `failover_backup`: of a rule that is followed. `change_in_doubt`: nobody knows yet whether it was
   * applied. `change_held`: the rest of a list waits for a confirmation. `job_failing`: a job failed, or has stopped
   */
  @ApiProperty({ enum: ATTENTION_KINDS })
  kind!: AttentionKind;
  /** `critical`: names are not found, or soon will not be; `warning`: something does not work; `hint` */
  @ApiProperty({ enum: SEVERITIES })
  severity!: Severity;
  domain_id!: number | null;
  /** its name; of a private zone with its id */
  domain!: string | null;
  account_id!: number | null;
  /** of failover */
  rule_id!: number | null;
  change_set_id!: number | null;
  job_id!: number | null;
  /** since when it is known; null: that is not kept */
  since!: string | null;
  /** when the registration, certificate or pause ends; null for all else */
  ends_at!: string | null;
  /** one line of plain words, English */
  text!: string;
  /** the path that shows more */
  href!: string;
}

class Attention {
  @ApiProperty({ type: AttentionTotals })
  totals!: AttentionTotals;
  /** the worst first; of each kind as many as `limit` says */
  @ApiProperty({ type: [AttentionItem] })
  list!: AttentionItem[];
}

export class DashboardView {
  @ApiProperty({ type: DashboardCounts })
  counts!: DashboardCounts;
  @ApiProperty({ type: DomainsHealth })
  domains!: DomainsHealth;
  @ApiProperty({ type: Attention })
  attention!: Attention;
  /** the newest of `GET /api/changes`; null where the caller may not read records */
  @ApiProperty({ type: [ChangeSetView], nullable: true })
  changes!: ChangeSetView[] | null;
}
