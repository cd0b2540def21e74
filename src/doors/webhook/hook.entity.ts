import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Domain } from '../../domains/domain.entity.js';
import { Id, Int, Str, Text, Utc } from '../../platform/schema/columns.js';
import { ApiToken } from '../../tokens/token.entity.js';

/** An address that sets one record set when it is called with a signature; it stands for its token, ends with it. */
@Entity('hooks')
@Index('hooks_token_ix', ['token_id'])
@Index('hooks_domain_ix', ['domain_id'])
export class Hook {
  @Id() id!: number;
  @Int() token_id!: number;
  @ManyToOne(() => ApiToken, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'token_id', foreignKeyConstraintName: 'hooks_token_fk' })
  token?: ApiToken;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'hooks_domain_fk' })
  domain?: Domain;
  /** relative to the zone, lower case, A-labels */
  @Str(253) host!: string;
  @Str(16) type!: string;
  @Str(255) name!: string;
  /** sealed: what deliveries are signed with */
  @Text() secret!: string;
  @Utc() created_at!: string;
}
