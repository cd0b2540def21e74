import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../database/columns.js';
import { User } from '../users/user.entity.js';

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
  /** the newest time step whose code was taken: it and older ones are worth nothing any more */
  @Int({ nullable: true }) last_step!: number | null;
  @Utc() created_at!: string;
}

/** A code that stands in for the authenticator app once; the row goes with its use. */
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

/** A WebAuthn credential. */
@Entity('passkeys')
@Index('passkeys_credential_uq', ['credential_key'], { unique: true })
@Index('passkeys_user_ix', ['user_id'])
export class Passkey {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, OF_USER)
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

/** A user's account at an OpenID or OAuth 2.0 provider. Matched by issuer and subject only, never by e-mail. */
@Entity('identities')
@Index('identities_subject_uq', ['issuer', 'subject'], { unique: true })
@Index('identities_user_uq', ['user_id', 'provider'], { unique: true })
export class Identity {
  @Id() id!: number;
  @Int() user_id!: number;
  @ManyToOne(() => User, OF_USER)
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

/** Something that must come back once, soon: a WebAuthn challenge, an OAuth state, a mailed code, a reset token. */
@Entity('challenges')
@Index('challenges_expiry_ix', ['expires_at'])
@Index('challenges_user_ix', ['user_id', 'kind'])
export class Challenge {
  /** SHA-256 of what the client holds */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id!: string;
  @Str(16) kind!: string;
  @Int({ nullable: true }) user_id!: number | null;
  @ManyToOne(() => User, OF_USER)
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'challenges_user_fk' })
  user?: User;
  /** encrypted JSON */
  @Text() content!: string;
  @Int() tries!: number;
  @Utc() expires_at!: string;
}
