import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../access/access.js';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { DomainReadersRepository } from '../accounts/domain-readers.repository.js';
import { AuditService } from '../audit/audit.service.js';
import { Db } from '../platform/database/db.js';
import { Leases } from '../platform/database/leases.js';
import { Events } from '../platform/events/events.js';
import type { Conditions } from '../platform/http/conditions.js';
import { assertSeen } from './domain.dto.js';
import type { OpenDomain } from './domain-policy.js';
import { DomainsRepository } from './domains.repository.js';
import { DomainsService } from './domains.service.js';
import { SharedZones } from './shared-zones.service.js';
import { zoneLock } from './zone-identity.js';

/** ms that a deletion waits for writers of the zone */
const LOCK_WAIT_MS = 60_000;

/** Deletes domains here. */
@Injectable()
export class DomainDeletion {
  private leaving: (caller: Caller, domainId: number, force: boolean) => Promise<void> = async () => {};

  constructor(
    private readonly db: Db,
    private readonly domains: DomainsRepository,
    private readonly views: DomainsService,
    private readonly readers: DomainReadersRepository,
    private readonly blockers: DeletionBlockers,
    private readonly shared: SharedZones,
    private readonly leases: Leases,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {
    blockers.onLocking((accountId, manager) => domains.lockAll(accountId, manager));
  }

  /** What has to be done before a domain is deleted; an error of it keeps the domain. */
  onLeaving(leaving: DomainDeletion['leaving']): void {
    this.leaving = leaving;
  }

  /**
   * Deletes a domain and its cache here; nothing happens at the provider. With `force` lists of changes that are not
   * done are cancelled and settled first. @throws AppError 409001, 412001
   */
  async remove(caller: Caller, domain: OpenDomain, force: boolean, conditions: Conditions): Promise<void> {
    const me = signedIn(caller);
    assertSeen(conditions, this.views.detail(me, domain));
    await this.leaving(caller, domain.id, force);
    const remove = () =>
      this.db.transaction(async (manager) => {
        await this.domains.lock(domain.id, manager);
        const now = await this.domains.find(domain.id, manager);
        if (now) assertSeen(conditions, this.views.detail(me, { ...now, access: domain.access }));
        const readers = await this.readers.ofDomain(domain.id, manager);
        await this.blockers.assertNothingInFlight('id', domain.id, force, manager);
        await this.domains.delete(domain.id, manager);
        await this.audit.write(manager, caller, {
          action: 'domain.delete',
          domain,
          target: { type: 'domain', id: domain.id, name: domain.name },
          before: { name: domain.name, account_id: domain.account_id, remark: domain.remark },
        });
        return readers;
      });
    // a write that was sent ends first: its record would be in no cache
    const firstOf = async () => (await this.shared.of(domain.id)).ids[0];
    for (;;) {
      const first = await firstOf();
      // another domain of the zone, which named the lock, may have been deleted during the wait
      const still = async () => ((await firstOf()) === first ? remove() : null);
      const removed = await this.leases.hold([zoneLock(first)], LOCK_WAIT_MS, still, { whole: true });
      if (removed) return this.events.emit('domains.removed', removed);
    }
  }
}
