import { Entity } from 'typeorm';
import type { Readers } from '../platform/events/events.js';
import { Id, Int, Json, Str, Utc } from '../platform/schema/columns.js';
import { Fleeting } from '../platform/schema/restored.js';
import type { StreamEvent } from './stream.dto.js';

/** An event for the streams of all replicas; kept for a day. */
@Fleeting()
@Entity('events_log')
export class LoggedEvent {
  /** what `Last-Event-ID` names */
  @Id() id!: number;
  @Utc() created_at!: string;
  @Str(32) type!: StreamEvent;
  /** it is sent to whoever may read this domain */
  @Int({ nullable: true }) domain_id!: number | null;
  /** of a removed domain: who could read it */
  @Json({ nullable: true }) readers!: Readers | null;
  @Json() data!: object;
}
