import { Entity, Index } from 'typeorm';
import { Bool, Id, Int, Str, Utc } from '../platform/schema/columns.js';
import type { Language } from '../settings/settings.dto.js';

/** 1 ordinary user, 2 administrator (all resources, no users), 3 super administrator */
@Entity('users')
@Index('users_username_uq', ['username_key'], { unique: true })
@Index('users_role_ix', ['role', 'id'])
@Index('users_email_uq', ['email_key'], { unique: true })
export class User {
  @Id() id!: number;
  @Str(64) username!: string;
  /** lower case: two names that differ in case only are the same name */
  @Str(64) username_key!: string;
  @Str(128) nickname!: string;
  @Str(254, { nullable: true }) email!: string | null;
  @Str(254, { nullable: true }) email_key!: string | null;
  /**
   * bcrypt of the password's digest, after `v2:`, or an older bcrypt hash; empty: no password was ever set (made by a
   * login at an OpenID provider)
   */
  @Str(128) password_hash!: string;
  @Int() role!: number;
  /** 1 active, 0 disabled */
  @Int() status!: number;
  @Str(16) language!: Language;
  @Bool() totp_enabled!: boolean;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) last_login_at!: string | null;
  /** of the console */
  @Str(16, { nullable: true }) theme!: 'auto' | 'light' | 'dark' | null;
  /** IANA name */
  @Str(64, { nullable: true }) timezone!: string | null;
  /** a mailed code was typed in */
  @Bool({ nullable: true }) email_verified!: boolean | null;
}
