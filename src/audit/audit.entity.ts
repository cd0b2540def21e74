import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Id, Int, Json, Str, Text, Utc } from '../database/columns.js';

/** One row: number and hash of the newest entry. Locked while an entry is appended, so the chain has no forks. */
@Entity('audit_chain')
export class AuditChain {
  @PrimaryColumn({ type: Number }) id!: number;
  @Int() seq!: number;
  @Str(64) hash!: string;
}

/** Append-only. Names instead of foreign keys: entries outlive what they speak of. */
@Entity('audit_logs')
@Index('audit_logs_seq_uq', ['seq'], { unique: true })
@Index('audit_logs_time_ix', ['created_at'])
@Index('audit_logs_domain_ix', ['domain', 'id'])
@Index('audit_logs_action_ix', ['action', 'id'])
@Index('audit_logs_action_time_ix', ['action', 'created_at'])
@Index('audit_logs_user_ix', ['username', 'id'])
@Index('audit_logs_token_ix', ['token_id', 'id'])
@Index('audit_logs_request_ix', ['request_id'])
@Index('audit_logs_changes_ix', ['change_set_id', 'id'])
export class AuditLog {
  @Id() id!: number;
  @Int() seq!: number;
  @Utc() created_at!: string;
  @Str(8) actor_type!: 'user' | 'token' | 'system';
  @Int({ nullable: true }) user_id!: number | null;
  @Str(64, { nullable: true }) username!: string | null;
  @Int({ nullable: true }) token_id!: number | null;
  @Str(255, { nullable: true }) token_name!: string | null;
  @Str(64) action!: string;
  @Str(253, { nullable: true }) domain!: string | null;
  @Int({ nullable: true }) domain_id!: number | null;
  @Json({ nullable: true }) target!: object | null;
  @Json({ nullable: true }) state_before!: object | null;
  @Json({ nullable: true }) state_after!: object | null;
  @Str(8) result!: 'ok' | 'failed';
  @Text({ nullable: true }) error!: string | null;
  @Str(45) ip!: string;
  @Str(255) user_agent!: string;
  @Str(64) request_id!: string;
  @Int({ nullable: true }) change_set_id!: number | null;
  @Str(64) prev_hash!: string;
  @Str(64) hash!: string;
}
