import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { EDIT_OPS, type EditOp } from '../../changes/edits/edit.js';
import { RecordPatchFields, RecordView } from '../../changes/edits/record.dto.js';
import { IntentQuery } from '../../changes/gate/intent.dto.js';
import { ToNumber } from '../../platform/common/paging.dto.js';
import { TakesBack } from '../../platform/common/read-only.js';
import { hasRoom } from '../../platform/common/validation.js';

/** changes of one list */
const MAX_CHANGES = 5000;

@TakesBack(RecordView)
export class BatchChange extends RecordPatchFields {
  /**
   * `create` and `upsert` need `host`, `type` and `value`; `update`, `delete` and `status` a `record_id`; `status` also
   * `enabled`. An `upsert` makes the record with this host, type and value what the other fields say, or creates it;
   * it needs the right to read that record, too. A record as `GET` shows it will do for both: its `id`, times and other
   * read-only fields are left aside there
   */
  @IsIn(EDIT_OPS)
  @ApiProperty({ enum: EDIT_OPS })
  op!: EditOp;

  /** of the record; `create` and `upsert` leave it aside */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(2147483647)
  record_id?: number;

  /** another word for `record_id`, as records have it; given both, they must be the same @deprecated */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(2147483647)
  id?: number;
}

export class BatchInput {
  /** carried out as if one after the other: each is judged against what those before it have made */
  // each is judged by the service, a few at a time
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_CHANGES)
  @ApiProperty({ type: [BatchChange], minItems: 1, maxItems: MAX_CHANGES })
  changes!: BatchChange[];

  /**
   * `true`: one change that does not fit refuses all of them, and nothing is begun behind a failure at the provider.
   * Where `capabilities.atomic`, the list is carried out there whole or not at all, as far as it is no longer than
   * `capabilities.chunk`: `pieces` of the answer says in how many it goes. `vendor`: refused unless it is one
   */
  @IsOptional()
  @IsIn([true, false, 'vendor'])
  @ApiProperty({ required: false, oneOf: [{ type: 'boolean' }, { type: 'string', enum: ['vendor'] }] })
  atomic?: boolean | 'vendor';

  /** why, for whoever reads the history */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  comment?: string;
}

// each has at most 24 fields, and counts itself
hasRoom(BatchInput, MAX_CHANGES * 25, 'changes');

export class BatchQuery extends IntentQuery {
  /** seconds that a list of more than 200 changes is waited for; default 0 */
  @IsOptional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(120)
  wait?: number;

  /** `any`: whatever was not applied makes the answer 422; left out: only where nothing was applied */
  @IsOptional()
  @IsIn(['any'])
  fail?: 'any';
}

class OutcomeError {
  code!: number;
  msg!: string;
  /** as in a failed answer */
  data?: object;
}

class BatchOutcome {
  ok!: boolean;
  /** not after a deletion */
  record_id?: number;
  /** the same as `record_id` @deprecated */
  id?: number;
  /** of what is ok: something had to be written; not told to tokens without `records:read` */
  changed?: boolean;
  /** of what is not: `unknown` when the provider gave no clear answer and is being asked what it holds */
  state?: 'failed' | 'unknown' | 'not_tried';
  error?: OutcomeError;
}

/** How many changes came to which end. */
export class BatchCounts {
  /** with those that came out as they were */
  applied!: number;
  failed!: number;
  unknown!: number;
  not_tried!: number;
}

export class BatchResult {
  /** null: nothing was to be done, or who asks may not read records */
  change_set_id!: number | null;
  /** in the order of the changes; null (202): the list goes on, see `GET /api/domains/:id/changes/:id` */
  outcomes!: BatchOutcome[] | null;
  /** null (202): the list goes on */
  counts!: BatchCounts | null;
  /** of an atomic list: in how many pieces it is carried out, one behind the other; else null */
  pieces!: number | null;
}
