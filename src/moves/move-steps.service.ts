import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, signedIn } from '../access/access.js';
import { makerOf } from '../access/maker.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { AuditService } from '../audit/audit.service.js';
import { ChangeEngine } from '../changes/engine.service.js';
import { ChangeGate } from '../changes/gate/change-gate.service.js';
import { RecordSyncService } from '../changes/in-doubt/record-sync.service.js';
import { DomainPolicy, type OpenDomain } from '../domains/domain-policy.js';
import { DomainsRepository } from '../domains/domains.repository.js';
import { DomainsService } from '../domains/domains.service.js';
import { ZoneFacts } from '../domains/zone-facts.service.js';
import { Notices } from '../notifications/notices.service.js';
import { monotonicMs, now } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import { Leases } from '../platform/database/leases.js';
import { MoveComparison } from './comparison.service.js';
import { Exchange } from './exchange.service.js';
import { MoveFollower, moveLock } from './follower.service.js';
import type { MoveView } from './move.dto.js';
import { ENDED, type MoveState } from './move.entity.js';
import { type MoveChange, type MoveRow, MovesRepository } from './moves.repository.js';
import { assertMover, MovesService, WAIT_MS } from './moves.service.js';

const COMMENT = 'Copies the domain, which is moved between two accounts';
/** exchanges that are begun again since the other zone was changed meanwhile */
const TRIES = 3;
const RELEASED = { hold_reason: null, failures: 0, retry_at: null };

/** The steps of a move. Each one can be taken again: what it has done it does not do twice. */
@Injectable()
export class MoveSteps {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly service: MovesService,
    private readonly moves: MovesRepository,
    private readonly follower: MoveFollower,
    private readonly comparison: MoveComparison,
    private readonly exchange: Exchange,
    private readonly domains: DomainsService,
    private readonly rows: DomainsRepository,
    private readonly gate: ChangeGate,
    private readonly policy: DomainPolicy,
    private readonly accounts: AccountsService,
    private readonly facts: ZoneFacts,
    private readonly engine: ChangeEngine,
    private readonly sync: RecordSyncService,
    private readonly notices: Notices,
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {}

  /**
   * Makes the other zone like the domain.
   * @param replace records that stand there alone are deleted
   * @throws AppError 409001 where there are such, or not all records were taken; ProviderError
   */
  copy(me: Caller, domain: OpenDomain, replace: boolean): Promise<MoveView> {
    return this.step(me, domain, ['planned', 'copied'], ['following'], async (move) => {
      const target = await this.mine(me, move);
      for (const one of [domain.id, target.id]) await this.sync.refresh(await this.domains.reload(one), 'system');
      const { edits, report } = await this.compared(move);
      const gone = edits.filter(({ op }) => op === 'delete').length;
      if (gone && !replace) throw errors.conflict('move_needs_replace', { count: gone });
      if (edits.length) {
        const other = { ...(await this.domains.reload(target.id)), access: target.access };
        const how = { door: 'job' as const, comment: COMMENT, atomic: false };
        const connection = await this.facts.connection(other);
        const wait = Math.max(0, Math.min(WAIT_MS, requestDeadline().work - monotonicMs()) / 2);
        const { changeSet, results } = await this.engine.list(me, other, edits, how, wait, connection);
        if (!results) throw errors.conflict('move_goes_on', { change_set: changeSet });
        const wrong = results.flatMap((result) => (result.ok ? [] : result.error.message));
        if (wrong[0]) throw errors.conflict('move_not_copied', { count: wrong.length, why: wrong[0] });
      }
      await this.write(me, domain, move, 'copied', { ...RELEASED, report, error: null });
    });
  }

  /** Each change of the domain goes to the other zone, too, from now on. */
  follow(me: Caller, domain: OpenDomain): Promise<MoveView> {
    return this.step(me, domain, ['copied', 'following'], ['switched'], async (move) => {
      await this.mine(me, move);
      await this.write(me, domain, move, 'following', RELEASED);
      this.follower.follows(domain.id);
      // what fails is shown, and tried again
      await this.follower.pass(await this.service.of(domain.id), false).catch(() => undefined);
    });
  }

  /**
   * The other account becomes that of the domain.
   * @throws AppError 409001 while the zones differ, or a change of one of them has no end; ProviderError
   */
  switch(me: Caller, domain: OpenDomain): Promise<MoveView> {
    return this.step(me, domain, ['following', 'switched'], ['done'], async (move) => {
      await this.mine(me, move);
      if (move.state === 'switched') {
        if (move.hold_reason !== null) await this.write(me, domain, move, 'switched', RELEASED);
        return;
      }
      await this.exchanged(me, domain, move, 'switched');
      this.follower.follows(domain.id);
    });
  }

  /** Ends a move behind its switch. The old zone is forgotten here, and stays at its provider. */
  finish(me: Caller, domain: OpenDomain): Promise<MoveView> {
    return this.step(me, domain, ['switched', 'done'], [], async (move) => {
      if (move.target_id !== null) await this.mine(me, move);
      if (move.state === 'switched') await this.write(me, domain, move, 'done', { running: ENDED });
      if (move.target_id !== null) await this.service.forget(me, move.target_id);
    });
  }

