import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import type { FrontDoor } from '../../access/doors.js';
import { Domain } from '../../domains/domain.entity.js';
import { Id, Int, Json, Str, Text, Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';
import type { PlanOp } from '../gate/planned.js';
import type { ChangedRecord, Door } from '../history/change-set.entity.js';

export const PLAN_STATES = [
  ...(['open', 'applied', 'stale', 'discarded', 'expired'] as const),
  ...(['waiting', 'approved', 'rejected'] as const),
] as const;
export type PlanState = (typeof PLAN_STATES)[number];

/** Why a part of a plan over many domains was not applied with the others. */
export interface PlanOutcome {
  state: 'stale' | 'failed' | 'refused';
  code: number;
  msg: string;
  data?: unknown;
}

/** Changes of a domain's records that were worked out, and have not run. */
@Fleeting()
@Entity('plans')
@Index('plans_domain_ix', ['domain_id', 'id'])
@Index('plans_state_ix', ['domain_id', 'state', 'id'])
@Index('plans_any_state_ix', ['state', 'expires_at'])
@Index('plans_end_ix', ['expires_at'])
@Index('plans_group_ix', ['group_id', 'id'])
export class Plan {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'plans_domain_fk' })
  domain?: Domain;
  /** of one that has reached its `expires_at` still what it was; `approved`: it is being applied */
  @Str(16) state!: PlanState;
  @Str(255) comment!: string;
  /** the domain's version that it was worked out on */
  @Int() version!: number;
  /** over the bases of its changes */
  @Str(64) base!: string;
  /** records that it leaves as they are */
  @Int() unchanged!: number;
  /** sentences, one a line */
  @Text() warnings!: string;
  @Int({ nullable: true }) user_id!: number | null;
  @Str(64, { nullable: true }) username!: string | null;
  @Int({ nullable: true }) token_id!: number | null;
  @Str(255, { nullable: true }) token_name!: string | null;
  /** by which way it came in */
  @Str(16, { default: 'plan' }) door!: Door;
  /** which door of another protocol it was; null: none */
  @Str(16, { nullable: true }) door_key!: FrontDoor | null;
  /** of one that waits: a hash over its changes, by which the same wish is recognised */
  @Str(64, { nullable: true }) wish!: string | null;
  /** of one that waits: what it is for, of which just the newest wish waits */
  @Str(64, { nullable: true }) subject!: string | null;
  /** who approved or rejected it, when, and with which words */
  @Int({ nullable: true }) decider_id!: number | null;
  @Str(64, { nullable: true }) decider!: string | null;
  @Utc({ nullable: true }) decided_at!: string | null;
  @Str(255, { nullable: true }) decision!: string | null;
  /** the plan over many domains that it is a part of */
  @Int({ nullable: true }) group_id!: number | null;
  /** of such a part: why it was not applied with the others */
  @Json({ nullable: true }) outcome!: PlanOutcome | null;
  /** what it became */
  @Int({ nullable: true }) change_set_id!: number | null;
  @Utc() created_at!: string;
  @Utc() expires_at!: string;
}

/** One change of a plan. */
@Fleeting()
@Entity('plan_changes')
@Index('plan_changes_plan_uq', ['plan_id', 'position'], { unique: true })
export class PlanChange {
  @Id() id!: number;
  @Int() plan_id!: number;
  @ManyToOne(() => Plan, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'plan_id', foreignKeyConstraintName: 'plan_changes_plan_fk' })
  plan?: Plan;
  /** from 1: its id within the plan */
  @Int() position!: number;
  @Str(16) op!: PlanOp;
  /** of a creation: that of the record which it brings back; null: a new one */
  @Int({ nullable: true }) record_id!: number | null;
  @Json({ nullable: true }) state_before!: ChangedRecord | null;
  @Text({ nullable: true }) value_before!: string | null;
  @Json({ nullable: true }) state_after!: ChangedRecord | null;
  @Text({ nullable: true }) value_after!: string | null;
  /** see `baseOf`, of its names */
  @Str(64) base!: string;
  /** keys of the guards that it meets, with commas between */
  @Str(255) guards!: string;
}
