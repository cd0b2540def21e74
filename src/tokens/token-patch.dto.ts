import { ApiProperty } from '@nestjs/swagger';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Role } from '../access/access.js';
import { SCOPES, type Scope } from '../access/scopes.js';
import { TakesBack } from '../platform/common/read-only.js';
import { Check, IsOmittable, IsTime, MAX_ID, NestedList } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { isCidr } from '../settings/checks.js';
import { RULE_LIMITS } from './rules/compiled-rules.js';
import { TokenView } from './token.dto.js';
import { RuleInput } from './token-rule.dto.js';

/** What uses and rotations change by themselves. */
const Seen = (): PropertyDecorator => (target, property) => {
  Allow()(target, property);
  ApiProperty({ required: false, readOnly: true, description: 'taken back, whatever it is by now' })(target, property);
};

/** What is left out stays as it is. */
@TakesBack(TokenView)
export class TokenPatch {
  /** label */
  @IsOmittable()
  @IsString()
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @MaxLength(255)
  name?: string;

  /**
   * domain ids; empty = all domains of the creator. A token whose domains were all deleted keeps its empty list of none
   * when that is sent back
   */
  @IsOmittable()
  @IsArray()
  @ArrayMaxSize(5000)
  @ArrayUnique()
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_ID, { each: true })
  allowed_domains?: number[];

  /** scopes; `*` = everything that its creator may */
  @IsOmittable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SCOPES, { each: true })
  allowed_services?: Scope[];

  /** addresses or CIDRs that it may be used from; empty = all */
  @IsOmittable()
  @IsArray()
  @ArrayMaxSize(100)
  @Check((value) => Array.isArray(value) && value.every(isCidr), 'must be addresses or CIDRs')
  allowed_cidrs?: string[];

  /** refused when it was not used for so many days; null = never */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(3650)
  max_unused_days?: number | null;

  /** what it may do with records; null = no rules. Other rules end the `preset` */
  @IsOptional()
  @ArrayMaxSize(RULE_LIMITS.rules)
  @NestedList(() => RuleInput)
  rules?: RuleInput[] | null;

  /** ISO 8601; before it the token is refused; null = at once */
  @IsOptional()
  @IsTime()
  start_time?: string | null;

  /** ISO 8601; after it the token is refused; null = never expires */
  @IsOptional()
  @IsTime()
  end_time?: string | null;

  /** at most the caller's own role, unless it stays as it is */
  @IsOmittable()
  @IsIn([Role.User, Role.Admin, Role.Super])
  max_role?: Role;

  /** as by `PATCH /api/tokens/{id}/status` */
  @IsOmittable()
  @IsBoolean()
  is_active?: boolean;

  @Seen() last_used_at?: string | null;
  @Seen() last_used_network?: string | null;
  @Seen() previous_until?: string | null;
}
