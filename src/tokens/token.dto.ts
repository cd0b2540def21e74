import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsIP,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { Role } from '../access/access.js';
import { SCOPES, type Scope } from '../access/scopes.js';
import type { DomainReference } from '../dns/domain-reference.js';
import { NamesDomain } from '../domains/permission.dto.js';
import { Check, IsTime, MAX_ID, Nested, NestedList } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { isCidr } from '../settings/checks.js';
import { RULE_LIMITS } from './rules/compiled-rules.js';
import { ACTIONS, type Action } from './rules/token-rules.js';
import { RuleInput } from './token-rule.dto.js';

/** Rules for usual cases, by their names, with what each allows. */
export const PRESET_MEANINGS = {
  acme: 'TXT records at `_acme-challenge` below a host, by default the root of the domain',
  ddns: 'A and AAAA records of one host, which has to be named',
  'read-only': 'Reading records, of the hosts that a glob names, by default of all',
} as const;
export type PresetName = keyof typeof PRESET_MEANINGS;
const PRESETS = Object.keys(PRESET_MEANINGS) as PresetName[];

export class PresetInput {
  /** acme: TXT at `_acme-challenge`; ddns: A and AAAA at one host; read-only: nothing but reading */
  @IsIn(PRESETS)
  name!: PresetName;

  /**
   * acme: the host that wants a certificate (default `@`); ddns: the host (needed); read-only: a glob of hosts
   * (default: all)
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(253)
  host?: string;
}

export class TokenInput {
  /** label */
  @IsString()
  @Matches(/\S/, { message: ruleText('must not be blank') })
  @MaxLength(255)
  name!: string;

  /** domain ids; empty or left out = all domains of the creator, now and later */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(5000)
  @ArrayUnique()
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(MAX_ID, { each: true })
  allowed_domains?: number[];

  /** scopes; `*` (the default) = everything that its creator may */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SCOPES, { each: true })
  allowed_services?: Scope[];

  /** addresses or CIDRs that it may be used from; empty or left out = all */
  @IsOptional()
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

  /**
   * what it may do with records; left out: everything that its creator may. With rules, what none allows is denied, and
   * deny beats allow
   */
  @IsOptional()
  @ArrayMaxSize(RULE_LIMITS.rules)
  @NestedList(() => RuleInput)
  rules?: RuleInput[];

  /** rules for a usual case, in place of `rules` */
  @IsOptional()
  @Nested(() => PresetInput)
  @Transform(({ value }) => (typeof value === 'string' ? Object.assign(new PresetInput(), { name: value }) : value))
  preset?: PresetInput;

  /** ISO 8601; before it the token is refused */
  @IsOptional()
  @IsTime()
  start_time?: string | null;

  /** ISO 8601; after it the token is refused; null = never expires */
  @IsOptional()
  @IsTime()
  end_time?: string | null;
}

export class TokenStatus {
  @IsBoolean()
  is_active!: boolean;
}

export class TokenView {
  id!: number;
  user_id!: number;
  name!: string;
  allowed_domains!: number[];
  allowed_services!: Scope[];
  /** networks that it may be used from; empty = all */
  allowed_cidrs!: string[];
  max_unused_days!: number | null;
  /** what it may do with records; null = no rules */
  rules!: RuleInput[] | null;
  /** the preset that its rules were made of */
  preset!: PresetName | null;
  start_time!: string | null;
  end_time!: string | null;
  /** role of the creator when the token was made; the effective role is never above the creator's present one */
  max_role!: Role;
  is_active!: boolean;
  created_at!: string;
  /** written at most once a minute; null until first use */
  last_used_at!: string | null;
  /** network of the use that `last_used_at` tells of: IPv4 address or IPv6 /64 */
  last_used_network!: string | null;
  /** until when the secret before the last rotation works; null = it does not */
  previous_until!: string | null;
}

export class TokenCreated {
  /** `svc_` and 64 hexadecimal characters: shown this once, stored only as a hash */
  token!: string;
  tokenData!: TokenView;
}

export class GrantableDomain {
  id!: number;
  name!: string;
  account_name!: string;
  permission!: 'read' | 'write';
}

export class TokenSelf extends TokenView {
  /** what it counts as now: the role of its creator, at most `max_role` */
  role!: Role;
  username!: string;
}

export class RotateInput {
  /** minutes for which the old secret works, too */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1440)
  overlap_minutes?: number;
}

export class TokenUseView {
  /** of UTC */
  day!: string;
  /** IPv4 address or IPv6 /64 */
  network!: string;
  count!: number;
}

/** What somebody might want to do. */
export class ExplainInput {
  @NamesDomain()
  domain_id!: DomainReference;

  /** with a record: read, create, update (also enabling and disabling) or delete */
  @IsIn(ACTIONS)
  action!: Action;

  /** `@` for the apex */
  @IsString()
  @IsNotEmpty()
  @MaxLength(253)
  host!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(16)
  type!: string;

  /** left out: any value. Of MX and SRV with the priority in front, or without */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(66000)
  value?: string;

  /** left out: that of the settings */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(2147483647)
  ttl?: number;

  /** from where; left out: your own address */
  @IsOptional()
  @IsIP()
  ip?: string;
}

export class Explanation {
  allowed!: boolean;
  /** in words */
  reason!: string;
  /** index of the rule that decided; null: none did */
  rule!: number | null;
  /**
   * which limit decided: token (its state, domains or rules), creator (the person's own right), scope, window (times)
   * or network
   */
  @ApiProperty({ enum: ['token', 'network', 'window', 'creator', 'scope'] })
  source!: 'token' | 'creator' | 'scope' | 'window' | 'network';
}
