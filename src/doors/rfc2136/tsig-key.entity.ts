import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';
import { ApiToken } from '../../tokens/token.entity.js';

/** What stands for a token where messages are signed by TSIG; it ends with its token. */
@Entity('tsig_keys')
@Index('tsig_keys_token_uq', ['token_id'], { unique: true })
@Index('tsig_keys_name_uq', ['name'], { unique: true })
export class TsigKeyRow {
  @Id() id!: number;
  @Int() token_id!: number;
  @ManyToOne(() => ApiToken, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'token_id', foreignKeyConstraintName: 'tsig_keys_token_fk' })
  token?: ApiToken;
  /** a domain name: lower case, no final dot */
  @Str(64) name!: string;
  /** one of `TSIG_ALGORITHMS` */
  @Str(16) algorithm!: string;
  /** sealed: base64 */
  @Text() secret!: string;
  @Utc() created_at!: string;
}

/** A signed update that has come, for as long as its signature counts: it is not carried out once more. */
@Fleeting()
@Entity('tsig_seen')
@Index('tsig_seen_expires_ix', ['expires_at'])
export class TsigSeen {
  /** SHA-256 of the key's name and the signature */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id!: string;
  @Utc() expires_at!: string;
}
