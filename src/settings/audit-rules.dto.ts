import { OmitType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsOmittable, Nested, NestedList } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { ONE_LINE } from './checks.js';

/** Which entries a rule counts: what is left out or null matches all. */
class AuditRuleMatch {
  /** `record.delete`, or with `*`: `record.*` */
  @IsOptional()
  @IsNotEmpty()
  @IsString()
  @MaxLength(64)
  action!: string | null;

  /** name of a domain, exact or with `*` */
  @IsOptional()
  @IsNotEmpty()
  @IsString()
  @MaxLength(253)
  domain!: string | null;

  /** user name, exact or with `*`, in any case: also what is done through API tokens; `system`: jobs */
  @IsOptional()
  @IsNotEmpty()
  @IsString()
  @MaxLength(64)
  actor!: string | null;
}

/** Notifies when so many entries match within a time. */
export class AuditRule {
  /** stays when the rule is changed; left out: a new rule */
  @Matches(/^[\w-]{1,32}$/, { message: ruleText('must be 1 to 32 of A-Z, a-z, 0-9, _ and -') })
  id!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  name!: string;

  @IsBoolean()
  enabled!: boolean;

  @Nested(() => AuditRuleMatch)
  match!: AuditRuleMatch;

  /** entries; what a stranger repeats counts as often as it was done */
  @IsInt()
  @Min(1)
  @Max(10_000)
  threshold!: number;

  /** the entries are counted within any such time, and a rule notifies once in it */
  @IsInt()
  @Min(1)
  @Max(10_080)
  window_minutes!: number;

  /** ids of channels of the notifications; empty: all that ask for `audit.rule` */
  @IsArray()
  @ArrayMaxSize(50)
  @ArrayUnique()
  @IsString({ each: true })
  @IsNotEmpty({ each: true })
  @MaxLength(64, { each: true })
  channels!: string[];
}

export class AuditRules {
  /**
   * days that entries and lists of record changes are kept for, beside today; null: for ever. Whole days of the time
   * zone of the settings are removed, within an hour
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(36_500)
  retention_days!: number | null;

  @NestedList(() => AuditRule)
  rules!: AuditRule[];
}

class AuditRuleInput extends OmitType(AuditRule, ['id', 'enabled', 'match', 'channels']) {
  /** stays when the rule is changed; left out: a new rule */
  @IsOmittable()
  @Matches(/^[\w-]{1,32}$/, { message: ruleText('must be 1 to 32 of A-Z, a-z, 0-9, _ and -') })
  id?: string;

  /** left out: true */
  @IsOmittable()
  @IsBoolean()
  enabled?: boolean;

  /** left out: all entries */
  @IsOmittable()
  @Nested(() => AuditRuleMatch)
  match?: Partial<AuditRuleMatch>;

  /** ids of channels of the notifications; empty or left out: all that ask for `audit.rule` */
  @IsOmittable()
  @IsArray()
  @ArrayMaxSize(50)
  @ArrayUnique()
  @IsString({ each: true })
  @IsNotEmpty({ each: true })
  @MaxLength(64, { each: true })
  channels?: string[];
}

export class AuditRulesInput {
  /**
   * days that entries and lists of record changes are kept for, beside today; null: for ever. Left out: stays
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(36_500)
  retention_days?: number | null;

  /** the list is replaced as a whole; left out: stays */
  @IsOmittable()
  @ArrayMaxSize(100)
  @NestedList(() => AuditRuleInput)
  rules?: AuditRuleInput[];
}
