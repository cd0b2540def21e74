import { PickType } from '@nestjs/swagger';
import { IsIn, IsInt, IsNotEmpty, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import type { EditOp } from '../../changes/edits/edit.js';
import { type ChangeState, DOORS, type Door, SET_STATES } from '../../changes/history/change-set.entity.js';
import { PageQuery, ToNumber } from '../../platform/common/paging.dto.js';
import { DAY } from '../../platform/common/time-zone.js';
import { MAX_ID } from '../../platform/common/validation.js';
import { ruleText } from '../../platform/common/words/field-text.js';

export class HistoryQuery extends PickType(PageQuery, ['page']) {
  /** lists a page, at most 50: each may be of thousands, which are counted */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(50)
  limit?: number;
}

export class ChangeQuery extends HistoryQuery {
  /**
   * lists with a change of this host, also those that moved a record away from it; `@` for the root, in any spelling
   * that input may have. In the list of one domain a full name with a final dot is understood, too. With `type` one
   * change has to be about both. A token with rules finds only changes that it may read
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  host?: string;

  /**
   * lists with a change of a record of this type, any case. What is neither the name of a record type nor of a change
   * that the caller may read is 400001
   */
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,16}$/, { message: ruleText('must be a record type') })
  type?: string;

  /** `open`: being carried out; `unknown`: nobody knows yet of some change whether it was applied; `done` */
  @IsOptional()
  @IsIn(SET_STATES)
  state?: (typeof SET_STATES)[number];

  /** by which way they came in */
  @IsOptional()
  @IsIn(DOORS)
  door?: Door;

  /** id of a user: what this person did, also through API tokens */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  actor?: number;

  /** first day, `YYYY-MM-DD`, in the time zone of the settings */
  @IsOptional()
  @Matches(DAY, { message: ruleText('must be a day, YYYY-MM-DD') })
  from?: string;

  /** last day, `YYYY-MM-DD`, included, in the time zone of the settings */
  @IsOptional()
  @Matches(DAY, { message: ruleText('must be a day, YYYY-MM-DD') })
  to?: string;
}

export class ChangeActor {
  type!: 'user' | 'token' | 'system';
  user_id!: number | null;
  username!: string | null;
  token_id!: number | null;
  token_name!: string | null;
}

class ChangeApprover {
  user_id!: number | null;
  username!: string | null;
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
  /** the domain whose records it changes: `GET /api/domains/:domain_id/changes/:id` shows its changes */
  domain_id!: number;
  /** name of that domain; of a private zone with its id */
  domain!: string;
  /** by which way it came in */
  door!: Door;
  /** of `door`: which one, a `key` of `GET /api/doors` */
  door_key!: string | null;
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
  /** null: it goes on */
  ended_at!: string | null;
  /** the same as `ended_at` @deprecated */
  finished_at!: string | null;
  /** the provider is away, or changes are frozen, and the list goes on then; null: it is not paused */
  paused_until!: string | null;
  /** somebody ended it: what was not begun is `not_tried` */
  cancelled_at!: string | null;
  /** who approved it; null: it needed no approval */
  approved_by!: ChangeApprover | null;
  /** why it was made in spite of a freeze, or outside of the windows; null: it was not */
  override_reason!: string | null;
}

/** A record before or after a change. */
export class ChangedRecordView {
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
  /** when it is deleted; null: it stays */
  expires_at!: string | null;
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

export class MovedRecord {
  record_id!: number;
  before!: ChangedRecordView;
  after!: ChangedRecordView;
}

export class ChangeSetDetail extends ChangeSetView {
  /**
   * in their order; of a caller who may not read all records, those that it may read. Of what was applied the states
   * are what came to be, of the rest what was wished
   */
  changes!: ChangeView[];
  /** records that no change of the list named, whose TTLs moved with those of their sets */
  moved!: MovedRecord[];
}

export class ChangeSetList {
  total!: number;
  list!: ChangeSetView[];
}
