import { Entity, PrimaryColumn } from 'typeorm';
import { Str, Utc } from '../schema/columns.js';
import { Fleeting } from '../schema/restored.js';

@Fleeting()
@Entity('leases')
export class Lease {
  /** SHA-256 of what is locked */
  @PrimaryColumn({ type: 'varchar', length: 64 }) name!: string;
  /** the process, see `process-name.ts`, and a nonce of this one holding */
  @Str(128) owner!: string;
  @Utc() expires_at!: string;
  /** SHA-256 of the whole that it is a part of */
  @Str(64, { nullable: true }) scope!: string | null;
}
