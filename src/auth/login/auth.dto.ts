import { IsEmail, IsNotEmpty, IsOptional, IsString, Length, Matches, MaxLength } from 'class-validator';
import { ONE_LINE } from '../../settings/checks.js';
import { UserView } from '../../users/user.dto.js';
import type { Shown } from '../sessions/sessions.service.js';

const LONGEST = 1024;

export class Codes {
  /** six digits of the authenticator app; at a login only on the second call, when the first answered code -2 */
  @IsOptional()
  @IsString()
  @MaxLength(16)
  totpCode?: string;

  /** in place of `totpCode`: one of the recovery codes, each of which works once */
  @IsOptional()
  @IsString()
  @MaxLength(64)
  recoveryCode?: string;
}

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

/** What proves that it is the owner, not somebody at a session that was left open. */
export class Proof extends Codes {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(LONGEST)
  password?: string;
}

export class SecondFactorInput extends Codes {
  /** of the answer with code -2; good for five minutes and one sign-in */
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be the 64 characters of the answer with code -2' })
  challenge_id!: string;
}

export class LoginResult {
  /** user JWT for `Authorization: Bearer` */
  token!: string;
  user!: UserView;
}

export class TokenResult {
  /** user JWT for `Authorization: Bearer` */
  token!: string;
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
  @Matches(ONE_LINE, { message: '$property must be one line' })
  nickname?: string;
}

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
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be the 64 characters of the mail' })
  token!: string;

  /** 10 to 128 characters that are not easy to guess */
  @IsString()
  @MaxLength(LONGEST)
  password!: string;
}

export class CodeInput {
  /** six digits of the authenticator app */
  @IsString()
  @Length(6, 16)
  code!: string;
}

export class DisableInput {
  @IsString()
  @IsNotEmpty()
  @MaxLength(LONGEST)
  password!: string;

  /** of the authenticator app, or a recovery code */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  code!: string;
}

export class RecoveryCodes {
  /** ten codes that stand in for the app, each once; shown this once */
  recovery_codes!: string[];
}

export class SessionView {
  id!: number;
  created_at!: string;
  /** written at most once a minute */
  last_active_at!: string;
  /** when it ends, used or not */
  expires_at!: string;
  ip!: string;
  user_agent!: string;
  /** how it began */
  method!: 'password' | 'passkey' | 'oauth';
  /**
   * what was shown in it and still counts: password, totp, recovery, passkey, oauth; `mfa` stands for the second factor of a provider with `trusted_2fa`. One that
   * was switched off since is left out
   */
  amr!: Shown[];
  /** whether it is the one of this request */
  current!: boolean;
}

export class EndedSessions {
  /** how many were ended */
  ended!: number;
}
