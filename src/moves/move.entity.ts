import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { Domain } from '../domains/domain.entity.js';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../platform/schema/columns.js';
import { EndedByRestore } from '../platform/schema/restored.js';
import type { MoveReport } from './move-report.dto.js';

export const MOVE_STATES = ['planned', 'copied', 'following', 'switched', 'done', 'cancelled'] as const;
export type MoveState = (typeof MOVE_STATES)[number];

/** Of the moves of a domain at most one runs. */
export const RUNNING = true;
export const ENDED = null;

/** A domain on its way to another account. */
@EndedByRestore(
  `UPDATE moves SET hold_reason = 'A backup was restored while the domain was moved' WHERE state IN ('following', 'switched')`,
)
@Entity('moves')
@Index('moves_domain_uq', ['domain_id', 'running'], { unique: true })
@Index('moves_target_uq', ['target_id', 'running'], { unique: true })
@Index('moves_state_ix', ['state'])
export class Move {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'moves_domain_fk' })
  domain?: Domain;
  /** the domain of the other account; until the switch its new zone, after it its old one; null: it was deleted */
  @Int({ nullable: true }) target_id!: number | null;
  @ManyToOne(() => Domain, { onDelete: 'SET NULL', onUpdate: 'NO ACTION', nullable: true })
  @JoinColumn({ name: 'target_id', foreignKeyConstraintName: 'moves_target_fk' })
  target?: Domain | null;
  /** where it goes, and where it was */
  @Int() account_id!: number;
  @Int() from_account_id!: number;
  @Str(16) state!: MoveState;
  /** `RUNNING` or `ENDED` */
  @Bool({ nullable: true }) running!: boolean | null;
  /** the move has added the domain of the other account */
  @Bool() taken_in!: boolean;
  /** what the new provider cannot hold as it is, as of the last comparison before the switch */
  @Json({ nullable: true }) report!: MoveReport | null;
  /** the revisions of both domains as they were compared last */
  @Int({ nullable: true }) revision!: number | null;
  @Int({ nullable: true }) target_revision!: number | null;
  /** the domain's version at the switch: what is changed behind it goes to the old zone, too */
  @Int({ nullable: true }) version!: number | null;
  /** differences that the last comparison has left, and since when there are some */
  @Int() behind!: number;
  @Utc({ nullable: true }) behind_since!: string | null;
  /** comparisons in a row that have left some, and when it is tried again */
  @Int() failures!: number;
  @Utc({ nullable: true }) retry_at!: string | null;
  /** why there are differences */
  @Text({ nullable: true }) error!: string | null;
  /** who took the last step, and by which token: changes are followed with their right */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** why changes are not followed any more, until somebody with the right takes a step */
  @Text({ nullable: true }) hold_reason!: string | null;
  @Utc() created_at!: string;
  @Utc() updated_at!: string;
}
