import { IsNotEmpty, IsOptional, IsString, MaxLength } from 'class-validator';

export class LoginInput {
  /** login name, any case */
  @IsString()
  @IsNotEmpty()
  @MaxLength(64)
  username!: string;

  @IsString()
  @IsNotEmpty()
  @MaxLength(1024)
  password!: string;

  /** six digits of the authenticator app; only on the second call, when the first answered code -2 */
  @IsOptional()
  @IsString()
  @MaxLength(16)
  totpCode?: string;
}

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

export class LoginResult {
  /** user JWT for `Authorization: Bearer` */
  token!: string;
  user!: UserView;
}
