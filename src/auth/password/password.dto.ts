import { IsEmail, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { ruleText } from '../../platform/common/words/field-text.js';

const LONGEST = 1024;

export class PasswordInput {
  @IsString()
  @IsNotEmpty()
  @MaxLength(LONGEST)
  old_password!: string;

  /** 10 to 128 characters that are not easy to guess */
  @IsString()
  @MaxLength(LONGEST)
  new_password!: string;
}

export class ResetInput {
  /** one of the two */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username?: string;

  /** one of the two */
  @IsOptional()
  @IsEmail()
  @MaxLength(254)
  email?: string;
}

export class ResetConfirmInput {
  /** from the mail */
  @Matches(/^[0-9a-f]{64}$/, { message: ruleText('must be the 64 characters of the mail') })
  token!: string;

  /** 10 to 128 characters that are not easy to guess */
  @IsString()
  @MaxLength(LONGEST)
  password!: string;
}
