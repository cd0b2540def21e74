import { Injectable } from '@nestjs/common';
import { type Caller, writingScope } from '../access/access.js';
import { makerOf } from '../access/maker.js';
import { AuditService } from '../audit/audit.service.js';
import { judgeRecord, refusal, rightOf } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import { due, turn } from '../platform/common/turns.js';
import { Db } from '../platform/database/db.js';
import { Makers } from '../tokens/makers.service.js';
import type { RecordState } from '../tokens/rules/token-rules.js';
import type { Net } from './edits/working-copy.js';
import { ChangeSetsRepository } from './history/change-sets.repository.js';
import { RecordChangesRepository } from './history/record-changes.repository.js';
import { stateOf } from './history/states.js';
import { readsRecords } from './history/who.js';

/** changes that are read at once */
const SOME = 200;

/**
 * Lists that go on behind their answer, as long as who asked for them may still write: each piece is judged before it
 * is begun. Where that right ended the rest is held, and continues with the right of whoever confirms it.
 */
@Injectable()
export class HeldLists {
  constructor(
    private readonly db: Db,
    private readonly sets: ChangeSetsRepository,
    private readonly changes: RecordChangesRepository,
    private readonly domains: DomainsService,
    private readonly makers: Makers,
    private readonly audit: AuditService,
  ) {}

  /** Why these changes of a list may not be made any more, in words; null: they may. */
  async refusal(changeSet: number, domainId: number, nets: readonly Net[]): Promise<string | null> {
    const set = await this.sets.makerOf(changeSet);
    if (!set) return null;
    const asked = { maker_id: set.user_id, maker_token_id: set.token_id };
    const maker = set.maker_id === null ? asked : set;
    // who goes on with it came by our own API
    const scope = writingScope(set.maker_id === null ? set.door_key : null);
    if (maker.maker_id === null) return null;
    const right = (await this.makers.inDomains(maker, [domainId], 'records', scope)).get(domainId);
    if (!right || typeof right === 'string') return right ?? null;
    for (const { entry, before, after } of nets) {
      // what no edit names only follows the TTL of its set
      const refused = entry.positions.length ? refusedOf(right.access, domainId, before, after) : null;
      if (refused) return refused.verdict.reason;
    }
    return null;
  }

  /**
   * What is left of a list waits for somebody's confirmation; owner and administrators are notified once.
   * @param by the owner that works on it: nothing happens where somebody else does meanwhile
   */
  async hold(changeSet: number, domainId: number, reason: string, by: string): Promise<void> {
    const { name, owner_id: owner } = await this.domains.reload(domainId);
    const goesOn = `POST /api/domains/${domainId}/changes/${changeSet}/confirm goes on with it`;
    await this.db.transaction(async (manager) => {
      const held = await this.sets.hold(changeSet, reason, by, manager);
      if (!held) return;
      const text = `The list of changes ${changeSet} of ${name} is held: ${reason}. ${goesOn}`;
      await this.makers.tell(manager, { text, domain: name, owner, details: { change_set: changeSet } });
      await this.audit.write(manager, 'system', {
        action: 'changes.hold',
        domain: { id: domainId, name },
        target: { type: 'change_set', id: changeSet, name },
        after: { reason },
        changeSet,
      });
    });
  }

  /**
   * Lets a held list go on with the right of who says so.
   * @throws AppError 404001, 409001 where it is not held, 403001 for who may not make all that is left of it
   */
  async confirm(me: Caller, domain: OpenDomain, changeSet: number): Promise<void> {
    const known = await this.sets.holdReason(changeSet, domain.id);
    if (known && known.hold_reason !== null) await this.assertMayMake(me, domain, changeSet);
    await this.db.transaction(async (manager) => {
      const set = await this.sets.holdReason(changeSet, domain.id, manager);
      if (!set) throw errors.notFound('change_set');
      const freed = await this.sets.confirm(changeSet, makerOf(me), now(), manager);
      if (!freed) throw errors.conflict('list_not_held');
      await this.audit.write(manager, me, {
        action: 'changes.confirm',
        domain,
        target: { type: 'change_set', id: changeSet, name: domain.name },
        before: { hold_reason: set.hold_reason },
        after: { hold_reason: null },
        changeSet,
      });
    });
  }

  /** Refuses to continue what would only be held, and notified, once more. @throws AppError 403001 */
  private async assertMayMake(me: Caller, { id, access }: OpenDomain, changeSet: number): Promise<void> {
    for (let last = -1, more = true; more; ) {
      const rows = await this.changes.pendingBehind(changeSet, last, SOME);
      for (const row of rows) {
        if (due()) await turn();
        const before = stateOf(row.state_before, row.value_before);
        const refused = refusedOf(access, id, before, stateOf(row.state_after, row.value_after));
        if (!refused) continue;
        const { verdict, action, state } = refused;
        // what may not be read is not named
        if (readsRecords(me) && judgeRecord(access, id, 'read', state).allowed)
          throw refusal(verdict, rightOf(action, state));
        throw errors.forbidden('rest_not_yours', {}, { required: `domain:${id}:write` });
      }
      last = rows.at(-1)?.position ?? last;
      more = rows.length === SOME;
    }
  }
}

/** The state, of a record before and after a change, for which the change may not be made; null: it may. */
function refusedOf(
  access: OpenDomain['access'],
  domainId: number,
  before: RecordState | null,
  after: RecordState | null,
) {
  const action = after ? (before ? 'update' : 'create') : 'delete';
  for (const state of [before, after]) {
    const verdict = state && judgeRecord(access, domainId, action, state);
    if (verdict && !verdict.allowed) return { verdict, action, state } as const;
  }
  return null;
}
