import { UserView } from '../../users/user.dto.js';

/** `token` and `user` of a login, or `bound` of a binding. */
export class OauthResult {
  /** user JWT for `Authorization: Bearer` */
  token?: string;
  user?: UserView;
  /** true: the sign-in was bound to the account that began */
  bound?: boolean;
}
