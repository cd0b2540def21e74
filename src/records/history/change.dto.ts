import { PickType } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { EditOp } from '../../changes/edits/edit.js';
import type { ChangeState, Door } from '../../changes/in-doubt/change-set.entity.js';
import { PageQuery, ToNumber } from '../../platform/common/paging.dto.js';

export class ChangeQuery extends PickType(PageQuery, ['page']) {
  /** lists a page, at most 50: each may be of thousands, which are counted */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(50)
  limit?: number;
}

class ChangeActor {
  type!: 'user' | 'token' | 'system';
  user_id!: number | null;
  username!: string | null;
  token_id!: number | null;
  token_name!: string | null;
}

class ChangeCounts {
  pending!: number;
  applied!: number;
  failed!: number;
  unknown!: number;
  not_tried!: number;
}

export class ChangeSetView {
  id!: number;
  /** by which way it came in */
  door!: Door;
  actor!: ChangeActor;
  request_id!: string;
  /** empty for a token with rules, where a rule of failover or a tunnel wrote it */
  comment!: string;
  atomic!: boolean;
  /**
   * `open`: being carried out; `unknown`: of some changes nobody knows yet whether they were applied, the provider is
   * asked; `done`
   */
  state!: 'open' | 'unknown' | 'done';
  /** changes in all */
  total!: number;
  counts!: ChangeCounts;
  /**
   * why the rest of a long list is held: the right of who asked for it ended; `POST …/confirm` goes on with it; null:
   * it is not held
   */
  hold_reason!: string | null;
  created_at!: string;
  finished_at!: string | null;
  /** the provider is away, and the list goes on then; null: it is not paused */
  paused_until!: string | null;
  /** somebody ended it: what was not begun is `not_tried` */
  cancelled_at!: string | null;
}

/** A record before or after a change. */
class ChangedRecordView {
  host!: string;
  type!: string;
  /** of very long ones the beginning */
  value!: string;
  /** seconds */
  ttl!: number;
  line!: string;
  proxied!: boolean;
  priority!: number | null;
  weight!: number | null;
  enabled!: boolean;
  remark!: string;
}

class ChangeError {
  code!: number;
  msg!: string;
  /** as in a failed answer */
  data?: object;
}

export class ChangeView {
  /** from 0, the order in which the changes were given */
  position!: number;
  op!: EditOp;
  /** null: of a creation that is not applied */
  record_id!: number | null;
  state!: ChangeState;
  before!: ChangedRecordView | null;
  after!: ChangedRecordView | null;
  /** tokens with rules are told the code only: the words may be about other records */
  error!: ChangeError | null;
}

export class ChangeSetDetail extends ChangeSetView {
  /** in their order; of a caller who may not read all records, those that it may read */
  changes!: ChangeView[];
}

export class ChangeSetList {
  total!: number;
  list!: ChangeSetView[];
}
