import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, signedIn } from '../access/access.js';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { DomainReadersRepository } from '../accounts/domain-readers.repository.js';
import { AuditService } from '../audit/audit.service.js';
import { TrashedRecords } from '../cache/trashed-records.repository.js';
import { CancelService } from '../changes/cancel.service.js';
import { assertSeen } from '../domains/domain.dto.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsRepository } from '../domains/domains.repository.js';
import { DomainsService } from '../domains/domains.service.js';
import { SharedZones } from '../domains/shared-zones.service.js';
import { zoneLock } from '../domains/zone-identity.js';
import { errors } from '../platform/common/errors.js';
import { Db } from '../platform/database/db.js';
import { type Held, Leases } from '../platform/database/leases.js';
import { Events, type Readers } from '../platform/events/events.js';
import type { Conditions } from '../platform/http/conditions.js';
import { Trash } from './trash.service.js';
import { trashLock } from './trash-lock.js';

/** ms that a deletion waits for writers of the zone, and for who is at its copies */
const LOCK_WAIT_MS = 60_000;
/** copies of records that are changed by synchronisations meanwhile */
const COPIES = 5;

type Removed = ReadonlyMap<number, Readers>;

/**
 * Deletes domains here: moves them to the trash. First the records are copied there, in pieces that each are a
 * transaction of their own, while the domain is as it was; then one transaction takes all rows away from the live
 * tables, so that nobody ever meets a part of a domain. That one only deletes, by statements of a few hundred rows:
 * for 100 000 records it takes about a second on SQLite. A process that dies before it leaves copies that the trash
 * removes; one that dies behind it has done all.
 */
@Injectable()
export class DomainDeletion {
  constructor(
    private readonly db: Db,
    private readonly domains: DomainsRepository,
    private readonly views: DomainsService,
    private readonly records: TrashedRecords,
    private readonly trash: Trash,
    private readonly cancels: CancelService,
    private readonly readers: DomainReadersRepository,
    private readonly blockers: DeletionBlockers,
    private readonly shared: SharedZones,
    private readonly leases: Leases,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {}

  /**
   * Deletes a domain and its cache here; nothing happens at the provider. With `force` lists of changes that are not
   * done are cancelled and settled first.
   * @throws AppError 403001 for a caller who may not lift its rules, 409001, 412001
   */
  async remove(caller: Caller, domain: OpenDomain, force: boolean, conditions: Conditions): Promise<void> {
    assertSeen(conditions, this.views.detail(signedIn(caller), domain));
    await this.views.assertMayUnbind(signedIn(caller), [domain]);
    await this.cancels.leave(caller, [domain.id], force);
    const removed = await this.leases.hold([trashLock(domain.id)], LOCK_WAIT_MS, (own) =>
      this.inZone(domain.id, (zone) => this.move(caller, domain, force, conditions, [own, zone])),
    );
    await this.events.emit('domains.removed', removed);
  }

  /** A write that was sent ends first: its record would be in no cache. */
  private async inZone(id: number, work: (held: Held) => Promise<Removed>): Promise<Removed> {
    const firstOf = async () => (await this.shared.of(id)).ids[0];
    for (;;) {
      const first = await firstOf();
      // another domain of the zone, which named the lock, may have been deleted during the wait
      const still = async (held: Held) => ((await firstOf()) === first ? work(held) : null);
      const removed = await this.leases.hold([zoneLock(first)], LOCK_WAIT_MS, still, { whole: true });
      if (removed) return removed;
    }
  }

  private async move(
    caller: Caller,
    domain: OpenDomain,
    force: boolean,
    conditions: Conditions,
    locks: readonly Held[],
  ): Promise<Removed> {
    const { id } = domain;
    const check = async (manager: EntityManager) => {
      await this.domains.lock(id, manager);
      const found = await this.domains.find(id, manager);
      if (!found) throw errors.notFound('domain');
      assertSeen(conditions, this.views.detail(signedIn(caller), { ...found, access: domain.access }));
      await this.blockers.assertNothingInFlight('id', id, force, manager);
      return found;
    };
    for (let copies = 0; copies < COPIES; copies++) {
      const { revision } = await this.db.transaction(check);
      await this.records.copy(id);
      const removed = await this.db.transaction(async (manager) => {
        // after a pause of the process somebody else may have swept the copy away
        for (const held of locks) await held.confirm(manager);
        const { name, account_id, remark } = await check(manager);
        const readers = await this.readers.ofDomain(id, manager);
        if (!(await this.trash.put(manager, caller, id, revision))) return null;
        const target = { type: 'domain', id, name };
        const before = { name, account_id, remark };
        await this.audit.write(manager, caller, { action: 'domain.delete', domain, target, before });
        return readers;
      });
      if (removed) return removed;
    }
    throw errors.conflict('busy');
  }
}
