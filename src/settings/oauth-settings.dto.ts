import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { Check, NestedList } from '../platform/common/validation.js';
import { ruleText, say } from '../platform/common/words/field-text.js';
import { isHttpUrl } from './checks.js';
import { StatusFields } from './settings.dto.js';

/**
 * An OpenID provider (`issuer`), or a plain OAuth 2.0 provider (the three endpoints and `subject_field`), such as
 * GitHub.
 */
export class OauthProvider {
  /** short name, used in addresses */
  @Matches(/^[a-z0-9][a-z0-9-]{0,31}$/, { message: ruleText('must be 1 to 32 of a-z, 0-9 and -') })
  key!: string;

  /** for people */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  name!: string;

  /** OpenID provider: where its discovery document is */
  @IsOptional()
  @Check(isHttpUrl, 'must be an http or https URL without query')
  issuer?: string | null;

  @IsString()
  @IsNotEmpty()
  @MaxLength(255)
  client_id!: string;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(20)
  @ArrayUnique()
  @Matches(/^[\x21\x23-\x5B\x5D-\x7E]{1,128}$/, {
    each: true,
    message: say('each of {field} must be a word', { field: '$property' }),
  })
  scopes?: string[];

  /** whether an unknown person gets an account (role 1) */
  @IsOptional()
  @IsBoolean()
  auto_create?: boolean;

  /**
   * whether a sign-in there counts as second factor, because the provider asks for one itself; else accounts with an
   * authenticator app are asked here, too
   */
  @IsOptional()
  @IsBoolean()
  trusted_2fa?: boolean;

  /** plain OAuth 2.0 */
  @IsOptional()
  @Check(isHttpUrl, 'must be an http or https URL')
  authorization_endpoint?: string | null;

  /** plain OAuth 2.0 */
  @IsOptional()
  @Check(isHttpUrl, 'must be an http or https URL')
  token_endpoint?: string | null;

  /** plain OAuth 2.0: answers a JSON object about the person */
  @IsOptional()
  @Check(isHttpUrl, 'must be an http or https URL')
  userinfo_endpoint?: string | null;

  /** plain OAuth 2.0: the field of that object that never changes, such as `id` */
  @IsOptional()
  @Matches(/^[\w.-]{1,64}$/, { message: ruleText('must be the name of a field') })
  subject_field?: string | null;
}

class OauthProviderInput extends OauthProvider {
  /** left out: the stored one of this key stays, as long as its addresses do; null: none */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1024)
  client_secret?: string | null;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  client_secret_set?: boolean;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  confirmed?: boolean;
}

export class OauthInput extends StatusFields {
  @IsOptional()
  @IsBoolean()
  enabled?: boolean;

  @IsOptional()
  @ArrayMaxSize(20)
  @ArrayUnique((provider?: OauthProviderInput) => provider?.key, { message: ruleText('must have different keys') })
  @NestedList(() => OauthProviderInput)
  providers?: OauthProviderInput[];
}

class OauthProviderView extends OauthProvider {
  /** whether a client secret is stored; it is never shown */
  client_secret_set!: boolean;
  /**
   * whether a super administrator has set or confirmed its addresses, `subject_field`, `client_id` and whether it
   * counts as second factor; until then nobody can sign in at it
   */
  confirmed!: boolean;
}

export class OauthView {
  enabled!: boolean;
  providers!: OauthProviderView[];
  /** whether all providers are confirmed */
  confirmed!: boolean;
  /** the fields that wait for that, such as `corp.issuer` */
  waiting!: string[];
}
