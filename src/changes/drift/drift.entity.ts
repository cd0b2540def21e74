import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Domain } from '../../domains/domain.entity.js';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../../platform/schema/columns.js';
import { EndedByRestore } from '../../platform/schema/restored.js';
import type { ChangedRecord } from '../history/change-set.entity.js';

/** A record set that somebody changed at the provider, of a domain that keeps what was here as wanted. */
@Entity('drift_sets')
@Index('drift_sets_set_uq', ['domain_id', 'host', 'type'], { unique: true })
export class DriftSet {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'drift_sets_domain_fk' })
  domain?: Domain;
  @Str(253) host!: string;
  @Str(16) type!: string;
  @Utc() found_at!: string;
  /** the plan that would take it back and waits for somebody; null: none does */
  @Int({ nullable: true }) plan_id!: number | null;
  /** why it is not taken back; null: nothing is in the way */
  @Text({ nullable: true }) hold_reason!: string | null;
  /** somebody was notified that it is not taken back */
  @Bool() told!: boolean;
}

/** One record of what such a set shall hold. */
@Entity('drift_states')
@Index('drift_states_set_ix', ['set_id', 'record_id'])
export class DriftState {
  @Id() id!: number;
  @Int() set_id!: number;
  @ManyToOne(() => DriftSet, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'set_id', foreignKeyConstraintName: 'drift_states_set_fk' })
  set?: DriftSet;
  /** the id that it had in the cache */
  @Int() record_id!: number;
  @Json() state!: ChangedRecord;
  @Text() value!: string;
}

/** A domain of which what somebody changes at the provider is taken back. */
@EndedByRestore(
  // what was changed here since the backup would seem to be others' changes
  `UPDATE drift_reverts SET hold_reason = 'this was restored from a backup' WHERE hold_reason IS NULL`,
)
@Entity('drift_reverts')
@Index('drift_reverts_domain_uq', ['domain_id'], { unique: true })
export class DriftRevert {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'drift_reverts_domain_fk' })
  domain?: Domain;
  /** whose right counts: who set it */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** why nothing is taken back, until somebody sets it to another value; null: it is */
  @Text({ nullable: true }) hold_reason!: string | null;
  @Utc() created_at!: string;
}
