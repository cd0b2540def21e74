import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Domain } from '../../domains/domain.entity.js';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../../platform/schema/columns.js';
import { EndedByRestore } from '../../platform/schema/restored.js';
import type { Health, RuleConfig, Side } from './checks/decide.js';

/** Whether the rules of a domain are followed. */
@Entity('failovers')
@Index('failovers_domain_uq', ['domain_id'], { unique: true })
export class Failover {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'failovers_domain_fk' })
  domain?: Domain;
  @Bool() enabled!: boolean;
}

/** What a record set is to hold while its addresses answer and while they do not, and its current state. */
@EndedByRestore('UPDATE failover_rules SET intended = NULL, version = version + 1 WHERE intended IS NOT NULL')
@Entity('failover_rules')
@Index('failover_rules_domain_ix', ['domain_id', 'position'])
export class FailoverRule {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'failover_rules_domain_fk' })
  domain?: Domain;
  /** in the list of rules as it was given, from 0 */
  @Int() position!: number;
  /** raised with every write but of `checks`, each of which names the version that it was decided by */
  @Int() version!: number;
  /** the full name of the record set */
  @Str(255) name!: string;
  @Json() config!: RuleConfig;
  /** nothing is switched automatically */
  @Bool() hold!: boolean;
  /** why the rule went on hold automatically, or with a switch by hand; null: a user has set `hold` */
  @Text({ nullable: true }) hold_reason!: string | null;
  /** why the last try to switch it failed; null: it did not. Written without a new `version` */
  @Text({ nullable: true }) failure!: string | null;
  @Str(8) active!: Side;
  /** the values that the set had when the rule last looked or wrote; null: unknown */
  @Json({ nullable: true }) served!: string[] | null;
  /** the values that a switch in flight writes, or one that was cut off */
  @Json({ nullable: true }) intended!: string[] | null;
  /** the user, and the token, that it is of; null: unknown. No foreign keys: a deleted user has to be recognised */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** by value */
  @Json() checks!: Record<string, Health>;
  @Utc({ nullable: true }) switched_at!: string | null;
  @Int() switches!: number;
  /** times of the automatic switches of the last hour */
  @Json() recent!: string[];
}
