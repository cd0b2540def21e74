import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Caller, Role, signedIn } from '../access/access.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { AuditService } from '../audit/audit.service.js';
import { WRITE } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainStateRepository } from '../domains/domain-state.repository.js';
import { DomainsService } from '../domains/domains.service.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import { monotonicMs, now, within } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { Db } from '../platform/database/db.js';
import { Leases } from '../platform/database/leases.js';
import { ChangeSets } from './change-sets.js';
import { ChangeSetsRepository, type Leaving } from './history/change-sets.repository.js';
import { lockOf } from './in-doubt/locks.js';
import { RecordSyncService } from './in-doubt/record-sync.service.js';
import { cancelled } from './results.js';

/** ms that a deletion waits at most for what was sent for its domains, of all together */
const WAIT_MS = 10_000;
/** ids that one statement names */
const SOME = 200;

/** Ends lists of changes before they come to their end: by hand, and where their domain goes. */
@Injectable()
export class CancelService implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly rows: ChangeSetsRepository,
    private readonly audit: AuditService,
    private readonly sets: ChangeSets,
    private readonly state: DomainStateRepository,
    private readonly leases: Leases,
    private readonly domains: DomainsService,
    private readonly accounts: AccountsService,
    private readonly sync: RecordSyncService,
    private readonly shared: SharedZones,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.accounts.onLeaving((caller, ids) => this.leave(caller, ids, true));
  }

  /**
   * Begins nothing more of a list; what is on its way at the provider gets its end. Once more changes nothing.
   * @throws AppError 403001 for who neither made it nor may write the domain; 404001; 409001 when it has ended
   */
  async cancel(me: Caller, domain: OpenDomain, id: number): Promise<void> {
    const set = await this.rows.toCancel(id, domain.id);
    if (!set) throw errors.notFound('change_set');
    const { userId, role, token } = signedIn(me);
    const made = set.user_id === userId && (!token || set.token_id === token.id);
    const writes = domain.access.level >= WRITE && !domain.access.rules;
    if (!made && !writes && (role < Role.Admin || token))
      throw errors.forbidden(
        'not_yours_to_cancel',
        {},
        {
          required: `domain:${domain.id}:write`,
        },
      );
    if (set.cancelled_at !== null) return this.audit.notNeeded(me);
    if (set.state === 'done') throw errors.conflict('list_ended');
    await this.end(me, domain, id).catch(async (error: unknown) => {
      // by somebody else, at the same moment
      const now = await this.rows.toCancel(id, domain.id);
      if (!now?.cancelled_at) throw error;
      this.audit.notNeeded(me);
    });
  }

  /** @throws AppError 409001 when it has ended meanwhile */
  private async end(me: Caller, domain: Pick<OpenDomain, 'id' | 'name'>, id: number): Promise<void> {
    await this.db.transaction(async (manager) => {
      // in the order of who carries it out
      await this.state.lastSync(domain.id, manager);
      if (!(await this.rows.cancel(id, now(), manager))) throw errors.conflict('list_ended');
      await this.sets.notTried(manager, id, cancelled());
      await this.sets.close(manager, id);
      const after = { change_set_id: id, ...(await this.sets.counts(manager, id)) };
      const target = { type: 'domain', id: domain.id, name: domain.name };
      await this.audit.write(manager, me, { action: 'record.cancel', domain, target, after, changeSet: id });
    });
  }

  /**
   * Before domains go: their lists are cancelled, and what was sent is settled, as far as the provider's answer allows.
   * @throws AppError 409001 while a list is carried out, without `force`
   */
  async leave(caller: Caller, ids: readonly number[], force: boolean): Promise<void> {
    const unfinished: Leaving[] = [];
    for (let i = 0; i < ids.length; i += SOME) {
      unfinished.push(...(await this.rows.leaving(ids.slice(i, i + SOME))));
    }
    const waiting = unfinished.filter(({ waits }) => waits !== null);
    const [goesOn] = waiting.filter(({ background }) => Boolean(background));
    if (goesOn && !force) throw errors.conflict('list_needs_force', { change_set: goesOn.id });
    for (const { id, domain_id, domain } of force ? waiting : [])
      await this.end(caller, { id: domain_id, name: domain }, id).catch((error: Error) =>
        this.logger.info({ change_set: id, err: error.message }, 'a list ended before it was cancelled'),
      );
    if (!force) return;
    // a provider that says nothing keeps no domain
    const waitMs = Math.min(WAIT_MS, (requestDeadline().work - monotonicMs()) / 2);
    const settling = [...new Set(unfinished.map((set) => set.domain_id))].map((id) =>
      this.settle(id, waitMs).catch((error: Error) =>
        this.logger.info({ domain_id: id, err: error.message }, 'what was sent stays unclear'),
      ),
    );
    await within(Promise.all(settling), waitMs);
  }

  /** Waits for what is on its way for a domain, and asks the provider once what became of the rest. */
  private async settle(domainId: number, waitMs: number): Promise<void> {
    const firstOf = async () => (await this.shared.of(domainId)).ids[0];
    // whose lock it is may change while it is waited for
    for (let first = -1, next = await firstOf(); next !== first; next = await firstOf()) {
      first = next;
      await this.leases.hold([lockOf(first, null)], waitMs, async () => {}, { whole: true });
    }
    if (!(await this.rows.anyUnfinished([domainId]))) return;
    await this.sync.refresh(await this.domains.reload(domainId), 'system');
  }
}
