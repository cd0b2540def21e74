import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { now } from '../../common/clock.js';
import { Db } from '../../database/db.js';
import { PROCESS } from '../../database/leases.js';
import type { DomainRow } from '../../domains/domain-policy.js';
import { domainState } from '../../domains/domain-state.js';
import { RecordCache } from '../record-cache.js';
import { ChangeSet, type ChangeState, RecordChange } from './change-set.entity.js';
import { Unclear } from './unclear.js';

export type NewChange = Pick<
  RecordChange,
  | 'op'
  | 'record_id'
  | 'host'
  | 'host_before'
  | 'type'
  | 'state_before'
  | 'value_before'
  | 'state_after'
  | 'value_after'
  | 'expected'
>;

/** Lists of changes, stored before the provider is called. */
@Injectable()
export class ChangeSets {
  constructor(
    private readonly db: Db,
    private readonly cache: RecordCache,
    private readonly unclear: Unclear,
  ) {}

  /** @returns the set's id */
  open({ id, name }: DomainRow, requestId: string, changes: readonly NewChange[]): Promise<number> {
    return this.db.transaction(async (manager) => {
      const who = { actor_type: 'system', user_id: null, username: null, token_id: null, token_name: null };
      const kind = { door: 'api' as const, comment: '', atomic: false, background: false };
      const set = { domain_id: id, domain: name, ...kind, ...who, request_id: requestId, owner: PROCESS };
      const more = { state: 'open' as const, revision: null, total: changes.length, created_at: now() };
      const inserted = await manager.insert(ChangeSet, { ...set, ...more, finished_at: null });
      const setId = Number(inserted.identifiers[0]?.id);
      const rest = { change_set_id: setId, state: 'pending' as const, error: null, settle_after: null };
      for (const [position, change] of changes.entries())
        await manager.insert(RecordChange, { ...change, ...rest, position, tried_at: now() });
      return setId;
    });
  }

  /** In the transaction that brings the cache up to date; `states` in the order of the changes. */
  async conclude(
    manager: EntityManager,
    domainId: number,
    id: number | null,
    states: readonly { state: ChangeState; recordId: number | null }[],
  ): Promise<void> {
    if (id === null) return;
    const revision = await domainState.revision(this.db, manager, domainId);
    for (const [position, { state, recordId }] of states.entries()) {
      const after = state === 'unknown' ? this.unclear.settleAfter() : null;
      await this.db.run(
        'UPDATE record_changes SET state = ?, settle_after = ?, record_id = ? WHERE change_set_id = ? AND position = ?',
        [state, after, recordId, id, position],
        manager,
      );
    }
    const unknown = states.filter(({ state }) => state === 'unknown');
    const ids = unknown.flatMap(({ recordId }) => recordId ?? []);
    await this.cache.markPending(manager, domainId, ids);
    await this.db.run(
      'UPDATE change_sets SET state = ?, revision = ?, finished_at = ? WHERE id = ?',
      [unknown.length ? 'unknown' : 'done', revision, unknown.length ? null : now(), id],
      manager,
    );
  }
}
