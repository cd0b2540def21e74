import type { Principal } from '../common/access.js';
import type { User } from './user.entity.js';

/**
 * A user who asks without a token, where the guard has not found out who it is: at the end of a login, or in a question
 * about somebody.
 */
export const userPrincipal = (
  { id, username, role }: Pick<User, 'id' | 'username' | 'role'>,
  sessionId: number | null,
): Principal => ({
  kind: 'user',
  userId: id,
  username,
  role,
  sessionId,
  lacksSecondFactor: false,
  ratePerMinute: 0,
  token: null,
});
