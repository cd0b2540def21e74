import { IsIn, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { PageQuery } from '../common/paging.dto.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export class AuditQuery extends PageQuery {
  /** domain name, exact or with `*` */
  @IsOptional()
  @IsString()
  @MaxLength(253)
  domain?: string;

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

  @IsOptional()
  @IsIn(['ok', 'failed'])
  result?: string;
}

class AuditActor {
  /** user, token or system */
  type!: string;
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
  after!: Record<string, unknown> | null;
  /** ok or failed */
  result!: string;
  error!: string | null;
  ip!: string;
  user_agent!: string;
  request_id!: string;
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
