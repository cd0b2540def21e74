import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../../platform/schema/columns.js';
import { User } from '../../users/user.entity.js';

const OF_USER = { onDelete: 'CASCADE', onUpdate: 'NO ACTION' } as const;

/** A user's authenticator app (TOTP). Seeds are encrypted. */
@Entity('second_factors')
export class SecondFactor {
  @PrimaryColumn({ type: Number }) user_id!: number;
  @ManyToOne(() => User, OF_USER)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'second_factors_user_fk' })
  user?: User;
  /** the seed in use; null until the first code was right */
  @Text({ nullable: true }) secret!: string | null;
  /** a seed that was shown and waits for its first code */
  @Text({ nullable: true }) pending!: string | null;
  /** the newest time step whose code was used: codes of it and of older ones are refused */
  @Int({ nullable: true }) last_step!: number | null;
  @Utc() created_at!: string;
}

/** A code that replaces the authenticator app once; using it deletes the row. */
@Entity('recovery_codes')
@Index('recovery_codes_user_uq', ['user_id', 'code_hash'], { unique: true })
export class RecoveryCode {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, OF_USER)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'recovery_codes_user_fk' })
  user?: User;
  /** SHA-256 of 80 random bits */
  @Str(64) code_hash!: string;
}
