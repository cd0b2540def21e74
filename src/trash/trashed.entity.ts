import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { DnsAccount } from '../accounts/account.entity.js';
import type { Domain } from '../domains/domain.entity.js';
import { Bool, Int, Json, Str, Utc } from '../platform/schema/columns.js';
import { Team } from '../teams/team.entity.js';
import { User } from '../users/user.entity.js';

/** A domain as it was when it was deleted. */
export type DomainContent = Omit<Domain, 'account' | 'owner'>;

/** A deleted domain, until it is purged. It goes with its account, and belongs to its owner as long as there is one. */
@Entity('trashed_domains')
@Index('trashed_domains_zone_ix', ['account_id', 'name'])
@Index('trashed_domains_owner_ix', ['owner_id'])
@Index('trashed_domains_end_ix', ['purged_at'])
export class TrashedDomain {
  /** the domain's */
  @PrimaryColumn({ type: Number }) id!: number;
  @Str(253) name!: string;
  @Str(255) apart!: string;
  @Int() account_id!: number;
  @ManyToOne(() => DnsAccount, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'trashed_domains_account_fk' })
  account?: DnsAccount;
  @Int({ nullable: true }) owner_id!: number | null;
  @ManyToOne(() => User, { onDelete: 'SET NULL', onUpdate: 'NO ACTION', nullable: true })
  @JoinColumn({ name: 'owner_id', foreignKeyConstraintName: 'trashed_domains_owner_fk' })
  owner?: User | null;
  /** its row; its owner is above */
  @Json() content!: DomainContent;
  @Utc() deleted_at!: string;
  @Int({ nullable: true }) deleter_id!: number | null;
  @Str(64, { nullable: true }) deleter!: string | null;
  /** it cannot be restored from then on */
  @Utc() purged_at!: string;
  /** it is being purged: it cannot be restored any more */
  @Bool() leaving!: boolean;
}

/** A right of a team on a domain in the trash. */
@Entity('trashed_permissions')
@Index('trashed_permissions_team_ix', ['team_id'])
@Index('trashed_permissions_domain_ix', ['domain_id'])
export class TrashedPermission {
  /** as it was */
  @PrimaryColumn({ type: Number }) id!: number;
  @Int() team_id!: number;
  @ManyToOne(() => Team, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'team_id', foreignKeyConstraintName: 'trashed_permissions_team_fk' })
  team?: Team;
  @Int() domain_id!: number;
  @ManyToOne(() => TrashedDomain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'trashed_permissions_domain_fk' })
  domain?: TrashedDomain;
  @Str(8) permission!: string;
  @Str(255, { nullable: true }) host!: string | null;
  @Int({ nullable: true }) granted_by!: number | null;
  @Bool({ nullable: true }) repeated!: boolean | null;
}
