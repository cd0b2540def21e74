import { PickType } from '@nestjs/swagger';
import { IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import type { Drift } from '../../domains/change-rules/change-rules.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { ruleText } from '../../platform/common/words/field-text.js';
import { ChangedRecordView } from '../history/change.dto.js';

export class DriftQuery extends PickType(PageQuery, ['page', 'limit']) {}

export class AcceptQuery {
  /** just this host; `@` for the root, in any spelling that input may have */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(300)
  host?: string;

  /** just this type, any case */
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{1,16}$/, { message: ruleText('must be a record type') })
  type?: string;
}

/** A record set that somebody changed at the provider. */
export class DriftDifference {
  host!: string;
  type!: string;
  /** the records that were here, and shall be */
  wanted!: ChangedRecordView[];
  /** those that are there */
  found!: ChangedRecordView[];
  /** when that was noticed */
  found_at!: string;
  /** the plan that takes it back and waits for somebody, or was turned down; null: there is none */
  plan_id!: number | null;
  /** why it is not taken back by itself; null: nothing is in the way */
  hold_reason!: string | null;
}

export class DriftView {
  mode!: Drift['mode'];
  /** how many differ, as far as the caller may read them */
  total!: number;
  /** by host and type */
  differences!: DriftDifference[];
  /** how many more sets differ, with records that the caller may not read */
  hidden!: number;
  /** when the zone was last read at the provider; null: never yet */
  compared_at!: string | null;
  /** the newest plan that takes differences back and waits for somebody; null: there is none */
  plan_id!: number | null;
  /** why nothing is taken back until somebody sets `drift` to another value; null: it is, where the mode says so */
  hold_reason!: string | null;
}

export class Accepted {
  /** sets whose records are wanted as they were found */
  accepted!: number;
}
