import { ApiProperty } from '@nestjs/swagger';
import { Role } from '../access/access.js';
import type { Language } from '../settings/settings.dto.js';

export class UserView {
  id!: number;
  username!: string;
  nickname!: string;
  email!: string | null;
  /** 1 ordinary user, 2 administrator, 3 super administrator */
  role!: Role;
  /** 1 active, 0 disabled */
  @ApiProperty({ enum: [0, 1] })
  status!: number;
  totp_enabled!: boolean;
  language!: Language;
  created_at!: string;
  last_login_at!: string | null;
}
