import { IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { ruleText } from '../../platform/common/words/field-text.js';
import { ONE_LINE } from '../../settings/checks.js';
import { Codes } from '../second-factor/second-factor.dto.js';

const LONGEST = 1024;

export class LoginInput extends Codes {
  /** login name, any case */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(LONGEST)
  password!: string;
}

export class TokenResult {
  /** user JWT for `Authorization: Bearer`; left out where it is put into the cookie */
  token?: string;
  /** when the JWT in the cookie ends: `POST /api/auth/refresh` renews it; left out beside `token` */
  expires_at?: string;
}

export class RegisterInput {
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;

  /** 10 to 128 characters that are not easy to guess */
  @IsString()
  @MaxLength(LONGEST)
  password!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(254)
  email!: string;

  /** display name; default: the user name */
  @IsOptional()
  @IsString()
  @MaxLength(128)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  nickname?: string;
}
