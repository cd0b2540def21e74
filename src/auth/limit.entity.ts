import { Entity, PrimaryColumn } from 'typeorm';
import { Int, Str, Utc } from '../database/columns.js';

/** A counter of a sliding window with a block that doubles: login failures of a name in a network, logins of a network. Shared by all replicas. */
@Entity('limits')
export class Limit {
  /** SHA-256 of what is counted */
  @PrimaryColumn({ type: 'varchar', length: 64 }) name!: string;
  @Int() hits!: number;
  @Utc() window_start!: string;
  @Utc({ nullable: true }) blocked_until!: string | null;
  /** how often it was blocked in a row; each block is twice as long as the one before */
  @Int() blocks!: number;
  /** for people: `ada from 192.0.2.7` */
  @Str(255) label!: string;
}
