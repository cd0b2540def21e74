import { IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { PageQuery, ToNumber } from '../common/paging.dto.js';
import { MAX_ID } from '../common/validation.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export class AuditQuery extends PageQuery {
  /** domain name, exact or with `*` */
  @IsOptional()
  @IsString()
  @MaxLength(253)
  domain?: string;

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

  /** first day, `YYYY-MM-DD` */
  @IsOptional()
  @Matches(DAY, { message: '$property must be a day, YYYY-MM-DD' })
  start_date?: string;

  /** last day, `YYYY-MM-DD`, included */
  @IsOptional()
  @Matches(DAY, { message: '$property must be a day, YYYY-MM-DD' })
  end_date?: string;

  /** only what succeeded, or only what failed */
  @IsOptional()
  @IsIn(['ok', 'failed'])
  result?: string;
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
  /** number in the chain, without gaps */
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
  prev_hash!: string;
  hash!: string;
}

export class AuditList {
  total!: number;
  list!: AuditView[];
}

export class AuditVerdict {
  /** the chain is whole */
  ok!: boolean;
  /** entries that were checked */
  checked!: number;
  /** number of the first entry that was changed or is missing */
  broken_seq!: number | null;
}
