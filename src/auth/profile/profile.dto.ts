import { IsIn, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { TakesBack } from '../../platform/common/read-only.js';
import { isTimezone } from '../../platform/common/time-zone.js';
import { Check, IsOmittable } from '../../platform/common/validation.js';
import { ruleText } from '../../platform/common/words/field-text.js';
import { isEmail, ONE_LINE } from '../../settings/checks.js';
import { LANGUAGES, type Language } from '../../settings/settings.dto.js';

export const THEMES = ['auto', 'light', 'dark'] as const;

export class ProfileView {
  nickname!: string;
  email!: string | null;
  /** whether a mailed code proved it */
  email_verified!: boolean;
  language!: Language;
  /** of the console */
  theme!: (typeof THEMES)[number];
  /** IANA name; null: that of the installation */
  timezone!: string | null;
}

@TakesBack(ProfileView)
export class ProfileInput {
  @IsOmittable()
  @IsString()
  @IsNotEmpty()
  @MaxLength(128)
  @Matches(ONE_LINE, { message: ruleText('must be one line') })
  nickname?: string;

  /**
   * another address needs `email_code`, and a session that is younger than five minutes (403001); null takes it away
   */
  @IsOptional()
  @Check(isEmail, 'must be an e-mail address')
  email?: string | null;

  /** from `POST /api/security/email-code`, for this very address */
  @IsOptional()
  @IsString()
  @MaxLength(16)
  email_code?: string;

  @IsOmittable()
  @IsIn(LANGUAGES)
  language?: Language;

  @IsOmittable()
  @IsIn(THEMES)
  theme?: (typeof THEMES)[number];

  @IsOptional()
  @Check(isTimezone, 'must be a time zone name such as Europe/Berlin')
  timezone?: string | null;
}

export class EmailCodeInput {
  /** where the code goes */
  @Check(isEmail, 'must be an e-mail address')
  email!: string;
}
