import { IsBoolean, IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { PageQuery, ToBoolean } from '../platform/common/paging.dto.js';

export class JobQuery extends PageQuery {
  /** only those in this state: `failed` are those that nobody tries again */
  @IsOptional()
  @IsIn(['waiting', 'running', 'done', 'failed'])
  state?: 'waiting' | 'running' | 'done' | 'failed';

  /**
   * `true`: only those that were given up, and those that come again and again whose last run failed, or that have
   * stopped: nobody has begun them, or done what they are for, for three of their intervals
   */
  @IsOptional()
  @ToBoolean()
  @IsBoolean()
  failing?: boolean;

  /** only those of exactly this name */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  name?: string;
}

export class JobView {
  id!: number;
  /** what it does, such as `account.sync` */
  name!: string;
  /** again and again, or one time */
  kind!: 'scheduled' | 'once';
  /** `failed`: it will not be tried again by itself */
  state!: 'waiting' | 'running' | 'done' | 'failed';
  /** what it does it to, where there is at most one job for it: `account.sync|3` */
  subject!: string | null;
  /** seconds between two runs of a scheduled one */
  every_seconds!: number | null;
  /** null: it runs, or will not */
  next_run_at!: string | null;
  /** when the last run began */
  last_run_at!: string | null;
  /** when the last run that came to an end did */
  ended_at!: string | null;
  /** why the last run failed, or why it is thought to have stopped; null when all is well */
  last_error!: string | null;
  /** how far the run is, or the last one came; what stands in it depends on the job */
  progress!: object | null;
  /** what came of it; depends on the job */
  result!: object | null;
  /** all runs that were begun */
  runs!: number;
  /** runs that were begun since one ended well, the one that is under way included */
  tries!: number;
  /** while it runs, the machine or container that is at it, and its process: see `GET /api/system/status` */
  replica!: string | null;
  pid!: number | null;
  created_at!: string;
}

export class JobList {
  /** of all that match */
  total!: number;
  list!: JobView[];
}
