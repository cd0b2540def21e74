import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Bool, Id, Int, Json, Str, Utc } from '../database/columns.js';
import { User } from '../users/user.entity.js';

@Entity('api_tokens')
@Index('api_tokens_hash_uq', ['token_hash'], { unique: true })
@Index('api_tokens_user_ix', ['user_id'])
export class ApiToken {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'api_tokens_user_fk' })
  user?: User;
  @Str(255) name!: string;
  /** SHA-256 of the plaintext, which is never stored */
  @Str(64) token_hash!: string;
  /** made for some domains only: when its last one is deleted, an empty list means none, not all */
  @Bool() narrowed!: boolean;
  @Json() allowed_domains!: number[];
  @Json() allowed_services!: string[];
  @Utc({ nullable: true }) start_time!: string | null;
  @Utc({ nullable: true }) end_time!: string | null;
  @Int() max_role!: number;
  @Bool() is_active!: boolean;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) last_used_at!: string | null;
}
