import { Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { Domain } from '../../domains/domain.entity.js';
import { Json, Utc } from '../../platform/schema/columns.js';

/** The delegation of a domain in the zone above, as of the last check. */
@Entity('delegations')
@Index('delegations_next_ix', ['next_at'])
export class KnownDelegation {
  @PrimaryColumn({ type: Number }) domain_id!: number;
  @ManyToOne(() => Domain, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'domain_id', foreignKeyConstraintName: 'delegations_domain_fk' })
  domain?: Domain;
  /** its name servers there; null: it was never found there */
  @Json({ nullable: true }) names!: string[] | null;
  /** what they were before they changed */
  @Json({ nullable: true }) names_before!: string[] | null;
  /** DS there; null: not asked, or not answered */
  @Json({ nullable: true }) ds!: string[] | null;
  @Utc({ nullable: true }) changed_at!: string | null;
  /** codes of the critical issues at the last check */
  @Json({ nullable: true }) broken!: string[] | null;
  @Utc({ nullable: true }) checked_at!: string | null;
  /** when it is asked next */
  @Utc() next_at!: string;
}
