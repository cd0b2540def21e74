import { IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { ruleText } from '../../platform/common/words/field-text.js';

/** Key of a provider in the settings. */
export const PROVIDER_KEY = /^[a-z0-9][a-z0-9-]{0,31}$/;
const KEY_WORDS = { message: ruleText('must be 1 to 32 of a-z, 0-9 and -') };

class OauthProviderName {
  /** for `provider` of `start` */
  key!: string;
  /** for people */
  name!: string;
}

export class OauthStatus {
  /** whether one can sign in at a provider */
  enabled!: boolean;
  providers!: OauthProviderName[];
}

class OauthRedirect {
  /**
   * where the provider sends the browser back to: an absolute address below the public address of the service, or a
   * path below it that starts with one slash; without query and fragment. The provider must know it. Default:
   * `/oauth/callback`
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(2048)
  redirect?: string;
}

export class OauthStart extends OauthRedirect {
  /** key of the provider; may be left out when there is only one */
  @IsOptional()
  @Matches(PROVIDER_KEY, KEY_WORDS)
  provider?: string;
}

export class OauthBindStart extends OauthRedirect {
  /** key of the provider */
  @Matches(PROVIDER_KEY, KEY_WORDS)
  provider!: string;
}

export class AuthorizationUrl {
  /** send the browser there within 10 minutes; only this browser can finish */
  auth_url!: string;
}

/** What the provider put into the address that it sent the browser back to. */
export class OauthCallback {
  @IsString()
  @IsNotEmpty()
  @MaxLength(512)
  state!: string;

  /** needed unless there is an `error` */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(8192)
  code?: string;

  /** issuer of the answer (RFC 9207); checked when it is there */
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  iss?: string;

  /** in place of `code`: why it was refused, such as `access_denied` */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(256)
  error?: string;

  /** ignored */
  @IsOptional()
  @IsString()
  @MaxLength(4096)
  error_description?: string;

  /** ignored */
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  error_uri?: string;

  /** ignored */
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  session_state?: string;

  /** ignored */
  @IsOptional()
  @IsString()
  @MaxLength(4096)
  scope?: string;

  /** of Google; ignored */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  authuser?: string;

  /** of Google; ignored */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  prompt?: string;

  /** of Google; ignored */
  @IsOptional()
  @IsString()
  @MaxLength(255)
  hd?: string;
}

export class BoundIdentity {
  /** key of the provider */
  provider!: string;
  /** for people: e-mail or login name at the provider, as it was told when it was bound */
  name!: string;
  created_at!: string;
  last_used_at!: string | null;
}