  /** Ends a move, and takes its switch back. A domain that it has added is forgotten here. */
  cancel(me: Caller, domain: OpenDomain): Promise<MoveView> {
    const states = ['planned', 'copied', 'following', 'switched', 'cancelled'] as const;
    return this.step(me, domain, states, [], async (move) => {
      if (move.target_id !== null) await this.mine(me, move);
      else if (move.state === 'switched') throw errors.conflict('move_no_way_back');
      if (move.state === 'switched') await this.exchanged(me, domain, move, 'cancelled');
      else if (move.state !== 'cancelled') await this.write(me, domain, move, 'cancelled', { running: ENDED });
      if (move.taken_in && move.target_id !== null) await this.service.forget(me, move.target_id);
    });
  }

  /**
   * One step, alone.
   * @param from the states in which it is taken @param past those in which it has been taken long ago
   */
  private async step(
    me: Caller,
    domain: OpenDomain,
    from: readonly MoveState[],
    past: readonly MoveState[],
    work: (move: MoveRow) => Promise<void>,
  ): Promise<MoveView> {
    const { id } = domain;
    assertMover(me, domain);
    await this.leases.hold([moveLock(id)], WAIT_MS, async () => {
      const move = await this.service.of(id);
      if (past.includes(move.state)) this.audit.notNeeded(me);
      else if (from.includes(move.state)) await work(move);
      else throw errors.conflict('move_state', { state: move.state });
    });
    return this.service.view(id);
  }

  /** The other domain, which is the caller's, too, and whose account they may use. @throws AppError 403001, 409001 */
  private async mine(me: Caller, move: MoveRow): Promise<OpenDomain> {
    const { other } = await this.service.sides(move);
    await this.accounts.assertMayUse(signedIn(me), other.account_id);
    return this.policy.open(signedIn(me), other.id, 'own');
  }

  private async compared(move: MoveRow) {
    const { domain, other } = await this.service.sides(move);
    return this.comparison.of(move, domain, other);
  }

  /** Exchanges both zones once they are the same, while nobody writes them. */
  private async exchanged(me: Caller, domain: OpenDomain, move: MoveRow, to: 'switched' | 'cancelled'): Promise<void> {
    const { domain_id: id, target_id } = move;
    const other = target_id as number;
    // what is lost by it is a change, too
    this.gate.assertOpen(await this.domains.reload(id));
    // with the right of who says so
    const mine = { ...move, ...makerOf(me) };
    // most of it, while the domain can still be written
    await this.follower.pass(mine, true);
    const done = await this.exchange.alone(id, async (held) => {
      for (let tries = 0; tries < TRIES; tries++) {
        const { left, revision, error } = await this.follower.pass(mine, true);
        if (left) throw errors.conflict('move_differs', { count: left, why: error ?? '' });
        const swapped = await this.exchange.alone(other, async (othersHeld) => {
          const seen = [revision, (await this.domains.reload(other)).revision] as const;
          if ((await this.compared(move)).edits.length) return false;
          const stored = async (manager: EntityManager, version: number) => {
            // the old zone is asked for as long as the delegation leads there
            if (to === 'switched') await this.demandAlike(manager, id, other);
            await this.stored(manager, me, domain, move, to, to === 'switched' ? { version } : { running: ENDED });
          };
          return this.exchange.swap([id, other], seen, [held, othersHeld], stored);
        });
        if (swapped) return true;
      }
      return false;
    });
    if (!done) throw errors.conflict('busy');
    // what the providers hold now, whatever the caches knew
    for (const one of [id, other])
      await this.sync
        .refresh(await this.domains.reload(one), 'system')
        .catch((error: Error) => this.logger.warn({ domain_id: one, err: error.message }, 'not read after a switch'));
  }

  /** What the domain demands of changes, the other one does, unless it has demands of its own. */
  private async demandAlike(manager: EntityManager, id: number, other: number): Promise<void> {
    const [own, others] = [await this.rows.find(id, manager), await this.rows.find(other, manager)];
    if (own && others?.change_rules === null)
      await this.rows.update(other, { change_rules: own.change_rules }, manager);
  }

  private async write(
    me: Caller,
    domain: OpenDomain,
    move: MoveRow,
    state: MoveState,
    change: MoveChange,
  ): Promise<void> {
    if (move.state === state && state !== 'copied' && move.hold_reason === null) this.audit.notNeeded(me);
    await this.db.transaction((manager) => this.stored(manager, me, domain, move, state, change));
  }

  private async stored(
    manager: EntityManager,
    me: Caller,
    domain: OpenDomain,
    move: MoveRow,
    state: MoveState,
    change: MoveChange,
  ): Promise<void> {
    const all = { ...change, state, ...makerOf(me), updated_at: now(), revision: null };
    if (!(await this.moves.update(move.id, [move.state], all, manager))) throw errors.conflict('changed_meanwhile');
    if (move.state === state) return;
    const { id, name } = domain;
    const { account_id, from_account_id, target_id } = move;
    await this.audit.write(manager, me, {
      ...{ action: `domain.move_${VERBS[state]}`, domain: { id, name }, target: { type: 'domain', id, name } },
      before: { state: move.state },
      after: { move_id: move.id, state, account_id, from_account_id, target_domain_id: target_id },
    });
    if (state !== 'switched') return;
    const text = `The domain ${name} was moved to the account ${account_id}: delegate it to the name servers there`;
    const details = { move_id: move.id, account_id, from_account_id };
    await this.notices.tell(manager, { event: 'domain.moved', text, domain: name, details });
  }
}

const VERBS: Record<MoveState, string> = {
  ...{ planned: 'plan', copied: 'copy', following: 'follow', switched: 'switch' },
  ...{ done: 'finish', cancelled: 'cancel' },
};
