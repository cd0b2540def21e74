import { Injectable } from '@nestjs/common';
import { type Caller, Role, signedIn } from '../access/access.js';
import { makerOf } from '../access/maker.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { AuditService } from '../audit/audit.service.js';
import { ChangeSetsRepository } from '../changes/history/change-sets.repository.js';
import { RecordSyncService } from '../changes/in-doubt/record-sync.service.js';
import { changeRulesOf } from '../domains/change-rules/change-rules.js';
import { DomainChanges } from '../domains/domain-changes.service.js';
import { DomainPolicy, type DomainRow, type OpenDomain } from '../domains/domain-policy.js';
import { DomainsRepository } from '../domains/domains.repository.js';
import { DomainsService } from '../domains/domains.service.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import { assertPublic } from '../domains/zone-identity.js';
import { now } from '../platform/common/clock.js';
import { AppError, errors } from '../platform/common/errors.js';
import { Db, isDuplicate } from '../platform/database/db.js';
import { Leases } from '../platform/database/leases.js';
import { DomainDeletion } from '../trash/domain-deletion.service.js';
import { MoveComparison } from './comparison.service.js';
import { moveLock } from './follower.service.js';
import type { MoveCheck, MoveInput, MoveView } from './move.dto.js';
import { RUNNING } from './move.entity.js';
import type { MoveReport } from './move-report.dto.js';
import { type MoveRow, MovesRepository } from './moves.repository.js';

/** ms that a step waits for another one of the same move */
export const WAIT_MS = 60_000;
/** moves begin one after the other: no domain is on two sides of two of them */
const BEGINNING = 'moves|begin';
const NOTHING: MoveReport = { lost: [], changed: [], lost_count: 0, changed_count: 0 };

/** Begins moves of domains to other accounts, and shows them. */
@Injectable()
export class MovesService {
  constructor(
    private readonly db: Db,
    private readonly leases: Leases,
    private readonly moves: MovesRepository,
    private readonly comparison: MoveComparison,
    private readonly domains: DomainsService,
    private readonly repository: DomainsRepository,
    private readonly changes: DomainChanges,
    private readonly deletion: DomainDeletion,
    private readonly policy: DomainPolicy,
    private readonly accounts: AccountsService,
    private readonly shared: SharedZones,
    private readonly sync: RecordSyncService,
    private readonly sets: ChangeSetsRepository,
    private readonly audit: AuditService,
  ) {}

  /**
   * Finds the zone of a domain in another account, or adds or makes it, and works out what would be lost there.
   * @throws AppError 400001 for its own account; 403001; 404001; 409001 where it is moved already, or there is no zone
   */
  async begin(me: Caller, domain: OpenDomain, { account_id, create = false }: MoveInput): Promise<MoveView> {
    assertPublic(domain);
    assertMover(me, domain);
    if (account_id === domain.account_id)
      throw errors.field('account_id', 'is the account that the domain is in', 'conflict');
    await this.accounts.assertMayUse(signedIn(me), account_id);
    await this.leases.hold([BEGINNING, moveLock(domain.id)], WAIT_MS, async () => {
      await this.assertStands(domain.id);
      const { id: target, added } = await this.target(me, domain, account_id, create);
      await this.assertOther(me, domain, target, added);
      await this.sync.refresh(await this.domains.reload(domain.id), me);
      await this.sync.refresh(await this.domains.reload(target), me);
      await this.insert(me, domain, account_id, target, added);
    });
    return this.view(domain.id);
  }

  /** The newest move of a domain, as it stands. @throws AppError 404001 */
  async view(domainId: number): Promise<MoveView> {
    const move = await this.of(domainId);
    return { ...viewOf(move), checks: await this.checks(move) };
  }

  /** @throws AppError 404001 */
  async of(domainId: number): Promise<MoveRow> {
    const move = await this.moves.newest(domainId);
    if (!move) throw errors.notFound('move');
    return move;
  }

  /** The two domains of a move, which runs. @throws AppError 409001 where the other one was deleted */
  async sides({ domain_id, target_id }: MoveRow): Promise<{ domain: DomainRow; other: DomainRow }> {
    if (target_id === null) throw errors.conflict('move_target_gone');
    return { domain: await this.domains.reload(domain_id), other: await this.domains.reload(target_id) };
  }

  /** What the records of the domain in the other zone are that the domain does not have. */
  async replaced(move: MoveRow): Promise<number> {
    const { domain, other } = await this.sides(move);
    return (await this.comparison.of(move, domain, other)).edits.filter(({ op }) => op === 'delete').length;
  }

  /** @throws AppError 409001 */
  private async assertStands(domainId: number): Promise<void> {
    if (await this.moves.isMoving(domainId)) throw errors.conflict('move_running');
    if (await this.moves.isTarget(domainId)) throw errors.conflict('move_target_of_another');
  }

