import type { Principal } from '../access/access.js';
import type { User } from './user.entity.js';

/**
 * The principal of a user without a token, where there is none from the guard: at the end of a login, or when the
 * rights of a user are explained.
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
