import { Entity, Index } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../platform/schema/columns.js';
import { Fleeting } from '../platform/schema/restored.js';

/** A mail in the outbox: written in the transaction of its cause, sent afterwards by one replica. */
@Fleeting()
@Entity('mails')
@Index('mails_next_ix', ['state', 'next_at'])
export class Mail {
  @Id() id!: number;
  @Str(254) recipient!: string;
  @Str(32) template!: string;
  /** encrypted JSON of the language and the template's values; emptied when the mail is sent or given up */
  @Text() content!: string;
  /** waiting, sent, failed */
  @Str(8) state!: string;
  @Int() tries!: number;
  @Utc() next_at!: string;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) sent_at!: string | null;
  /** why the last try failed */
  @Text({ nullable: true }) error!: string | null;
}
