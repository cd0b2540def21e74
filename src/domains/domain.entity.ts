import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { DnsAccount } from '../accounts/account.entity.js';
import { Bool, Id, Int, Str, Text, Utc } from '../platform/schema/columns.js';
import { Team } from '../teams/team.entity.js';
import { User } from '../users/user.entity.js';

@Entity('domains')
@Index('domains_account_zone_uq', ['account_id', 'name', 'apart'], { unique: true })
@Index('domains_name_ix', ['name'])
@Index('domains_owner_ix', ['owner_id'])
@Index('domains_remote_ix', ['remote_id'])
@Index('domains_stale_ix', ['stale_revision'])
@Index('domains_expires_ix', ['expires_at'])
@Index('domains_status_ix', ['status'])
export class Domain {
  @Id() id!: number;
  /** lower case, A-labels, no final dot */
  @Str(253) name!: string;
  /** the zone's id where it is private, which sets it apart from the public one of its name; else empty */
  @Str(255, { default: '' }) apart!: string;
  @Int() account_id!: number;
  @ManyToOne(() => DnsAccount, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'domains_account_fk' })
  account?: DnsAccount;
  /** the provider's id of the zone */
  @Str(255) remote_id!: string;
  @Int({ nullable: true }) owner_id!: number | null;
  @ManyToOne(() => User, { onDelete: 'SET NULL', onUpdate: 'NO ACTION', nullable: true })
  @JoinColumn({ name: 'owner_id', foreignKeyConstraintName: 'domains_owner_fk' })
  owner?: User | null;
  /** active, missing (gone from a complete list of the provider) */
  @Str(16) status!: string;
  @Str(255) remark!: string;
  @Int() records_count!: number;
  /** raised with every committed change of a record; lets a sync see what changed while it was listing */
  @Int() revision!: number;
  /** that by which another domain of the same zone had changed it, until the cache has followed; null: it has */
  @Int({ nullable: true }) stale_revision!: number | null;
  /** expiry of the registration */
  @Utc({ nullable: true }) expires_at!: string | null;
  /** manual (it stands), rdap, whois, provider; null: not known */
  @Str(8, { nullable: true }) expires_source!: string | null;
  /** when a registry was asked last, and why it gave no date */
  @Utc({ nullable: true }) expires_checked_at!: string | null;
  @Str(255, { nullable: true }) expiry_error!: string | null;
  /** the end that the last reminder was about, and how many days before it that was sent */
  @Utc({ nullable: true }) expiry_told_for!: string | null;
  @Int({ nullable: true }) expiry_told_days!: number | null;
  /** whether the certificates of its hosts are checked, at this port */
  @Bool({ default: false }) watch_certificates!: boolean;
  @Int({ default: 443 }) certificate_port!: number;
  /** see `changeRulesOf`; null: those of every domain */
  @Text({ nullable: true }) change_rules!: string | null;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) synced_at!: string | null;
}

/**
 * Of the permissions of a team on one domain exactly one is counted: lists count each domain once without comparing.
 */
export const COUNTED = null;
export const REPEATED = true;

/** A right of a team on a domain. */
@Entity('domain_permissions')
@Index('domain_permissions_team_ix', ['team_id', 'domain_name', 'domain_id'])
@Index('domain_permissions_domain_ix', ['domain_id', 'team_id'])
@Index('domain_permissions_count_ix', ['team_id', 'repeated'])
export class DomainPermission {
  @Id() id!: number;
  @Int() team_id!: number;
  @ManyToOne(() => Team, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'team_id', foreignKeyConstraintName: 'domain_permissions_team_fk' })
  team?: Team;
  @Int() domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'domain_permissions_domain_fk' })
  domain?: Domain;
  /** the domain's name, which never changes: a user's list is sorted and cut without reading the domains */
  @Str(253) domain_name!: string;
  /** read, write */
  @Str(8) permission!: string;
  @Str(255, { nullable: true }) host!: string | null;
  /** the user who gave it; null: given before that was kept */
  @Int({ nullable: true }) granted_by!: number | null;
  /** `COUNTED` or `REPEATED` */
  @Bool({ nullable: true }) repeated!: boolean | null;
}
