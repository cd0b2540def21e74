import { IntersectionType, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
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
} from 'class-validator';
import { isTimezone } from '../platform/common/time-zone.js';
import { Check, Nested } from '../platform/common/validation.js';
import { ruleText } from '../platform/common/words/field-text.js';
import { upstreamOf } from '../platform/dns-client/upstream.js';
import { isCidr, isHttpUrl, isMailbox, isPicture, ONE_LINE, pictureUrl } from './checks.js';

/** Languages of mails and of the console. */
export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

export class GeneralSettings {
  @IsString()
  @MaxLength(64)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  site_name!: string;

  /** public address, used in mails and for passkeys; BASE_URL of the environment wins */
  @IsOptional()
  @Check(isHttpUrl, 'must be an http or https URL without query')
  base_url!: string | null;

  /** of mails to people who chose none */
  @IsIn(LANGUAGES)
  language!: Language;

  /**
   * IANA name, such as Europe/Berlin: where days begin in the audit log and in statistics, and of the times in mails
   * and notices
   */
  @Check(isTimezone, 'must be a time zone name such as Europe/Berlin')
  timezone!: string;

  /**
   * picture for the console: an `https:` URL with a plain host (stored in its normal form), a `data:image/` URL of
   * up to 16 384 characters, or a path of this service such as `/pictures/sea.jpg`; without quotes, brackets and white
   * space
   */
  @IsOptional()
  @Transform(({ value }) => pictureUrl(value) ?? value)
  @Check(
    isPicture,
    'must be an https: URL with a plain host, a data:image/ URL, or a path such as /pictures/sea.jpg, without quotes, brackets and white space',
  )
  background_image!: string | null;

  /** whether strangers may register (role 1) */
  @IsBoolean()
  registration_enabled!: boolean;

  /** seconds, for records that are created without one */
  @IsInt()
  @Min(0)
  @Max(2147483647)
  default_ttl!: number;

  /**
   * the DNS resolvers to ask; empty: those of the system. An address, with a port `192.0.2.1:5353` or
   * `[2001:db8::1]:5353`; DNS over TLS as `tls://dns.example`; DNS over HTTPS as `https://dns.example/dns-query`
   */
  @IsArray()
  @ArrayMaxSize(8)
  @Check(
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && upstreamOf(one)),
    'must be IP addresses (a port may follow), tls://… or https://… URLs',
  )
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
  @Min(3)
  @Max(20)
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

/** Requests a minute; 0: no limit, but for logins. */
class RateLimits {
  /** password logins and reset requests of one network */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  login!: number;

  /** the other routes for strangers, of one network: passkey and OAuth sign-in, registration */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  public!: number;

  /**
   * all routes, of one signed-in user, and changes of records besides, each of a list; 3000 unless set: 50 a second,
   * in bursts of 200 (four seconds' worth, at least 60). A list that is longer than what is left is taken, and its
   * changes are paid off first, for a minute at most; who has to wait is told by 429001 and `Retry-After`
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  user!: number;

  /** the same of one API token; 3000 unless set */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  token!: number;
}

/** The longest life of a JWT. */
export const MAX_TOKEN_MINUTES = 10_080;

class SessionSettings {
  /** life of a JWT; `POST /api/auth/refresh` gives the next one */
  @IsOptional()
  @IsInt()
  @Min(5)
  @Max(MAX_TOKEN_MINUTES)
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
  @Nested(() => LoginLimit)
  login_limit!: LoginLimit;

  @Nested(() => RateLimits)
  rate_limits!: RateLimits;

  @Nested(() => SessionSettings)
  session!: SessionSettings;

  @Nested(() => PasswordPolicy)
  password_policy!: PasswordPolicy;

  /**
   * sessions of this role and above must have shown a second factor, and API tokens need a creator who has one; null:
   * nobody must
   */
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
  @Matches(/^[\w.:-]*$/, { message: ruleText('must be a host name or address') })
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

export class GeneralView extends GeneralSettings {
  /**
   * whether a super administrator has set or confirmed `base_url`; until then the last confirmed one serves mails,
   * passkeys and OAuth
   */
  confirmed!: boolean;
  /** the fields that wait for that */
  waiting!: string[];
}

export class SecurityView extends SecuritySettings {
  /**
   * whether all of it binds super administrators, too: what an administrator sets binds administrators and users only
   */
  confirmed!: boolean;
  /** the fields that do not, such as `login_limit.max_failures`; they do when a super administrator saves them */
  waiting!: string[];
}

export class SmtpView extends SmtpSettings {
  /** whether a password is stored; it is never shown */
  password_set!: boolean;
  /**
   * whether a super administrator has set or confirmed `host`, `port`, `security` and `username`; until then they serve
   * tests and notifications only, and mails that carry a link or a code go through the last server that was confirmed,
   * or are not sent
   */
  confirmed!: boolean;
  /** the fields that wait for that */
  waiting!: string[];
}

/** What a GET tells and a PUT takes unchanged. */
export class StatusFields {
  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  confirmed?: boolean;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsString({ each: true })
  @ArrayMaxSize(500)
  waiting?: string[];
}

export class GeneralInput extends IntersectionType(PartialType(GeneralSettings), StatusFields) {}

// inside of the objects, too, what is left out stays
class LoginLimitInput extends PartialType(LoginLimit) {}
class RateLimitsInput extends PartialType(RateLimits) {}
class SessionSettingsInput extends PartialType(SessionSettings) {}
class PasswordPolicyInput extends PartialType(PasswordPolicy) {}

export class SecurityInput extends IntersectionType(
  PartialType(PickType(SecuritySettings, ['require_2fa_role', 'allowed_cidrs'])),
  StatusFields,
) {
  @IsOptional()
  @Nested(() => LoginLimitInput)
  login_limit?: LoginLimitInput;

  @IsOptional()
  @Nested(() => RateLimitsInput)
  rate_limits?: RateLimitsInput;

  @IsOptional()
  @Nested(() => SessionSettingsInput)
  session?: SessionSettingsInput;

  @IsOptional()
  @Nested(() => PasswordPolicyInput)
  password_policy?: PasswordPolicyInput;
}

export class SmtpInput extends IntersectionType(PartialType(SmtpSettings), StatusFields) {
  /**
   * left out: the stored one stays, as long as `host` and `port` do and `security` does not become `none`; null: none
   */
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(1024)
  password?: string | null;

  /** what a GET tells; must be that */
  @IsOptional()
  @IsBoolean()
  password_set?: boolean;
}

export class Confirmed {
  confirmed!: boolean;
  /** the fields that waited and are confirmed now */
  fields!: string[];
}
