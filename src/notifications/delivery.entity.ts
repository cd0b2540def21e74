import { Entity, Index } from 'typeorm';
import { Id, Int, Str, Text, Utc } from '../platform/schema/columns.js';
import { Fleeting } from '../platform/schema/restored.js';

/** The delivery of a notice to one channel. */
@Fleeting()
@Entity('deliveries')
@Index('deliveries_notice_uq', ['notice', 'channel'], { unique: true })
@Index('deliveries_next_ix', ['state', 'channel', 'id'])
export class Delivery {
  @Id() id!: number;
  /** random id, the same for all channels of one notice */
  @Str(36) notice!: string;
  /** id in the settings */
  @Str(32) channel!: string;
  @Str(32) event!: string;
  @Str(253, { nullable: true }) domain!: string | null;
  /** JSON of the text and the details */
  @Text() content!: string;
  /** waiting, sent, dead */
  @Str(8) state!: string;
  @Int() tries!: number;
  @Utc() next_at!: string;
  /** no try begins after this one */
  @Utc() until_at!: string;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) sent_at!: string | null;
  /** when it was sent or given up */
  @Utc({ nullable: true }) ended_at!: string | null;
  /** why the last try failed */
  @Text({ nullable: true }) error!: string | null;
}
