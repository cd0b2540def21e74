import { Injectable, type OnModuleInit } from '@nestjs/common';
import { hasScope } from '../access/access.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { AuditService } from '../audit/audit.service.js';
import { ChangeEngine } from '../changes/engine.service.js';
import { RecordSyncService } from '../changes/in-doubt/record-sync.service.js';
import { systemAccess } from '../domains/access-rights.js';
import { DomainPolicy } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { now, sleep } from '../platform/common/clock.js';
import { actingLater } from '../platform/common/deadline.js';
import { AppError } from '../platform/common/errors.js';
import { FairPool } from '../platform/common/fair-pool.js';
import { Logger } from '../platform/common/logger.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { Db } from '../platform/database/db.js';
import { Installation } from '../platform/database/installation.js';
import { Leases } from '../platform/database/leases.js';
import { Events } from '../platform/events/events.js';
import { Jobs } from '../platform/jobs/jobs.js';
import { Makers } from '../tokens/makers.service.js';
import { MoveComparison } from './comparison.service.js';
import { type MoveChange, type MoveRow, MovesRepository } from './moves.repository.js';

/** ms between two looks for what is not followed yet */
const EVERY_MS = 15_000;
/** ms that one waits for another step of the same move */
const WAIT_MS = 5_000;
/** ms until what failed is tried again, at first and at most */
const PAUSE_MS = 15_000;
const PAUSE_MAX_MS = 300_000;
const UNEXPECTED = 'Something unexpected happened; the log of the service says what';
const COMMENT = 'Follows the domain, which is moved between two accounts';

type Due = Pick<MoveRow, 'domain_id' | 'maker_id'>;

/** What one pass over a move came to. */
export interface Pass {
  /** differences that are left */
  left: number;
  /** of the domain when it was compared */
  revision: number;
  /** why some are left */
  error: string | null;
}

/** The lock of a move: its steps follow each other. */
export const moveLock = (domainId: number): string => `move|${domainId}`;

/**
 * Makes each change of a domain that is moved in its other zone, too: at once where this process made it, else within
 * 15 s, with the right of whoever took the last step, judged then. No write of the domain waits for it.
 */
@Injectable()
export class MoveFollower implements OnModuleInit {
  private readonly pool = new FairPool('moves');
  /** domains whose changes are followed, as the last look found them */
  private known = new Set<number>();
  /** domains that are being worked on; true: something was changed meanwhile */
  private readonly going = new Map<number, boolean>();

  constructor(
    private readonly db: Db,
    private readonly database: DatabaseService,
    private readonly installation: Installation,
    private readonly leases: Leases,
    private readonly jobs: Jobs,
    private readonly events: Events,
    private readonly moves: MovesRepository,
    private readonly comparison: MoveComparison,
    private readonly domains: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly accounts: AccountsService,
    private readonly makers: Makers,
    private readonly engine: ChangeEngine,
    private readonly sync: RecordSyncService,
    private readonly audit: AuditService,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.jobs.schedule('moves.follow', EVERY_MS, (signal) => this.look(signal));
    this.events.on('records.changed', (domainId) => this.told(domainId));
    this.events.on('records.synced', (domainId) => this.told(domainId));
  }

  /** What is not followed yet, of all domains. */
  async look(signal?: AbortSignal): Promise<void> {
    if (!this.database.open || this.installation.halted) return;
    this.known = new Set(await this.moves.followed());
    const due = await this.moves.due(now());
    const passes = due.filter(({ domain_id }) => !this.going.has(domain_id)).map((move) => this.soon(move, signal));
    // one that takes long goes on behind the look
    const patience = sleep(EVERY_MS, { signal, idle: true });
    await Promise.race([Promise.all(passes), patience]);
  }

  /** The changes of a domain are followed from now on. */
  follows(domainId: number): void {
    this.known.add(domainId);
  }

  private told(domainId: number): void {
    if (!this.known.has(domainId)) return;
    if (this.going.has(domainId)) this.going.set(domainId, true);
    else void this.soon({ domain_id: domainId, maker_id: null });
  }

  /** Follows what was changed, and what is changed meanwhile. */
  private async soon({ domain_id: target, maker_id: user }: Due, signal?: AbortSignal): Promise<void> {
    try {
      do {
        this.going.set(target, false);
        await this.pool.run({ user, target }, () => this.once(target), signal);
      } while (this.going.get(target));
    } catch (error) {
      if (!signal?.aborted)
        this.logger.warn({ domain_id: target, err: (error as Error).message }, 'a move is not followed yet');
    } finally {
      this.going.delete(target);
    }
  }

