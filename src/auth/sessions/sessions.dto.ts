import { UserView } from '../../users/user.dto.js';
import type { Shown } from './sessions.service.js';

export class LoginResult {
  /** user JWT for `Authorization: Bearer`; left out where it is put into the cookie */
  token?: string;
  /** when the JWT in the cookie ends: `POST /api/auth/refresh` renews it; left out beside `token` */
  expires_at?: string;
  user!: UserView;
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
   * what was shown in it and still counts: password, totp, recovery, passkey, oauth; `mfa` stands for the second factor
   * of a provider with `trusted_2fa`. One that was switched off since is left out
   */
  amr!: Shown[];
  /** whether it is the one of this request */
  current!: boolean;
}

export class EndedSessions {
  /** how many were ended */
  ended!: number;
}
