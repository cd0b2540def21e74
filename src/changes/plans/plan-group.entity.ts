import { Entity, Index } from 'typeorm';
import { Id, Int, Json, Str, Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';

/** `making`: its plans are being stored; `applying`: they are being applied */
export type GroupState = 'making' | 'open' | 'applying' | 'applied' | 'discarded';

/** A domain of which no plan could be made. */
export interface LeftOut {
  domain_id: number;
  domain: string;
  code: number;
  msg: string;
}

/** A plan over many domains: a group of plans, one for each. Its id is none that a plan has. */
@Fleeting()
@Entity('plan_groups')
@Index('plan_groups_state_ix', ['state', 'id'])
@Index('plan_groups_end_ix', ['expires_at'])
export class PlanGroup {
  @Id() id!: number;
  @Str(16) state!: GroupState;
  @Str(255) comment!: string;
  @Json() failed!: LeftOut[];
  @Int({ nullable: true }) user_id!: number | null;
  @Str(64, { nullable: true }) username!: string | null;
  @Int({ nullable: true }) token_id!: number | null;
  @Str(255, { nullable: true }) token_name!: string | null;
  /** who applied it, by whose right the rest is applied after a crash */
  @Int({ nullable: true }) applier_id!: number | null;
  @Int({ nullable: true }) applier_token_id!: number | null;
  @Str(64) request_id!: string;
  /** guards that are meant, with commas between */
  @Str(255) forced!: string;
  /** the comment that it is applied with */
  @Str(255) reason!: string;
  /** why it is made in spite of a freeze */
  @Str(255, { nullable: true }) override_reason!: string | null;
  @Utc({ nullable: true }) applied_at!: string | null;
  @Utc() created_at!: string;
  @Utc() expires_at!: string;
}
