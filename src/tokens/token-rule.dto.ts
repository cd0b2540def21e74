import { Transform } from 'class-transformer';
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
import { toAscii } from '../dns/names.js';
import { isKnownType } from '../dns/record.js';
import { isHostGlob, MAX_PATTERN } from '../platform/common/patterns.js';
import { Check, MAX_ID, Nested } from '../platform/common/validation.js';
import { isCidr } from '../settings/checks.js';
import { ACTIONS, type Action, DELEGATING } from './rules/token-rules.js';

const MOST = 100;

const each = (check: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(check);

/** Lower case and A-labels, as hosts are stored. */
const Lower = () =>
  Transform(({ value }) =>
    Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? toAscii(item) : item)) : value,
  );
const Upper = () =>
  Transform(({ value }) =>
    Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item.trim().toUpperCase() : item)) : value,
  );

const isSuffix = (value: unknown) =>
  typeof value === 'string' && isHostGlob(value) && !value.includes('*') && value !== '@';

class TextRule {
  /** characters */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(66000)
  min_length?: number;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(66000)
  max_length?: number;

  /**
   * regular expression (RE2 syntax) for the whole text, of at most 500 compiled steps; `.` is any character, a line
   * break, too
   */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_PATTERN)
  pattern?: string;
}

/** Speaks only of the types that it fits; a rule with `values` does not match others. */
class ValuesRule {
  /**
   * of A and AAAA: networks that the address must lie in, or the IPv4 address that it leads to (mapped, NAT64, 6to4)
   */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST)
  @Check(each(isCidr), 'must be addresses or CIDRs')
  cidrs?: string[];

  /** of CNAME, MX, NS, SRV, PTR and ALIAS: names that the target must be, or lie below */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST)
  @Lower()
  @Check(each(isSuffix), 'must be host names without final dot')
  suffixes?: string[];

  /** of TXT */
  @IsOptional()
  @Nested(() => TextRule)
  text?: TextRule;
}

class TtlRule {
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(2147483647)
  min?: number;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(2147483647)
  max?: number;
}

/**
 * What is left out matches everything. An update must be allowed for the old and the new state of the record. The rules
 * of a token together hold at most 500 hosts, networks and suffixes; what a text is tried against is bounded, and
 * beyond the bound a deny is met and an allow is not. Who may create a record and not read it is told all the same that
 * the very record which he sends is there (409001).
 */
export class RuleInput {
  @IsIn(['allow', 'deny'])
  effect!: 'allow' | 'deny';

  /** domain ids */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(1000)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_ID, { each: true })
  domains?: number[];

  /**
   * globs: `*` does not cross a dot, `**` does; the apex is `@`, which of the globs only `**` meets. The wildcard
   * record `*.dev` is `\*.dev`; of the globs of an allow only `**` meets it
   */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST)
  @Lower()
  @Check(each(isHostGlob), 'must be hosts such as www, *.dev or @')
  hosts?: string[];

  /** NS, DS and DNAME hand names on: an allow that has `hosts` means them only when they are named here */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST)
  @Upper()
  @Check(
    each((value) => typeof value === 'string' && (isKnownType(value) || DELEGATING.has(value))),
    'must be record types',
  )
  types?: string[];

  /** enabling and disabling a record is an update */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @IsIn(ACTIONS, { each: true })
  actions?: Action[];

  @IsOptional()
  @Nested(() => ValuesRule)
  values?: ValuesRule;

  /** seconds */
  @IsOptional()
  @Nested(() => TtlRule)
  ttl?: TtlRule;
}
