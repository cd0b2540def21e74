import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Id, Int, Str, Utc } from '../../platform/schema/columns.js';
import { User } from '../../users/user.entity.js';

/** A user's account at an OpenID or OAuth 2.0 provider. Matched by issuer and subject only, never by e-mail. */
@Entity('identities')
@Index('identities_subject_uq', ['issuer', 'subject'], { unique: true })
@Index('identities_user_uq', ['user_id', 'provider'], { unique: true })
export class Identity {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'identities_user_fk' })
  user?: User;
  /** key of the provider in the settings */
  @Str(32) provider!: string;
  @Str(255) issuer!: string;
  @Str(255) subject!: string;
  /** for people: e-mail or login name there */
  @Str(255) name!: string;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) last_used_at!: string | null;
}
