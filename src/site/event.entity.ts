import { Entity } from 'typeorm';
import { Id, Int, Json, Str, Utc } from '../database/columns.js';
import { Fleeting } from '../database/dump/tables.js';
import type { Readers } from '../events/events.js';
import type { StreamEvent } from './stream.dto.js';

/** What happened, for the streams of all replicas; the last day of it is kept. */
@Fleeting()
@Entity('events_log')
export class LoggedEvent {
  /** what `Last-Event-ID` names */
  @Id() id!: number;
  @Utc() created_at!: string;
  @Str(32) type!: StreamEvent;
  /** who may read this domain is told */
  @Int({ nullable: true }) domain_id!: number | null;
  /** of a domain that is gone */
  @Json({ nullable: true }) readers!: Readers | null;
  @Json() data!: object;
}
