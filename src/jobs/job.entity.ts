import { Entity, Index } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../database/columns.js';
import { Fleeting } from '../database/dump/tables.js';

/** What is done by itself or goes on after its answer, and how it went. */
@Fleeting()
@Entity('jobs')
@Index('jobs_key_uq', ['unique_key'], { unique: true })
@Index('jobs_next_ix', ['state', 'next_at'])
@Index('jobs_name_ix', ['name', 'id'])
export class JobRow {
  @Id() id!: number;
  /** who does it: the name under which it was scheduled, or a handler registered */
  @Str(64) name!: string;
  /** scheduled, once */
  @Str(12) kind!: string;
  /** there is at most one job with the same; `#` and a random text: no other one has it */
  @Str(128) unique_key!: string;
  /** JSON: what to do it with; no secrets */
  @Text() payload!: string;
  /** ms between the beginnings of a scheduled one */
  @Int({ nullable: true }) every_ms!: number | null;
  /** waiting, running, done, failed */
  @Str(8) state!: string;
  /** waiting: when it is due; running: the end of the lease */
  @Utc() next_at!: string;
  /** who runs it: the process, see `process-name.ts`, and a nonce of this one run */
  @Str(128, { nullable: true }) owner!: string | null;
  /** all runs that were begun */
  @Int() runs!: number;
  /** runs that were begun since the last one that ended well */
  @Int() tries!: number;
  /** JSON: the payload with which it was asked for while it ran: it runs once more with that */
  @Text({ nullable: true }) asked!: string | null;
  /** JSON: how far it is, or came */
  @Text({ nullable: true }) progress!: string | null;
  /** JSON: what came of it */
  @Text({ nullable: true }) result!: string | null;
  @Text({ nullable: true }) last_error!: string | null;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) started_at!: string | null;
  @Utc({ nullable: true }) ended_at!: string | null;
  /** since when it has stopped, once that was told; null: it goes on */
  @Utc({ nullable: true }) stopped_at!: string | null;
}
