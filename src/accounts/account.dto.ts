import { IsBoolean, IsInt, IsNotEmpty, IsObject, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { ToBoolean } from '../platform/common/paging.dto.js';
import { TakesBack } from '../platform/common/read-only.js';
import { MAX_ID } from '../platform/common/validation.js';
import { WaitQuery } from '../platform/http/wait.dto.js';

/** a week */
const MAX_SYNC_MINUTES = 10_080;

class AccountFields {
  @IsOptional()
  @IsString()
  @MaxLength(255)
  remark?: string;

  /** team whose members may create domains in this account */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  team_id?: number | null;

  /** minutes between two synchronisations that nobody asks for; 0: none */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_SYNC_MINUTES)
  sync_interval_minutes?: number;
}

export class AccountInput extends AccountFields {
  /** provider kind, see `GET /api/providers` */
  @IsString()
  @IsNotEmpty()
  @MaxLength(32)
  provider!: string;

  /** label */
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  name!: string;

  /** the provider's credential fields; `endpoint` is another base URL (sandbox, region, proxy) */
  @IsObject()
  credentials!: Record<string, unknown>;
}

export class CheckQuery {
  /** `false`: store the credentials without trying them at the provider */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  check?: boolean;
}

export class ForceQuery {
  /** `true`: delete the account together with its domains and tunnels here (nothing is touched at the provider) */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  force?: boolean;
}

export class SyncQuery extends WaitQuery {
  /** `true`: the provider's list of zones is right, even where it is suspiciously short */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  confirm?: boolean;
}

export class AccountView {
  id!: number;
  provider!: string;
  name!: string;
  remark!: string;
  owner_id!: number | null;
  team_id!: number | null;
  /** secret values read `***` */
  credentials!: Record<string, string>;
  domains_count!: number;
  sync_interval_minutes!: number;
  last_sync_at!: string | null;
  last_error!: string | null;
  /**
   * why it is not synchronised by itself any more: the right of who set the interval ended; a PUT or a synchronisation
   * by an administrator confirms it; null: it is not held
   */
  hold_reason!: string | null;
  /**
   * until when the provider wants no calls of this account, an hour at most: whatever needs one fails until then with
   * 500002, or waits; null: it is not paused. `POST /api/accounts/:id/resume` and other credentials end it
   */
  paused_until!: string | null;
  /** what the provider said */
  pause_reason!: string | null;
  created_at!: string;
}

@TakesBack(AccountView)
export class AccountPatch extends AccountFields {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  name?: string;

  /** fields left out keep their value, null clears one; when an `address` changes, all secrets must be there */
  @IsOptional()
  @IsObject()
  credentials?: Record<string, unknown>;
}

export class SyncResult {
  /** domains that are new here */
  added!: number;
  /** domains that were known */
  updated!: number;
  /** domains that the provider no longer lists: kept, and flagged `missing` */
  missing!: number;
  /**
   * domains whose records could not be read, or lack suspiciously many; their cache is unchanged, the account's
   * `last_error` names them
   */
  failed!: number;
  /**
   * public suffixes such as `co.uk` that the provider lists, the first hundred: they are not added; an administrator
   * adds them with `POST /api/domains?force=true`; left out where there are none
   */
  left_out?: string[];
  /** names of zones that another account has here, too, a hundred at most: both are kept in step; absent without any */
  shared?: string[];
  /**
   * names of which the provider lists several public zones, a hundred at most: one of them is the domain, the one that
   * it was, else one in use, else the first. Where the domain's zone is gone and none of the others is in use, it stays
   * missing. Absent without any
   */
  conflicts?: ZoneConflictView[];
  /**
   * domains whose zones are gone, and that stand for other zones of their names now, a hundred at most; absent without
   * any
   */
  rebound?: ReboundView[];
  /**
   * names of domains whose zones turned out to be private, a hundred at most: they stay what they were, and the public
   * zones of the names are other domains; absent without any
   */
  became_private?: string[];
  /**
   * names of private domains whose zones turned out to be public, a hundred at most: they have the name from now on;
   * absent without any
   */
  became_public?: string[];
}

export class ZoneConflictView {
  name!: string;
  /** the provider's id of the zone that is the domain, be it gone */
  kept!: string;
  /** ids of the others, which are no domains */
  others!: string[];
}

export class ReboundView {
  name!: string;
  /** the provider's id of the zone that is gone */
  from!: string;
  /** that of the zone that took its place */
  to!: string;
}

export class SyncAccepted {
  /** of the synchronisation that goes on: `GET /api/system/jobs/:id` */
  job_id!: number;
}
