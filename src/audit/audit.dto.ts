import { IntersectionType, PickType } from '@nestjs/swagger';
import { IsIn, IsInt, IsIP, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { PageQuery, ToNumber } from '../platform/common/paging.dto.js';
import { DAY } from '../platform/common/time-zone.js';
import { IsTime, MAX_ID } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';

/** Which entries. */
export class AuditFilter extends PickType(PageQuery, ['keyword']) {
  /** domain name, exact or with `*` */
  @IsOptional()
  @IsString()
  @MaxLength(253)
  domain?: string;

  /** what happened to the domain with this id, or to its records; also to one that is gone */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  domain_id?: number;

  /** address of the client, exact */
  @IsOptional()
  @IsIP()
  ip?: string;

  /** user name, exact: what this person did, also through API tokens */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  user?: string;

  /** what this API token did */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  token_id?: number;

  /** the `X-Request-Id` of an answer */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  request_id?: string;

  /** record changes that were written together, as one list */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  change_set_id?: number;

  /** `record.create`, or with `*`: `record.*` */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  action?: string;

  /** first day, `YYYY-MM-DD`, in the time zone of the settings */
  @IsOptional()
  @Matches(DAY, { message: ruleText('must be a day, YYYY-MM-DD') })
  start_date?: string;

  /** last day, `YYYY-MM-DD`, included, in the time zone of the settings */
  @IsOptional()
  @Matches(DAY, { message: ruleText('must be a day, YYYY-MM-DD') })
  end_date?: string;

  /** what was done to things of this type, `token`, or to one of them by its id, `token:7` */
  @IsOptional()
  @Matches(/^[a-z_-]{1,32}(:[^\s"\\]{1,64})?$/, { message: ruleText('must be a type, or a type and an id: token:7') })
  target?: string;

  /** only what succeeded, or only what failed */
  @IsOptional()
  @IsIn(['ok', 'failed'])
  result?: string;
}

export class AuditQuery extends IntersectionType(AuditFilter, PickType(PageQuery, ['page', 'limit', 'sort'])) {
  /** only entries that were written then or before: `next_until` of an answer, to look further back */
  @IsOptional()
  @IsTime()
  until?: string;
}

const EXPORT_FORMATS = ['json', 'ndjson', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export class AuditExportQuery extends AuditFilter {
  /**
   * `json`: as a list that is not paged, in the envelope; `ndjson`: one entry a line; `csv`: with a line of names, for
   * spreadsheets
   */
  @IsOptional()
  @IsIn(EXPORT_FORMATS)
  format?: ExportFormat;
}

class AuditActor {
  type!: 'user' | 'token' | 'system';
  user_id!: number | null;
  username!: string | null;
  token_id!: number | null;
  token_name!: string | null;
}

class AuditTarget {
  type!: string;
  id!: number | null;
  name!: string | null;
}

export class AuditView {
  id!: number;
  /** number in the chain, without gaps, in the order in which entries were linked */
  seq!: number;
  created_at!: string;
  actor!: AuditActor;
  /** `<noun>.<verb>` */
  action!: string;
  domain!: string | null;
  domain_id!: number | null;
  target!: AuditTarget | null;
  before!: Record<string, unknown> | null;
  /** of what a stranger repeated within a minute: `count`, how often this one row stands for */
  after!: Record<string, unknown> | null;
  result!: 'ok' | 'failed';
  error!: string | null;
  ip!: string;
  user_agent!: string;
  request_id!: string;
  /**
   * of a record change: the number of the list in which it was written, the same for all of the list; null where no
   * provider was asked
   */
  change_set_id!: number | null;
  /** the door of another protocol that it came by, a `key` of `GET /api/doors`; null: our own API */
  door!: string | null;
  prev_hash!: string;
  hash!: string;
}

export class AuditList {
  /** entries that match, of those that were looked at; it is counted up to 5 000, unless there is no filter */
  total!: number;
  /** false: more than `total` match, or may match */
  total_exact!: boolean;
  /**
   * null: all entries were looked at. Otherwise those that were written then and before were not: ask once more with
   * it as `until`, and the same filters. Of two filters, of `keyword`, `result`, `target` or `*`, one request looks at
   * the newest 1 000 entries of the filter that has the fewest.
   */
  next_until!: string | null;
  list!: AuditView[];
}

/** Where the chain ended at a moment. It proves, wherever it is kept, that all entries up to there were as they are. */
export class AuditCheckpoint {
  /** of the newest entry */
  seq!: number;
  hash!: string;
  /** of the oldest entry that was kept */
  start_seq!: number;
  /** hash before it; empty: it is the first of all */
  start_hash!: string;
  /** entries up to this one are older than the key */
  unsealed_seq!: number;
  /** Ed25519 over the fields above, base64url */
  signature!: string;
  /** of the key that signs, base64url: the same for all of an installation */
  public_key!: string;
}

export class AuditVerdict {
  /** the chain is whole, and ends where it was signed to end */
  ok!: boolean;
  /** entries that were checked and are as they were written: those before the first that is not */
  entries!: number;
  /** number of the first entry that was changed, moved, put in or is missing; null: none, or nobody can tell which */
  first_bad_seq!: number | null;
  /** what is wrong with it, in words */
  reason!: string | null;
  /** the end of the chain, signed: keep it elsewhere, and an export can be held against it; null where it is broken */
  checkpoint!: AuditCheckpoint | null;
  /** the same as `entries` @deprecated */
  checked!: number;
  /** the same as `first_bad_seq` @deprecated */
  broken_seq!: number | null;
}
