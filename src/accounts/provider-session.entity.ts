import { Entity, PrimaryColumn } from 'typeorm';
import { Int, Text, Utc } from '../platform/schema/columns.js';
import { Fleeting } from '../platform/schema/restored.js';

/** A session at a provider, or the newest one-time code that was sent there: see `SharedSessions`. */
@Fleeting()
@Entity('provider_sessions')
export class ProviderSession {
  /** SHA-256 of the kind and the credentials */
  @PrimaryColumn({ type: 'varchar', length: 64 }) id!: string;
  /** encrypted; null: there is none, or it was refused */
  @Text({ nullable: true }) session!: string | null;
  /** the newest time step whose code was sent; 0: none was */
  @Int() last_step!: number;
  /** when the session ends, or the step means nothing any more */
  @Utc() expires_at!: string;
}
