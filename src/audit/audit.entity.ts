import { Entity, Index, PrimaryColumn } from 'typeorm';
import { Id, Int, Json, Str, Text, Utc } from '../platform/schema/columns.js';

/**
 * One row: where the chain begins and ends, signed. Locked while entries are linked or the oldest are removed, never
 * while an entry is written.
 */
@Entity('audit_chain')
export class AuditChain {
  @PrimaryColumn({ type: Number }) id!: number;
  /** of the newest linked entry */
  @Int() seq!: number;
  @Str(64) hash!: string;
  /** of the oldest entry that is kept, and the hash before it; null: nothing was removed yet */
  @Int({ nullable: true }) start_seq!: number | null;
  @Str(64, { nullable: true }) start_hash!: string | null;
  /** entries up to this one were linked before there was a key: their hashes are not sealed; null: not known yet */
  @Int({ nullable: true }) unsealed_seq!: number | null;
  /** the key of the log, encrypted; null until the first entry is linked with one */
  @Text({ nullable: true }) secret!: string | null;
  /** Ed25519 over all of the above */
  @Str(128, { nullable: true }) signature!: string | null;
}

/** The contents of an entry. Names instead of foreign keys: entries outlive what they are about. */
abstract class EntryColumns {
  @Id() id!: number;
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
  /** by which door of another protocol; null: by none */
  @Str(16, { nullable: true }) door!: string | null;
}

/** Entries as they are written, in the transaction of the change; `AuditLinker` moves them into the chain. */
@Entity('audit_pending')
export class AuditPending extends EntryColumns {}

/** Append-only, except that retention removes the oldest entries. */
@Entity('audit_logs')
@Index('audit_logs_seq_uq', ['seq'], { unique: true })
@Index('audit_logs_time_ix', ['created_at'])
@Index('audit_logs_domain_time_ix', ['domain', 'created_at'])
@Index('audit_logs_action_time_ix', ['action', 'created_at'])
@Index('audit_logs_user_time_ix', ['username', 'created_at'])
@Index('audit_logs_token_time_ix', ['token_id', 'created_at'])
@Index('audit_logs_request_time_ix', ['request_id', 'created_at'])
@Index('audit_logs_changes_time_ix', ['change_set_id', 'created_at'])
@Index('audit_logs_domain_id_time_ix', ['domain_id', 'created_at'])
@Index('audit_logs_ip_time_ix', ['ip', 'created_at'])
export class AuditLog extends EntryColumns {
  @Int() seq!: number;
  @Str(64) prev_hash!: string;
  @Str(64) hash!: string;
  /** HMAC of the hash: whoever rewrites entries and all later hashes lacks its key */
  @Str(64, { nullable: true }) seal!: string | null;
}
