import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Domain } from '../../domains/domain.entity.js';
import { Id, Int, Str, Utc } from '../../platform/schema/columns.js';
import { Fleeting } from '../../platform/schema/restored.js';

/** What a registry says of a name, for all zones at it and below it. Not in dumps: it can be asked again. */
@Fleeting()
@Entity('registrations')
@Index('registrations_name_uq', ['name'], { unique: true })
@Index('registrations_next_ix', ['next_at'])
export class Registration {
  @Id() id!: number;
  /** registrable, lower case, A-labels */
  @Str(253) name!: string;
  /** the last date that was read; an answer without one does not replace it */
  @Utc({ nullable: true }) expires_at!: string | null;
  /** rdap, whois, provider */
  @Str(8, { nullable: true }) source!: string | null;
  /** the last question, whatever its result */
  @Utc({ nullable: true }) checked_at!: string | null;
  @Utc() next_at!: string;
  /** in a row */
  @Int() failures!: number;
  @Str(255, { nullable: true }) error!: string | null;
}

/** An RDAP or WHOIS server: when any process may ask it again. */
@Fleeting()
@Entity('registry_servers')
export class RegistryServer {
  /** host, or host:port */
  @PrimaryColumn({ type: 'varchar', length: 255 }) server!: string;
  @Utc() next_at!: string;
  /** in a row */
  @Int() failures!: number;
  /** limited, unavailable: why it is not asked before `next_at`; null: it answers */
  @Str(12, { nullable: true }) state!: string | null;
  @Str(255, { nullable: true }) reason!: string | null;
}

/** What a host of a watched domain showed. */
@Entity('certificates')
@Index('certificates_host_uq', ['domain_id', 'host'], { unique: true })
@Index('certificates_end_ix', ['valid_to'])
export class Certificate {
  @Id() id!: number;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'certificates_domain_fk' })
  domain?: Domain;
  /** full name */
  @Str(253) host!: string;
  /** of the last certificate that was seen */
  @Utc({ nullable: true }) valid_from!: string | null;
  @Utc({ nullable: true }) valid_to!: string | null;
  @Str(255, { nullable: true }) issuer!: string | null;
  @Str(255, { nullable: true }) error!: string | null;
  @Utc({ nullable: true }) checked_at!: string | null;
  /** the end of the last reminder, and how many days before it that was */
  @Utc({ nullable: true }) told_for!: string | null;
  @Int({ nullable: true }) told_days!: number | null;
}
