import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../platform/schema/columns.js';
import { Team } from '../teams/team.entity.js';
import { User } from '../users/user.entity.js';

@Entity('dns_accounts')
@Index('dns_accounts_team_ix', ['team_id'])
@Index('dns_accounts_owner_ix', ['owner_id'])
export class DnsAccount {
  @Id() id!: number;
  @Str(32) provider!: string;
  @Str(128) name!: string;
  @Str(255) remark!: string;
  /** encrypted JSON object */
  @Text() credentials!: string;
  /** which server its zones are at, see `providers/server-key.ts`; null: not determined yet */
  @Str(64, { nullable: true }) server_key!: string | null;
  @Int({ nullable: true }) owner_id!: number | null;
  @ManyToOne(() => User, { onDelete: 'SET NULL', onUpdate: 'NO ACTION', nullable: true })
  @JoinColumn({ name: 'owner_id', foreignKeyConstraintName: 'dns_accounts_owner_fk' })
  owner?: User | null;
  @Int({ nullable: true }) team_id!: number | null;
  @ManyToOne(() => Team, { onDelete: 'SET NULL', onUpdate: 'NO ACTION', nullable: true })
  @JoinColumn({ name: 'team_id', foreignKeyConstraintName: 'dns_accounts_team_fk' })
  team?: Team | null;
  @Utc({ nullable: true }) last_sync_at!: string | null;
  @Text({ nullable: true }) last_error!: string | null;
  /** 0: only on request */
  @Int({ default: 0 }) sync_interval_minutes!: number;
  /** when the next synchronisation by interval is due; null: at once */
  @Utc({ nullable: true }) sync_next_at!: string | null;
  /** who set the interval, and by which token; null: the owner */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** why it is not synchronised by interval: the right of who set the interval ended */
  @Text({ nullable: true }) hold_reason!: string | null;
  /** until when its provider wants no calls; it may be over */
  @Utc({ nullable: true }) paused_until!: string | null;
  @Text({ nullable: true }) pause_reason!: string | null;
  @Utc() created_at!: string;
  @Utc() updated_at!: string;
}
