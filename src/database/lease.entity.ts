import { Entity, PrimaryColumn } from 'typeorm';
import { Str, Utc } from './columns.js';

@Entity('leases')
export class Lease {
  /** SHA-256 of what is locked */
  @PrimaryColumn({ type: 'varchar', length: 64 }) name!: string;
  @Str(128) owner!: string;
  @Utc() expires_at!: string;
}
