import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Id, Int, Json, Str, Utc } from '../../platform/schema/columns.js';
import { ApiToken } from '../../tokens/token.entity.js';

/** A credential of acme-dns: it stands for its token at one name, and ends with it. */
@Entity('acme_registrations')
@Index('acme_registrations_username_uq', ['username'], { unique: true })
@Index('acme_registrations_token_ix', ['token_id'])
export class AcmeRegistration {
  @Id() id!: number;
  @Int() token_id!: number;
  @ManyToOne(() => ApiToken, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'token_id', foreignKeyConstraintName: 'acme_registrations_token_fk' })
  token?: ApiToken;
  @Str(36) username!: string;
  /** SHA-256 of the key, which is never stored */
  @Str(64) key_hash!: string;
  /** what clients call it by */
  @Str(36) subdomain!: string;
  /** the name that its texts are put at: lower case, A-labels, no final dot */
  @Str(253) fulldomain!: string;
  /** networks that it may be used from; empty: all */
  @Json() allow_from!: string[];
  @Utc() created_at!: string;
}
