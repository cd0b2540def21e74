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
