import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Id, Int, Json, Str, Utc } from '../../database/columns.js';
import { Fleeting } from '../../database/dump/tables.js';
import { User } from '../../users/user.entity.js';

/** A login. The JWT names it (`sid`); without the row the JWT is worth nothing. */
@Fleeting()
@Entity('sessions')
@Index('sessions_sid_uq', ['sid'], { unique: true })
@Index('sessions_user_ix', ['user_id'])
@Index('sessions_expiry_ix', ['expires_at'])
export class Session {
  @Id() id!: number;
  /** random; numbers may be guessed and may come again, this does not */
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
   * what was shown in it and still counts (`Shown`); a factor that its owner switches off is taken out. Null: nothing
   */
  @Json({ nullable: true }) amr!: string[] | null;
}
