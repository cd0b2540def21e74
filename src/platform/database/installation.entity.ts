import { Entity, PrimaryColumn } from 'typeorm';
import { Str, Text, Utc } from '../schema/columns.js';
import { Fleeting } from '../schema/restored.js';

/** The one row that says whose this database is: a copy of it must not act beside the original. */
@Fleeting()
@Entity('installation')
export class InstallationRow {
  /** always 1 */
  @PrimaryColumn({ type: Number }) one!: number;
  /** drawn at random by the first start, and by each resumption */
  @Str(36) id!: string;
  /** JSON: where its processes have found it, see `place.ts`; none yet: whoever starts next says so */
  @Text() places!: string;
  /** since when nothing is done by itself or written to providers; null: it works */
  @Utc({ nullable: true }) paused_at!: string | null;
  @Text({ nullable: true }) pause_reason!: string | null;
  /** paused: when a process looked last; one that works begins jobs all the time */
  @Utc({ nullable: true }) seen_at!: string | null;
}
