import { ApiProperty, PickType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsInt, IsNotEmpty, IsString, Max, MaxLength, Min } from 'class-validator';
import { RecordPatchFields } from '../../changes/edits/record.dto.js';
import { hasRoom, IsOmittable, MAX_ID, Nested, NestedList } from '../../platform/common/validation.js';
import { BatchChange } from '../batch/batch.dto.js';
import { MAX_LIST } from '../plans/plan.dto.js';

/** domains of one plan */
export const MAX_DOMAINS = 1000;

export class DomainChanges {
  @IsInt()
  @Min(1)
  @Max(MAX_ID)
  domain_id!: number;

  /** as in `POST …/records/batch` */
  // each is judged by the service, a few at a time
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_LIST)
  @ApiProperty({ type: [BatchChange], minItems: 1, maxItems: MAX_LIST })
  changes!: BatchChange[];
}

/** Which records are meant: at least one of `host`, `type` and `value`, each as in `GET /api/records`. */
export class RecordsWhere {
  @IsOmittable()
  @IsString()
  @MaxLength(300)
  host?: string;

  /** any case; several with commas */
  @IsOmittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1000)
  type?: string;

  /** the whole value */
  @IsOmittable()
  @IsString()
  @MaxLength(66000)
  value?: string;

  /** only records of these domains */
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_DOMAINS)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_ID, { each: true })
  domain_ids?: number[];
}

/** What the records become; what is left out stays. */
export class RecordsSet extends PickType(RecordPatchFields, [
  'value',
  'ttl',
  'priority',
  'weight',
  'line',
  'proxied',
  'enabled',
  'remark',
] as const) {}

/** `domains`, or `where` with `set`. */
export class ManyPlansInput {
  @IsOmittable()
  @NestedList(() => DomainChanges)
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_DOMAINS)
  domains?: DomainChanges[];

  @IsOmittable()
  @Nested(() => RecordsWhere)
  where?: RecordsWhere;

  @IsOmittable()
  @Nested(() => RecordsSet)
  set?: RecordsSet;

  /** why, for whoever reads the history */
  @IsOmittable()
  @IsString()
  @MaxLength(255)
  comment?: string;
}
hasRoom(ManyPlansInput, MAX_LIST * 25);