  /** The domain of the other account, which is added where it is not here. */
  private async target(me: Caller, { name }: OpenDomain, account_id: number, create: boolean) {
    const [known] = await this.repository.named(account_id, [name]);
    if (known) {
      await this.policy.open(signedIn(me), known.id, 'own');
      await this.assertStands(known.id);
      return { id: known.id, added: false };
    }
    // who may move a domain has its name already; administrators are not asked once more
    const force = signedIn(me).role >= Role.Admin;
    const made = await this.changes.create(me, { name, account_id, create }, force).catch((error: unknown) => {
      throw isMissing(error) ? errors.conflict('move_needs_create', { name }) : error;
    });
    return { id: made.id, added: true };
  }

  /** @throws AppError 409001 where both are one zone */
  private async assertOther(me: Caller, domain: OpenDomain, target: number, added: boolean): Promise<void> {
    const { ids } = await this.shared.of(domain.id);
    if (!ids.includes(target)) return;
    if (added) await this.forget(me, target);
    throw errors.conflict('move_same_zone');
  }

  /** Takes the other domain away here; its zone stays where it is. */
  async forget(me: Caller, target: number): Promise<void> {
    const domain = await this.policy.look(signedIn(me), target);
    if (!domain) return;
    await this.policy.open(signedIn(me), target, 'own');
    await this.deletion.remove(me, domain, false, {});
  }

  private async insert(me: Caller, domain: OpenDomain, account_id: number, target_id: number, taken_in: boolean) {
    const [from, to] = [await this.domains.reload(domain.id), await this.domains.reload(target_id)];
    const at = now();
    const move = {
      ...{ domain_id: domain.id, target_id, account_id, from_account_id: from.account_id, taken_in },
      ...{ state: 'planned' as const, running: RUNNING, report: null, version: null, ...makerOf(me) },
      ...{ revision: null, target_revision: null, behind: 0, behind_since: null, failures: 0, retry_at: null },
      ...{ error: null, hold_reason: null, created_at: at, updated_at: at },
    };
    const { report } = await this.comparison.of({ ...move, id: 0 }, from, to);
    await this.db
      .transaction(async (manager) => {
        const id = await this.moves.insert({ ...move, report }, manager);
        await this.audit.write(manager, me, {
          ...{ action: 'domain.move', domain, target: { type: 'domain', id: domain.id, name: domain.name } },
          after: { move_id: id, account_id, from_account_id: from.account_id, target_domain_id: target_id },
        });
      })
      .catch((error: unknown) => {
        throw isDuplicate(error) ? errors.conflict('move_running') : error;
      });
  }

  /** What keeps a move from its next step, as far as it is known here. */
  private async checks(move: MoveRow): Promise<MoveCheck[]> {
    const { lost_count, changed_count } = move.report ?? NOTHING;
    const lost = `${lost_count} records are not taken over, ${changed_count} values are changed`;
    const checks: MoveCheck[] = [{ key: 'lost', ok: !lost_count, text: lost }];
    if (!move.running || move.target_id === null) return checks;
    if (move.state === 'planned' || move.state === 'copied') {
      const count = await this.replaced(move);
      const text = `${count} records of the other zone are not in the domain: copy deletes them with "replace"`;
      checks.push({ key: 'replaced', ok: !count, text });
    }
    const busy = await this.sets.anyUnfinished([move.domain_id, move.target_id]);
    const text = busy ? 'Changes of records have no end yet' : 'All changes of records have their end';
    checks.push({ key: 'in_flight', ok: !busy, text });
    if (move.state === 'following' || move.state === 'switched') {
      const ok = !move.behind && move.hold_reason === null;
      checks.push({ key: 'following', ok, text: `${move.behind} differences were left at the last comparison` });
    }
    return checks;
  }
}

/**
 * Where changes need an approval a token, which cannot lift that, cannot move them to where they do not.
 * @throws AppError 403001
 */
export function assertMover(me: Caller, domain: OpenDomain): void {
  if (signedIn(me).token && changeRulesOf(domain).approval.for !== 'none')
    throw errors.forbidden('approval_not_for_tokens');
}

/** The provider has no zone of the name. */
const isMissing = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.data as { params?: { what?: string } } | undefined)?.params?.what === 'zone_at_provider';

function viewOf(move: MoveRow): Omit<MoveView, 'checks'> {
  const { id, domain_id, state, account_id, from_account_id, target_id: target_domain_id, report } = move;
  const { behind, behind_since, error, hold_reason, created_at, updated_at } = move;
  const where = { id, domain_id, state, account_id, from_account_id, target_domain_id, report: report ?? NOTHING };
  return { ...where, behind, behind_since, error: hold_reason ?? error, created_at, updated_at };
}
