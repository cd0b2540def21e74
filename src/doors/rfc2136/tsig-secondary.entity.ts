import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Id, Int, Str, Utc } from '../../platform/schema/columns.js';
import { ApiToken } from '../../tokens/token.entity.js';

/** A name server that is told of changes of the zones that the key of a token may transfer. */
@Entity('tsig_secondaries')
@Index('tsig_secondaries_uq', ['token_id', 'target'], { unique: true })
export class TsigSecondary {
  @Id() id!: number;
  @Int() token_id!: number;
  @ManyToOne(() => ApiToken, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'token_id', foreignKeyConstraintName: 'tsig_secondaries_token_fk' })
  token?: ApiToken;
  /** `host:port` */
  @Str(255) target!: string;
  /** of the last message: when and of what it told, and what went wrong */
  @Utc({ nullable: true }) told_at!: string | null;
  @Str(253, { nullable: true }) zone!: string | null;
  @Str(255, { nullable: true }) error!: string | null;
}
