import { PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Check } from '../common/validation.js';
import { isAddress, isCidr, isHttpUrl, isMailbox, isTimezone, ONE_LINE } from './checks.js';

/** Languages of mails and of the console. */
export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

export class GeneralSettings {
  @IsString()
  @MaxLength(64)
  @Matches(ONE_LINE, { message: '$property must be one line' })
  site_name!: string;

  /** public address, used in mails and for passkeys; BASE_URL of the environment wins */
  @IsOptional()
  @Check(isHttpUrl, 'must be an http or https URL without query')
  base_url!: string | null;

  /** of mails to people who chose none */
  @IsIn(LANGUAGES)
  language!: Language;

  /** IANA name, such as Europe/Berlin: where days begin in the audit log and in statistics */
  @Check(isTimezone, 'must be a time zone name such as Europe/Berlin')
  timezone!: string;

  /** address of a picture for the console */
  @IsOptional()
  @IsString()
  @MaxLength(2048)
  background_image!: string | null;

  /** whether strangers may register (role 1) */
  @IsBoolean()
  registration_enabled!: boolean;

  /** seconds, for records that are created without one */
  @IsInt()
  @Min(1)
  @Max(2147483647)
  default_ttl!: number;

  /** addresses of the DNS servers to ask; empty: those of the system */
  @IsArray()
  @ArrayMaxSize(8)
  @Check((value) => Array.isArray(value) && value.every(isAddress), 'must be IP addresses')
  dns_resolvers!: string[];

  /** days before the end of a registration on which to remind */
  @IsArray()
  @ArrayMaxSize(10)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(365, { each: true })
  expiry_notice_days!: number[];
}

export class LoginLimit {
  /** failures of one name from one network (IPv4 address, IPv6 /64) that lock it there */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1000)
  max_failures!: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1440)
  window_minutes!: number;

  /** length of the first lock; each further one is twice as long */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(10080)
  lock_minutes!: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(10080)
  max_lock_minutes!: number;

  /** failures of one network on any names that throttle it */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100_000)
  network_failures!: number;
}

/** Requests a minute; 0: no limit. */
export class RateLimits {
  /** password logins and reset requests of one network */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  login!: number;

  /** the other routes for strangers, of one network: passkey and OAuth sign-in, registration */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  public!: number;

  /** all routes, of one signed-in user */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  user!: number;

  /** all routes, of one API token */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  token!: number;
}

export class SessionSettings {
  /** life of a JWT; `POST /api/auth/refresh` gives the next one */
  @IsOptional()
  @IsInt()
  @Min(5)
  @Max(10080)
  token_minutes!: number;

  /** a session ends when it was not used for this long */
  @IsOptional()
  @IsInt()
  @Min(5)
  @Max(525_600)
  idle_minutes!: number;

  /** a session ends this long after its login, used or not */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(365)
  absolute_days!: number;
}

export class PasswordPolicy {
  @IsOptional()
  @IsInt()
  @Min(10)
  @Max(64)
  min_length!: number;

  /** zxcvbn score, 2 to 4 */
  @IsOptional()
  @IsInt()
  @Min(2)
  @Max(4)
  min_score!: number;
}

export class SecuritySettings {
  @ValidateNested()
  @Type(() => LoginLimit)
  login_limit!: LoginLimit;

  @ValidateNested()
  @Type(() => RateLimits)
  rate_limits!: RateLimits;

  @ValidateNested()
  @Type(() => SessionSettings)
  session!: SessionSettings;

  @ValidateNested()
  @Type(() => PasswordPolicy)
  password_policy!: PasswordPolicy;

  /** users of this role and above must have a second factor; null: nobody must */
  @IsOptional()
  @IsIn([1, 2, 3])
  require_2fa_role!: number | null;

  /** networks that people may sign in from; empty: all. API tokens have networks of their own */
  @IsArray()
  @ArrayMaxSize(200)
  @Check((value) => Array.isArray(value) && value.every(isCidr), 'must be addresses or CIDRs')
  allowed_cidrs!: string[];
}

export class SmtpSettings {
  @IsBoolean()
  enabled!: boolean;

  @IsString()
  @MaxLength(253)
  @Matches(/^[\w.:-]*$/, { message: '$property must be a host name or address' })
  host!: string;

  @IsInt()
  @Min(1)
  @Max(65535)
  port!: number;

  /** none: plain text; starttls: demanded after connecting; tls: from the first byte. Certificates are verified */
  @IsIn(['none', 'starttls', 'tls'])
  security!: 'none' | 'starttls' | 'tls';

  /** empty: no login */
  @IsString()
  @MaxLength(255)
  username!: string;

  /** sender: `dns@example.com` or `Zoneward <dns@example.com>` */
  @Check((value) => value === '' || isMailbox(value), 'must be an address such as Zoneward <dns@example.com>')
  from!: string;
}

export class SmtpView extends SmtpSettings {
  /** whether a password is stored; it is never shown */
  password_set!: boolean;
}

export class GeneralInput extends PartialType(GeneralSettings) {}

export class SecurityInput extends PartialType(SecuritySettings) {}

export class SmtpInput extends PartialType(SmtpSettings) {
  /** left out: the stored one stays, as long as `host` does; null: none */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1024)
  password?: string | null;

  /** what a GET tells; ignored */
  @IsOptional()
  @IsBoolean()
  password_set?: boolean;
}
