import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Scope } from '../access/access.js';
import { Bool, Id, Int, Json, Str, Utc } from '../platform/schema/columns.js';
import { User } from '../users/user.entity.js';
import type { TokenRule } from './rules/token-rules.js';
import type { PresetName } from './token.dto.js';

@Entity('api_tokens')
@Index('api_tokens_hash_uq', ['token_hash'], { unique: true })
@Index('api_tokens_user_ix', ['user_id'])
@Index('api_tokens_previous_ix', ['previous_hash'])
export class ApiToken {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'api_tokens_user_fk' })
  user?: User;
  @Str(255) name!: string;
  /** SHA-256 of the plaintext, which is never stored */
  @Str(64) token_hash!: string;
  /** limited to some domains: when the last one is deleted, an empty list means none, not all */
  @Bool() narrowed!: boolean;
  @Json() allowed_domains!: number[];
  @Json() allowed_services!: Scope[];
  @Utc({ nullable: true }) start_time!: string | null;
  @Utc({ nullable: true }) end_time!: string | null;
  @Int() max_role!: number;
  @Bool() is_active!: boolean;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) last_used_at!: string | null;
  /** networks that it may be used from; null: all */
  @Json({ nullable: true }) allowed_cidrs!: string[] | null;
  /** null: no rules */
  @Json({ nullable: true }) rules!: TokenRule[] | null;
  /** refused when it was not used for so many days */
  @Int({ nullable: true }) max_unused_days!: number | null;
  /** name of the preset of its rules */
  @Str(64, { nullable: true }) preset!: PresetName | null;
  /** the secret before the last rotation, and until when it still works */
  @Str(64, { nullable: true }) previous_hash!: string | null;
  @Utc({ nullable: true }) previous_until!: string | null;
  /** network of the use at `last_used_at` */
  @Str(64, { nullable: true }) last_used_network!: string | null;
  /** when it was reported as unused */
  @Utc({ nullable: true }) unused_told_at!: string | null;
}

/** How often a token was used on a day (UTC) from a network. */
@Entity('token_uses')
export class TokenUse {
  @PrimaryColumn({ type: Number }) token_id!: number;
  @ManyToOne(() => ApiToken, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'token_id', foreignKeyConstraintName: 'token_uses_token_fk' })
  token?: ApiToken;
  @PrimaryColumn({ type: 'varchar', length: 10 }) day!: string;
  @PrimaryColumn({ type: 'varchar', length: 64 }) network!: string;
  @Int() hits!: number;
}