  /** One pass over a move that follows, unless its right has ended. */
  private once(domainId: number): Promise<void> {
    const work = () =>
      this.leases.hold([moveLock(domainId)], WAIT_MS, async () => {
        const move = await this.moves.newest(domainId);
        if (!move || move.target_id === null || move.hold_reason !== null) return;
        if (move.state !== 'following' && move.state !== 'switched') return;
        const reason = await this.refusal(move);
        if (reason !== null) return this.hold(move, reason);
        await this.pass(move, false).catch(() => undefined);
      });
    return actingLater(work);
  }

  /**
   * Makes the other zone like the domain, and notes how far it came.
   * @param read both zones are read at their providers first
   * @throws AppError, ProviderError: what keeps it from being so
   */
  async pass(move: MoveRow, read: boolean): Promise<Pass> {
    const { id, domain_id, target_id, state } = move;
    let left = move.behind;
    try {
      if (read)
        for (const one of [domain_id, target_id as number])
          await this.sync.refresh(await this.domains.reload(one), 'system');
      const domain = await this.domains.reload(domain_id);
      const { revision } = domain;
      const other = { ...(await this.domains.reload(target_id as number)), access: systemAccess };
      let { edits, report, version } = await this.comparison.of(move, domain, other);
      left = edits.length;
      let error: string | null = null;
      if (left) {
        const { maker_id, maker_token_id } = move;
        const how = { door: 'job' as const, comment: COMMENT, atomic: false, maker: { maker_id, maker_token_id } };
        const follows = state === 'switched';
        const { results } = await this.engine.whole('system', other, edits, { ...how, follows });
        error = results.flatMap((result) => (result.ok ? [] : result.error.message))[0] ?? null;
        ({ edits, report, version } = await this.comparison.of(move, domain, other));
        left = edits.length;
      }
      // one that was changed meanwhile is compared once more
      const target_revision = (await this.domains.reload(other.id)).revision;
      if (!left) error = null;
      const compared = { ...(report && { report }), ...(version !== null && !left && { version }) };
      const seen = { revision, target_revision, ...compared };
      await this.moves.update(id, [state], { ...seen, ...behind(move, left, error), error });
      return { left, revision, error };
    } catch (error) {
      const isKnown = error instanceof AppError;
      if (!isKnown) this.logger.error({ err: error, domain_id }, 'a move is not followed');
      const message = isKnown ? error.message : UNEXPECTED;
      await this.moves.update(id, [state], behind(move, Math.max(1, left), message));
      throw error;
    }
  }

  /** Why the right of who took the last step has ended; null: it has not. */
  private async refusal(move: MoveRow): Promise<string | null> {
    const me = await this.makers.principal(move);
    if (typeof me === 'string') return me;
    const ended = `${me.username}, who made it, may not move the domain any more`;
    if (!hasScope(me.token?.allowedServices ?? ['*'], '*')) return ended;
    for (const id of [move.domain_id, move.target_id as number]) {
      const domain = await this.policy.look(me, id);
      if (!domain || !this.policy.judgeDomain(me, id, domain, 'own').allowed) return ended;
      if (id === move.domain_id) continue;
      const mayUse = await this.accounts.assertMayUse(me, domain.account_id).then(
        () => true,
        () => false,
      );
      if (!mayUse) return `${me.username}, who made it, may not use the account any more`;
    }
    return null;
  }

  /** Nothing is followed until somebody with the right takes a step; owner and administrators are notified once. */
  private async hold(move: MoveRow, reason: string): Promise<void> {
    const { id, name, owner_id: owner } = await this.domains.reload(move.domain_id);
    await this.db.transaction(async (manager) => {
      if (!(await this.moves.hold(move.id, reason, manager))) return;
      const goesOn = `POST /api/domains/${id}/migration/${move.state === 'switched' ? 'switch' : 'follow'} goes on with it`;
      const text = `The move of ${name} to another account is held: ${reason}. ${goesOn}`;
      await this.makers.tell(manager, { text, domain: name, owner, details: { move_id: move.id } });
      const target = { type: 'domain', id, name };
      await this.audit.write(manager, 'system', {
        ...{ action: 'domain.move_hold', domain: { id, name }, target, after: { move_id: move.id, reason } },
      });
    });
  }
}

/** What is noted of differences that are left, with the next try. */
function behind({ behind_since, failures }: MoveRow, left: number, error: string | null): MoveChange {
  const at = now();
  if (!left) return { behind: 0, behind_since: null, failures: 0, retry_at: null, error: null, updated_at: at };
  const pause = Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** Math.min(failures, 10));
  const tries = { failures: failures + 1, retry_at: now(pause) };
  return { behind: left, behind_since: behind_since ?? at, ...tries, error, updated_at: at };
}
