import type { UserView } from './user.dto.js';
import type { User } from './user.entity.js';

/** The user object of login answers, `GET /api/auth/me` and `/api/users`. */
export const userView = (user: User): UserView => ({
  id: user.id,
  username: user.username,
  nickname: user.nickname,
  email: user.email,
  role: user.role,
  status: user.status,
  totp_enabled: Boolean(user.totp_enabled),
  language: user.language,
  created_at: user.created_at,
  last_login_at: user.last_login_at,
});
