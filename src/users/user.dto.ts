import { IsIn, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { Check, IsOmittable } from '../common/validation.js';
import { isEmail, ONE_LINE } from '../settings/checks.js';

const LONGEST = 1024;
const ROLES = [1, 2, 3];

export class UserView {
  id!: number;
  username!: string;
  nickname!: string;
  email!: string | null;
  /** 1 ordinary user, 2 administrator, 3 super administrator */
  role!: number;
  /** 1 active, 0 disabled */
  status!: number;
  totp_enabled!: boolean;
  language!: string;
  created_at!: string;
  last_login_at!: string | null;
}

export class UserInput {
  /** login name: letters, digits and `. _ @ + -`; unique, whatever the case */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;

  /** 10 to 128 characters that are not easy to guess */
  @IsString()
  @MaxLength(LONGEST)
  password!: string;

  /** display name; default: the user name */
  @IsOptional()
  @IsString()
  @MaxLength(128)
  @Matches(ONE_LINE, { message: '$property must be one line' })
  nickname?: string | null;

  /** unique, whatever the case */
  @IsOptional()
  @Check(isEmail, 'must be an e-mail address')
  email?: string | null;

  /** 1 ordinary user (default), 2 administrator, 3 super administrator */
  @IsOmittable()
  @IsIn(ROLES)
  role?: number;
}

export class UserPatch {
  /** display name */
  @IsOmittable()
  @IsString()
  @MaxLength(128)
  @Matches(/\S/, { message: '$property must not be blank' })
  @Matches(ONE_LINE, { message: '$property must be one line' })
  nickname?: string;

  /** null takes it away; another one counts as not verified, and ends open password resets */
  @IsOptional()
  @Check(isEmail, 'must be an e-mail address')
  email?: string | null;

  /** 1 ordinary user, 2 administrator, 3 super administrator; counts from the user's next request on */
  @IsOmittable()
  @IsIn(ROLES)
  role?: number;

  /** 1 active, 0 disabled: sessions end, API tokens are refused */
  @IsOmittable()
  @IsIn([0, 1])
  status?: number;

  /** a new one, 10 to 128 characters that are not easy to guess; ends all sessions of the user */
  @IsOmittable()
  @IsString()
  @MaxLength(LONGEST)
  password?: string;
}
