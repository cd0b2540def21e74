import { Entity, Index } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../schema/columns.js';
import { Fleeting } from '../schema/restored.js';

/** Work in the background: scheduled, or continued after the answer to its request; and how it went. */
@Fleeting()
@Entity('jobs')
@Index('jobs_key_uq', ['unique_key'], { unique: true })
@Index('jobs_next_ix', ['state', 'next_at'])
@Index('jobs_kind_ix', ['kind', 'id'])
@Index('jobs_name_ix', ['name', 'id'])
export class JobRow {
  @Id() id!: number;
  /** the name under which it was scheduled, or its handler was registered */
  @Str(64) name!: string;
  /** scheduled, once */
  @Str(12) kind!: string;
  /** there is at most one job with the same key; `#` and a random text for a job that may have others like it */
  @Str(128) unique_key!: string;
  /** JSON: its input; no secrets */
  @Text() payload!: string;
  /** of a scheduled job, ms between the beginnings of two runs */
  @Int({ nullable: true }) every_ms!: number | null;
  /** waiting, running, done, failed */
  @Str(8) state!: string;
  /** waiting: when it is due; running: the end of the lease */
  @Utc() next_at!: string;
  /** the run: the process, see `process-name.ts`, and a nonce */
  @Str(128, { nullable: true }) owner!: string | null;
  /** all runs so far */
  @Int() runs!: number;
  /** runs since the last one that ended well */
  @Int() tries!: number;
  /** JSON: the payload of a request for it that came while it ran: it runs once more with that */
  @Text({ nullable: true }) asked!: string | null;
  /** JSON: its progress */
  @Text({ nullable: true }) progress!: string | null;
  /** JSON: its result */
  @Text({ nullable: true }) result!: string | null;
  @Text({ nullable: true }) last_error!: string | null;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) started_at!: string | null;
  @Utc({ nullable: true }) ended_at!: string | null;
  /** since when it has stopped, once that was reported; null: it goes on */
  @Utc({ nullable: true }) stopped_at!: string | null;
}
