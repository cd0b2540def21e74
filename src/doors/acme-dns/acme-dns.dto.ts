import { ArrayMaxSize, IsArray, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { Check } from '../../platform/common/validation.js';
import { ruleText } from '../../platform/common/words/field-text.js';
import { isCidr } from '../../settings/checks.js';

export class RegistrationInput {
  /** the name that texts are put at; left out: the one that the rules of the token allow */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1100)
  fulldomain?: string;

  /** networks that it may be used from; left out or empty: all */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @Check((value) => Array.isArray(value) && value.every(isCidr), 'must be addresses or CIDRs')
  allowfrom?: string[];
}

export class TextInput {
  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  subdomain!: string;

  @IsString()
  @Matches(/^[\w-]{43}$/, { message: ruleText('must be 43 characters of base64url') })
  txt!: string;
}

/** An account as acme-dns shows it, once. */
export interface Registered {
  username: string;
  password: string;
  fulldomain: string;
  subdomain: string;
  allowfrom: string[];
}
