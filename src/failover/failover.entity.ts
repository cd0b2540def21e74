import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../database/columns.js';
import { EndedByRestore } from '../database/dump/tables.js';
import { Domain } from '../domains/domain.entity.js';
import type { Health, RuleConfig, Side } from './decide.js';

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

/** What one record set shall hold while its addresses answer, and while they do not; and how that stands. */
@EndedByRestore('UPDATE failover_rules SET intended = NULL, version = version + 1 WHERE intended IS NOT NULL')
@Entity('failover_rules')
@Index('failover_rules_domain_ix', ['domain_id', 'position'])
export class FailoverRule {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'failover_rules_domain_fk' })
  domain?: Domain;
  /** the order in which the rules were given, from 0 */
  @Int() position!: number;
  /** raised with everything that is written but `checks`: who writes says which one it has seen */
  @Int() version!: number;
  /** the full name of the record set */
  @Str(255) name!: string;
  @Json() config!: RuleConfig;
  /** nothing is switched by itself */
  @Bool() hold!: boolean;
  /** why the rule went on hold by itself, or by a switch by hand; null: somebody said `hold` */
  @Text({ nullable: true }) hold_reason!: string | null;
  @Str(8) active!: Side;
  /** the values that DNS had when the rule last looked or wrote; null: not known */
  @Json({ nullable: true }) served!: string[] | null;
  /** the values that a switch is about to write, or was when its process died */
  @Json({ nullable: true }) intended!: string[] | null;
  /** who made it as it is, by which token; null: nobody is known. No keys: a user who is gone is to be found so */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** by value */
  @Json() checks!: Record<string, Health>;
  @Utc({ nullable: true }) switched_at!: string | null;
  @Int() switches!: number;
  /** times of the switches that the rule did by itself, of the last hour */
  @Json() recent!: string[];
}
