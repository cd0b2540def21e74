import { Matches } from 'class-validator';
import { ruleText } from '../../platform/common/words/field-text.js';
import { UserView } from '../../users/user.dto.js';
import { Codes } from '../second-factor/second-factor.dto.js';

/** `token` and `user` of a login, or `bound` of a binding. */
export class OauthResult {
  /** user JWT for `Authorization: Bearer`; left out where it is put into the cookie */
  token?: string;
  /** when the JWT in the cookie ends: `POST /api/auth/refresh` renews it; left out beside `token` */
  expires_at?: string;
  user?: UserView;
  /** true: the sign-in was bound to the account that began */
  bound?: boolean;
}

export class SecondFactorInput extends Codes {
  /** of the answer with code -2; good for five minutes and one sign-in */
  @Matches(/^[0-9a-f]{64}$/, { message: ruleText('must be the 64 characters of the answer with code -2') })
  challenge_id!: string;
}
