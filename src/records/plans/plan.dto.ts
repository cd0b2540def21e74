import { ApiProperty, PickType } from '@nestjs/swagger';
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
import { RecordInput } from '../../changes/edits/record.dto.js';
import type { PlanOp } from '../../changes/gate/planned.js';
import type { Door } from '../../changes/history/change-set.entity.js';
import { PLAN_STATES, type PlanState } from '../../changes/plans/plan.entity.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../../documents/document.js';
import { AreTypes } from '../../domains/change-rules/change-rules.dto.js';
import { GUARDS, type GuardKey } from '../../domains/change-rules/change-rules.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { hasRoom, MAX_ID, Nested } from '../../platform/common/validation.js';
import { BatchChange } from '../batch/batch.dto.js';
import { ChangedRecordView } from '../history/change.dto.js';

/** records, or changes, that a plan is asked for by */
export const MAX_LIST = 20_000;

export const MODES = ['merge', 'sync'] as const;

/** characters of a document */
const MAX_TEXT = 8_000_000;

export class PlanDocument {
  @IsIn(DOCUMENT_FORMATS)
  format!: DocumentFormat;

  /** as docs/import-export.md says; all mistakes are told at once, each with its line */
  @IsString()
  @MaxLength(MAX_TEXT)
  text!: string;
}

/**
 * What a plan is worked out of: one of `records`, `changes`, `document`, `version`, `change_set_id`, `from_domain_id`
 * and `drift`.
 */
export class PlanInput {
  /** the records that shall be there, each as in `POST …/records` */
  // each is judged by the service, a few at a time
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_LIST)
  @ApiProperty({ required: false, type: [RecordInput], maxItems: MAX_LIST })
  records?: RecordInput[];

  /** changes as in `POST …/records/batch` */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_LIST)
  @ApiProperty({ required: false, type: [BatchChange], maxItems: MAX_LIST })
  changes?: BatchChange[];

  /** the records of a zone file, of CSV, JSON or octoDNS; those that are read-only there are left aside */
  @IsOptional()
  @Nested(() => PlanDocument)
  document?: PlanDocument;

  /** the records as of a version of the domain */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  version?: number;

  /** takes a change set of the domain back; what somebody has changed since is left out, and stands in `warnings` */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  change_set_id?: number;

  /** the records of another domain, which the caller may read */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  from_domain_id?: number;

  /** takes back what somebody changed at the provider: what `GET …/drift` lists */
  @IsOptional()
  @IsIn([true])
  drift?: true;

  /**
   * `merge`: what is named is made so, all else stays; `sync`: what is not named is deleted, but for the SOA, records
   * that are read-only, and the name servers of the zone itself, unless some are named. Default: `sync` for `version`,
   * else `merge`
   */
  @IsOptional()
  @IsIn(MODES)
  mode?: (typeof MODES)[number];

  /** only records of these types are touched */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @AreTypes()
  types?: string[];

  /** only records at these hosts are touched: globs, as in the rules of tokens */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsString({ each: true })
  @MaxLength(300, { each: true })
  hosts?: string[];

  /** why, for whoever reads the history */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  comment?: string;
}
hasRoom(PlanInput, MAX_LIST * 25, 'records');

export class PlanQuery extends PickType(PageQuery, ['page', 'limit']) {
  /** those that have it now; `waiting`: for an approval */
  @IsOptional()
  @IsIn(PLAN_STATES)
  state?: PlanState;
}

export class DecisionInput {
  /** why, for who asked and for whoever reads the history */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  comment?: string;
}

export class ApplyInput {
  /** ids of changes of the plan, if not all of them shall be made */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_LIST)
  @IsInt({ each: true })
  only?: number[];

  /** guards that are meant: without them a plan that meets some is 409003 */
  @IsOptional()
  @IsArray()
  @IsIn(GUARDS, { each: true })
  force?: GuardKey[];

  /** why, for whoever reads the history; left out: that of the plan */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  comment?: string;
}

export class PlanMaker {
  user_id!: number | null;
  username!: string | null;
  token_id!: number | null;
  token_name!: string | null;
}

class PlanDecider {
  user_id!: number | null;
  username!: string | null;
}

export class PlanSummary {
  create!: number;
  update!: number;
  delete!: number;
  /** records that were named, and are as they shall be */
  unchanged!: number;
}

export class PlanChangeView {
  /** within the plan */
  id!: number;
  op!: PlanOp;
  /** null: of a creation */
  record_id!: number | null;
  host!: string;
  type!: string;
  before!: ChangedRecordView | null;
  after!: ChangedRecordView | null;
  /** whether the caller may make it */
  allowed!: boolean;
  /** why not */
  reason?: string;
}

export class GuardView {
  key!: GuardKey;
  /** what may be a mistake */
  text!: string;
  /** the changes that are meant */
  change_ids!: number[];
  /** `force`: it has to be named to apply the plan */
  mode!: 'warn' | 'force';
}

class Misfit {
  /** `changes.N`, from 0, as in the list that was sent */
  path!: string;
  code!: number;
  msg!: string;
  /** as in a failed answer */
  data?: object;
}

export class PlanView {
  /** null: it is not stored, since there is nothing to do, or it was a dry run */
  id!: number | null;
  domain_id!: number;
  domain!: string;
  /** of a part of a plan over many domains: the id of that */
  group_id!: number | null;
  /** `waiting`: for an approval; `approved`: it is being applied */
  state!: PlanState;
  /** by which way it came in */
  door!: Door;
  /** of `door`: which one, a `key` of `GET /api/doors` */
  door_key!: string | null;
  comment!: string;
  created_at!: string;
  expires_at!: string;
  /** of one that waits: who asked for it, in whose name it is applied */
  created_by!: PlanMaker;
  /** who approved or rejected it; null: nobody has */
  decided_by!: PlanDecider | null;
  decided_at!: string | null;
  /** with which words, or why it could not be applied */
  decision!: string | null;
  /** a hash over what the provider held of the names concerned; empty for tokens with rules */
  base!: string;
  summary!: PlanSummary;
  changes!: PlanChangeView[];
  /** how many more changes there are, of records that the caller may not read */
  hidden!: number;
  guards!: GuardView[];
  warnings!: string[];
  /** of a dry run of a list that is not atomic: the changes that would fail by themselves */
  failures?: Misfit[];
  /** what it became */
  change_set_id!: number | null;
}

export class PlanListEntry {
  id!: number;
  domain_id!: number;
  /** of a part of a plan over many domains: the id of that */
  group_id!: number | null;
  /** `waiting`: for an approval; `approved`: it is being applied */
  state!: PlanState;
  /** by which way it came in */
  door!: Door;
  /** of `door`: which one, a `key` of `GET /api/doors` */
  door_key!: string | null;
  comment!: string;
  created_at!: string;
  expires_at!: string;
  /** of one that waits: who asked for it, in whose name it is applied */
  created_by!: PlanMaker;
  /** who approved or rejected it; null: nobody has */
  decided_by!: PlanDecider | null;
  decided_at!: string | null;
  /** with which words, or why it could not be applied */
  decision!: string | null;
  change_set_id!: number | null;
}

export class PlanList {
  total!: number;
  list!: PlanListEntry[];
}

export { PLAN_STATES };
