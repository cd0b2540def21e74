import { Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import type { FrontDoor } from '../../access/doors.js';
import type { RowValues } from '../../cache/reconcile.js';
import type { Late } from '../../platform/outbound/outbound-error.js';
import { Bool, Id, Int, Json, Str, Text, Utc } from '../../platform/schema/columns.js';
import { EndedByRestore } from '../../platform/schema/restored.js';
import type { EditOp } from '../edits/edit.js';

/**
 * By which way a list of changes came in; `provider`: somebody made them there, and a synchronisation found them;
 * `drift`: it takes such back.
 */
export const DOORS = [
  'api',
  'token',
  'import',
  'plan',
  'failover',
  'door',
  'restore',
  'job',
  'tunnel',
  'provider',
  'drift',
] as const;
export type Door = (typeof DOORS)[number];

/** How far a list of changes is. */
export const SET_STATES = ['open', 'unknown', 'done'] as const;

/** What became of one change. `pending`: not known yet, or not begun. `unknown`: sent, and nobody knows the end. */
export type ChangeState = 'pending' | 'applied' | 'failed' | 'unknown' | 'not_tried';

/**
 * A list of changes of records, stored before the provider is called: what resumes after a crash, what a sync asks for
 * names that are being changed, the detail of an audit entry. It outlives its domain, as the audit log does.
 */
@EndedByRestore(
  `UPDATE record_changes SET state = 'not_tried' WHERE state = 'pending' AND tried_at IS NULL
    AND change_set_id IN (SELECT id FROM change_sets WHERE state <> 'done')`,
  // what was sent is asked for, as of a process that is gone
  `UPDATE change_sets SET background = FALSE, owner = 'restored' WHERE state = 'open'`,
)
@Entity('change_sets')
@Index('change_sets_state_ix', ['state', 'domain_id'])
@Index('change_sets_domain_ix', ['domain_id', 'id'])
@Index('change_sets_door_ix', ['domain_id', 'door', 'id'])
@Index('change_sets_revision_ix', ['domain_id', 'revision'])
@Index('change_sets_user_ix', ['user_id', 'id'])
@Index('change_sets_any_door_ix', ['door', 'id'])
@Index('change_sets_time_ix', ['created_at'])
export class ChangeSet {
  @Id() id!: number;
  @Int() domain_id!: number;
  /** the zone's name */
  @Str(253) domain!: string;
  @Str(16) door!: Door;
  /** which door of another protocol it was; null: none */
  @Str(16, { nullable: true }) door_key!: FrontDoor | null;
  @Str(8) actor_type!: string;
  @Int({ nullable: true }) user_id!: number | null;
  @Str(64, { nullable: true }) username!: string | null;
  @Int({ nullable: true }) token_id!: number | null;
  @Str(255, { nullable: true }) token_name!: string | null;
  @Str(64) request_id!: string;
  @Str(255) comment!: string;
  /** one edit that does not fit refuses all of them */
  @Bool() atomic!: boolean;
  /** was accepted with 202: another process carries on where this one died */
  @Bool() background!: boolean;
  /** it was shown as a plan: what somebody changes between two pieces of it stays as it is */
  @Bool({ default: false }) planned!: boolean;
  /** it holds the lock of the zone, not those of its names */
  @Bool() whole!: boolean;
  /** the holding of locks that it is done under, see `platform/database/leases.ts`; of versions before: the process */
  @Str(128) owner!: string;
  /** `open` while a process holds its locks; `unknown` when nobody knows of some change whether it was applied */
  @Str(8) state!: (typeof SET_STATES)[number];
  /** whose right counts for the rest of it, who confirmed it; null: who asked for it */
  @Int({ nullable: true }) maker_id!: number | null;
  @Int({ nullable: true }) maker_token_id!: number | null;
  /** why the rest of it waits for somebody's confirmation, since that right ended */
  @Text({ nullable: true }) hold_reason!: string | null;
  /** when somebody confirmed it, or its freeze ends: it is tried for as long as a list that was accepted then */
  @Utc({ nullable: true }) confirmed_at!: string | null;
  /** the provider is unavailable, or changes are frozen: it is continued then */
  @Utc({ nullable: true }) paused_until!: string | null;
  /** pauses since something of it was applied */
  @Int({ nullable: true }) pauses!: number | null;
  /** who approved it; null: it needed no approval */
  @Int({ nullable: true }) approver_id!: number | null;
  @Str(64, { nullable: true }) approver!: string | null;
  /** why it was made in spite of a freeze, or outside of the windows; null: it was not */
  @Str(255, { nullable: true }) override_reason!: string | null;
  /** nothing more of it is begun */
  @Utc({ nullable: true }) cancelled_at!: string | null;
  /** the domain's revision after the last change of it */
  @Int({ nullable: true }) revision!: number | null;
  /** changes in all */
  @Int() total!: number;
  @Utc() created_at!: string;
  @Utc({ nullable: true }) finished_at!: string | null;
}

/** A state of a record in a change: what the cache holds of it but its value, which has a column of its own. */
export type ChangedRecord = Omit<RowValues, 'value'> & { remark: string };

/** One edit of a change set. */
@Entity('record_changes')
@Index('record_changes_set_uq', ['change_set_id', 'position'], { unique: true })
@Index('record_changes_record_ix', ['record_id', 'id'])
@Index('record_changes_state_ix', ['change_set_id', 'state'])
@Index('record_changes_host_ix', ['host', 'type', 'change_set_id'])
@Index('record_changes_moved_ix', ['host_before', 'change_set_id'])
@Index('record_changes_type_ix', ['type', 'change_set_id'])
@Index('record_changes_version_ix', ['domain_id', 'version', 'record_id'])
export class RecordChange {
  @Id() id!: number;
  @Int() change_set_id!: number;
  @ManyToOne(() => ChangeSet, { onDelete: 'CASCADE', onUpdate: 'NO ACTION' })
  @JoinColumn({ name: 'change_set_id', foreignKeyConstraintName: 'record_changes_set_fk' })
  set?: ChangeSet;
  /** null only in rows from before there were versions */
  @Int({ nullable: true }) domain_id!: number | null;
  /** the version of the domain that it is part of; null: it made no difference, or is older than versions are */
  @Int({ nullable: true }) version!: number | null;
  /** from 0, the order in which the edits were given; negative: no edit named the record, its set's TTL moved it */
  @Int() position!: number;
  @Str(16) op!: EditOp;
  /** of the cached record; null for a creation that is not applied yet */
  @Int({ nullable: true }) record_id!: number | null;
  /** the name it touches; a second one where it moves a record */
  @Str(253) host!: string;
  @Str(253, { nullable: true }) host_before!: string | null;
  @Str(16) type!: string;
  /** the states before and after: as they were planned, of one that was applied what came to be */
  @Json({ nullable: true }) state_before!: ChangedRecord | null;
  @Text({ nullable: true }) value_before!: string | null;
  @Json({ nullable: true }) state_after!: ChangedRecord | null;
  @Text({ nullable: true }) value_after!: string | null;
  /**
   * the provider's id of the record afterwards, where it is known in advance; empty: the record stays here, disabled,
   * when the provider's goes; null: not known
   */
  @Str(255, { nullable: true }) expected!: string | null;
  @Str(16) state!: ChangeState;
  /** why not: code and words, the provider's own among them */
  @Json({ nullable: true }) error!: { code: number; msg: string; data?: unknown } | null;
  /** when the provider was asked; null: not begun */
  @Utc({ nullable: true }) tried_at!: string | null;
  /** of an unknown one: only a list that was begun after this proves that it was not applied */
  @Utc({ nullable: true }) settle_after!: string | null;
  /** of an unknown one: whether the provider may still carry it out until then, see `OutboundError.late` */
  @Str(8, { nullable: true }) late!: Late;
}

/** The names that a change touches. */
export type ChangedHosts = Pick<RecordChange, 'host' | 'host_before'>;
