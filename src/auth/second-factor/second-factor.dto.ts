import { IsNotEmpty, IsOptional, IsString, Length, MaxLength } from 'class-validator';

const LONGEST = 1024;

export class TotpSetup {
  /** Base32, 160 bits, for typing in */
  secret!: string;
  otpauth_url!: string;
  /** the same as a picture, a data URL */
  qr_code!: string;
}

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

/** What proves that it is the owner, not somebody at a session that was left open. */
export class Proof extends Codes {
  @IsOptional()
  @IsString()
  @IsNotEmpty()
  @MaxLength(LONGEST)
  password?: string;
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
