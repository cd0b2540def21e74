import { Entity, PrimaryColumn } from 'typeorm';
import { Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';

/** The state of an enabled rule: a rule that fired is silent for its window, in all processes. */
@Fleeting()
@Entity('audit_rule_states')
export class AuditRuleState {
  @PrimaryColumn({ type: 'varchar', length: 32 }) rule_id!: string;
  /** entries that were linked until then have been checked */
  @Utc() checked_at!: string;
  @Utc({ nullable: true }) fired_at!: string | null;
}
