import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { ROOM } from '../dns/record.js';
import { Domain } from '../domains/domain.entity.js';
import { Bool, Id, Int, Str, Text, Utc } from '../platform/schema/columns.js';
import { SEARCH_LENGTH } from './record-search.js';

/** What is held of a record, here or in the trash. */
abstract class HeldRecord {
  @Int() domain_id!: number;
  /** null while the record exists only here (disabled) */
  @Str(ROOM.remoteId, { nullable: true }) remote_id!: string | null;
  @Str(ROOM.host) host!: string;
  @Str(ROOM.type) type!: string;
  @Text() value!: string;
  @Int() ttl!: number;
  @Str(ROOM.line) line!: string;
  @Bool() proxied!: boolean;
  @Int({ nullable: true }) priority!: number | null;
  @Int({ nullable: true }) weight!: number | null;
  @Bool() enabled!: boolean;
  @Str(ROOM.remark) remark!: string;
  @Bool() read_only!: boolean;
  /** see `RecordEnd` */
  @Utc({ nullable: true }) expires_at!: string | null;
  @Int({ nullable: true }) end_maker_id!: number | null;
  @Int({ nullable: true }) end_maker_token_id!: number | null;
  @Text({ nullable: true }) end_hold_reason!: string | null;
  /** see `DnsRecord.extra` */
  @Text({ nullable: true }) extra!: string | null;
  /** why it is read-only */
  @Str(ROOM.reason, { nullable: true }) read_only_reason!: string | null;
  /** a change of it was sent to the provider, and nobody knows yet whether it was applied */
  @Bool({ default: false }) pending!: boolean;
  @Utc() updated_at!: string;
  /** null only in rows of a process that is older than the column */
  @Utc({ nullable: true }) created_at!: string | null;
  /** what a keyword is looked for in, see `recordSearch`; never shown */
  @Str(SEARCH_LENGTH, { nullable: true, select: false }) search!: string | null;
}

/**
 * The cache of a provider's record, and the only home of records that are disabled where the provider cannot hold such.
 */
@Entity('dns_records')
@Index('dns_records_remote_uq', ['domain_id', 'remote_id'], { unique: true })
@Index('dns_records_host_ix', ['domain_id', 'host', 'id'])
@Index('dns_records_type_ix', ['domain_id', 'type', 'id'])
// over all domains
@Index('dns_records_any_host_ix', ['host', 'id'])
@Index('dns_records_any_type_ix', ['type', 'id'])
// pages in the order of ids, too: with an index of their own for them, MariaDB would read whole rows to search them
@Index('dns_records_search_ix', ['domain_id', 'id', 'search'])
// by the beginning of the value, which is no column: made by its migration alone
@Index('dns_records_value_ix', { synchronize: false })
// which ones have ended
@Index('dns_records_ends_ix', ['expires_at', 'id'])
export class CachedRecord extends HeldRecord {
  @Id() id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'dns_records_domain_fk' })
  domain?: Domain;
}

/** The record of a domain in the trash, or a copy of one of a domain that was on its way there, or back. */
@Entity('trashed_records')
@Index('trashed_records_domain_ix', ['domain_id', 'id'])
export class TrashedRecord extends HeldRecord {
  /** as it was */
  @PrimaryColumn({ type: Number }) id!: number;
}

/**
 * How many records of a type a domain has: exact, kept in the transaction of every write. Counting most of a large zone
 * would cost more than the page.
 */
@Entity('record_counts')
export class RecordCount {
  @PrimaryColumn({ type: Number }) domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'record_counts_domain_fk' })
  domain?: Domain;
  @PrimaryColumn({ type: 'varchar', length: ROOM.type }) type!: string;
  @Int() hits!: number;
}
