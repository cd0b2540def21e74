import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { DnsAccount } from '../accounts/account.entity.js';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../platform/schema/columns.js';
import { EndedByRestore } from '../platform/schema/restored.js';
import type { RemoteRule, TunnelConnection } from '../providers/tunnels.js';
import type { Without } from './unmanaged.js';

/** `creating`, `deleting`: in progress. When cut off, a creation is undone, and a deletion goes on. */
type TunnelState = 'creating' | 'ready' | 'deleting';

/** A tunnel at a provider, as of the last poll. No secret of it is kept. */
@EndedByRestore(
  `DELETE FROM tunnels WHERE state = 'creating'`,
  `UPDATE tunnels SET state = 'ready', forced = FALSE, unsettled = NULL, hold_reason = NULL,
    last_error = 'A backup was restored in which something was under way with it' WHERE state = 'deleting' OR unsettled IS NOT NULL`,
)
@Entity('tunnels')
@Index('tunnels_account_ix', ['account_id'])
@Index('tunnels_tunnel_uq', ['tunnel_id'], { unique: true })
export class Tunnel {
  @Id() id!: number;
  @Int() account_id!: number;
  @ManyToOne(() => DnsAccount, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'tunnels_account_fk' })
  account?: DnsAccount;
  /** the provider's id of the account that has it: credentials may see several */
  @Str(64) remote_account!: string;
  /** the provider's id; null until its creation was answered */
  @Str(64, { nullable: true }) tunnel_id!: string | null;
  /** what its CNAMEs point to */
  @Str(255, { nullable: true }) target!: string | null;
  /** sent with the creation: what an unanswered one has made is found by it */
  @Str(36) mark!: string;
  @Str(128) name!: string;
  @Str(8) state!: TunnelState;
  /** to be deleted although connectors hold it */
  @Bool() forced!: boolean;
  /** as the provider calls it, or `missing` */
  @Str(16) status!: string;
  @Json() ingress!: RemoteRule[];
  /** of the configuration that `ingress` is of; null: not known */
  @Int({ nullable: true }) version!: number | null;
  @Bool() dns_managed!: boolean;
  @Json() unmanaged!: Without[];
  @Json() connections!: TunnelConnection[];
  /** hostnames whose CNAMEs may not follow `ingress` and `dns_managed`, since a change was begun; null: none */
  @Json({ nullable: true }) unsettled!: string[] | null;
  /** from when on the provider's list proves that an unanswered creation has made nothing */
  @Utc({ nullable: true }) settle_after!: string | null;
  /** why the last poll failed, or what was begun could not be completed */
  @Text({ nullable: true }) last_error!: string | null;
  /** who began the last change, and by which token; null: the owner of the account */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** why a change that was begun does not go on: the right of who began it ended */
  @Text({ nullable: true }) hold_reason!: string | null;
  @Utc() created_at!: string;
}
