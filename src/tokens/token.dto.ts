import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsTime, MAX_ID } from '../common/validation.js';

export class TokenInput {
  /** label */
  @IsString()
  @Matches(/\S/, { message: '$property must not be blank' })
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
  allowed_services!: string[];
  start_time!: string | null;
  end_time!: string | null;
  /** role of the creator when the token was made; the effective role is never above the creator's present one */
  max_role!: number;
  is_active!: boolean;
  created_at!: string;
  /** written at most once a minute; null until first use */
  last_used_at!: string | null;
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
  /** read or write */
  permission!: string;
}
