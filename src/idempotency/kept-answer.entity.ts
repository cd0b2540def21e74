import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Int, Str, Text, Utc } from '../platform/schema/columns.js';
import { Fleeting } from '../platform/schema/restored.js';

/**
 * A request that was sent with an `Idempotency-Key`, and its answer. Not in backups: a restored database is from before
 * what later answers tell.
 */
@Fleeting()
@Entity('kept_answers')
@Index('kept_answers_expiry_ix', ['expires_at'])
@Index('kept_answers_caller_ix', ['caller', 'expires_at', 'size'])
export class KeptAnswer {
  /** SHA-256 of the caller and the key */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id!: string;
  /** `user:7` or `token:3` */
  @Str(24) caller!: string;
  /** who carries the request out; null: it has been answered */
  @Str(128, { nullable: true }) owner!: string | null;
  /** until when the owner is taken to be alive */
  @Utc() lease_until!: string;
  /** sealed `Kept` */
  @Text() content!: string;
  /** bytes of `content` */
  @Int() size!: number;
  /** of the request that was carried out */
  @Str(64) request_id!: string;
  @Utc() expires_at!: string;
}
