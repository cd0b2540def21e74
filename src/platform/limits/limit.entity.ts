import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Int, Str, Utc } from '../schema/columns.js';
import { Fleeting } from '../schema/restored.js';

/**
 * A counter of a sliding window with a block that doubles: login failures of a name in a network, failures of a
 * network. Shared by all replicas.
 */
@Fleeting()
@Entity('limits')
@Index('limits_username_ix', ['username'])
@Index('limits_blocked_ix', ['blocked_until'])
export class Limit {
  /** SHA-256 of what is counted */
  @PrimaryColumn({ type: 'varchar', length: 64 }) name!: string;
  @Int() hits!: number;
  @Utc() window_start!: string;
  @Utc({ nullable: true }) blocked_until!: string | null;
  /** how often it was blocked in a row; each block is twice as long as the one before */
  @Int() blocks!: number;
  /** the login name in lower case, of counters of one name; null: of the whole network */
  @Str(64, { nullable: true }) username!: string | null;
  @Str(64) network!: string;
}
