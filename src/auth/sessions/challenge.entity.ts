import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Int, Str, Text, Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';
import { User } from '../../users/user.entity.js';

/** A value that a client must return once, soon: a WebAuthn challenge, an OAuth state, a mailed code, a reset token. */
@Fleeting()
@Entity('challenges')
@Index('challenges_expiry_ix', ['expires_at'])
@Index('challenges_user_ix', ['user_id', 'kind'])
export class Challenge {
  /** SHA-256 of what the client holds */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id!: string;
  @Str(16) kind!: string;
  @Int({ nullable: true }) user_id!: number | null;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'challenges_user_fk' })
  user?: User;
  /** encrypted JSON */
  @Text() content!: string;
  @Int() tries!: number;
  @Utc() expires_at!: string;
}
