import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Id, Int, Json, Str, Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';
import { User } from '../../users/user.entity.js';

/** A session. The JWT names it (`sid`); without the row the JWT is invalid. */
@Fleeting()
@Entity('sessions')
@Index('sessions_sid_uq', ['sid'], { unique: true })
@Index('sessions_user_ix', ['user_id'])
@Index('sessions_expiry_ix', ['expires_at'])
export class Session {
  @Id() id!: number;
  /** random: the numbers of rows may be guessed and reused */
  @Str(64) sid!: string;
  @Int() user_id!: number;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'sessions_user_fk' })
  user?: User;
  @Utc() created_at!: string;
  @Utc() last_active_at!: string;
  @Utc() expires_at!: string;
  @Str(45) ip!: string;
  @Str(255) user_agent!: string;
  /** password, oauth, passkey */
  @Str(16) method!: string;
  /**
   * the proofs that were shown in it and still count (`Shown`); factors that were switched off are removed. Null: none
   */
  @Json({ nullable: true }) amr!: string[] | null;
}
