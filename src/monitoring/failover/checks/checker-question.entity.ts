import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Utc } from '../../../platform/schema/columns.js';
import { Fleeting } from '../../../platform/schema/restored.js';

/** A signed question of another checker that some process has accepted: it is accepted once. */
@Fleeting()
@Entity('checker_questions')
@Index('checker_questions_until_ix', ['until_at'])
export class CheckerQuestion {
  @PrimaryColumn({ type: 'varchar', length: 64 }) signature!: string;
  /** from then on its timestamp alone refuses it */
  @Utc() until_at!: string;
}
