import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../../platform/schema/columns.js';
import { User } from '../../users/user.entity.js';

/** A WebAuthn credential. */
@Entity('passkeys')
@Index('passkeys_credential_uq', ['credential_key'], { unique: true })
@Index('passkeys_user_ix', ['user_id'])
export class Passkey {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'passkeys_user_fk' })
  user?: User;
  @Str(64) name!: string;
  /** SHA-256 of the credential id, which may be longer than a key of an index */
  @Str(64) credential_key!: string;
  /** base64url */
  @Text() credential_id!: string;
  /** COSE key, base64url */
  @Text() public_key!: string;
  /** signature counter, an unsigned 32-bit number: more than a column of integers holds */
  @Str(10) counter!: string;
  @Json() transports!: string[];
  @Bool() backed_up!: boolean;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) last_used_at!: string | null;
}
