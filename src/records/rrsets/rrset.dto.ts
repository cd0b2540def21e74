import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { plainToInstance, Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { WriteQuery } from '../../changes/gate/intent.dto.js';
import { TakesBack } from '../../platform/common/read-only.js';
import { NestedList } from '../../platform/common/validation.js';

/** values of one set */
const MAX_VALUES = 1000;

class RrsetMember {
  /** of the record */
  id!: number;
  value!: string;
  priority!: number | null;
  weight!: number | null;
  enabled!: boolean;
}

@TakesBack(RrsetMember)
export class RrsetValue {
  /** as of a record */
  @IsString()
  @MaxLength(262_144)
  value!: string;

  /** MX and SRV; may also stand in the value */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  priority?: number;

  /** for providers with weighted records */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  weight?: number;

  /** `false`: not in DNS */
  @IsOptional()
  @IsBoolean()
  enabled?: boolean;
}

@ApiExtraModels(RrsetValue)
export class RrsetInput {
  /**
   * all values that the set shall have, as texts or with their fields; others go. A set has no `expires_at`: records of
   * values that stay keep theirs, new values have none
   */
  @Transform(({ value }) =>
    Array.isArray(value)
      ? value.map((one) => (typeof one === 'string' ? plainToInstance(RrsetValue, { value: one }) : one))
      : value,
  )
  @NestedList(() => RrsetValue)
  @ApiProperty({
    type: 'array',
    minItems: 1,
    maxItems: MAX_VALUES,
    items: { oneOf: [{ type: 'string' }, { $ref: getSchemaPath(RrsetValue) }] },
  })
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_VALUES)
  values!: RrsetValue[];

  /** seconds, of all values; left out: what they have, for new ones as of a new record */
  @IsOptional()
  @IsInt()
  ttl?: number;

  /** routing line, of providers that have such: the set of this line; a `line` of the address must say the same */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;

  /** need not be sent: as `GET` shows it; it must say the same as the address */
  @IsOptional()
  @IsString()
  @MaxLength(300)
  host?: string;

  /** need not be sent: as `GET` shows it; it must say the same as the address */
  @IsOptional()
  @IsString()
  @MaxLength(16)
  type?: string;
}

export class RrsetQuery {
  /** routing line; default: `default` */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;
}

export class RrsetWriteQuery extends WriteQuery {
  /** routing line; default: `default` */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  line?: string;
}

export class RrsetView {
  /** relative to the zone, A-labels */
  host!: string;
  type!: string;
  line!: string;
  /** seconds; where each record has its own, the lowest */
  ttl!: number;
  values!: RrsetMember[];
}

export class ReplacedMember {
  value!: string;
  /** seconds */
  ttl!: number;
  priority!: number | null;
  weight!: number | null;
  enabled!: boolean;
}

export class RrsetResult {
  /** something had to be written at the provider; to tokens without `records:read` always true */
  changed!: boolean;
  /** ids of the records of the set */
  records!: number[];
  /**
   * values that somebody had made at the provider past the service, and that went with this; of those, what who asks
   * may read. Left out where there were none
   */
  replaced?: ReplacedMember[];
}
