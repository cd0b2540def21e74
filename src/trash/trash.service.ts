import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, Role, signedIn } from '../access/access.js';
import { type Maker, makerOf } from '../access/maker.js';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { TrashedRecords } from '../cache/trashed-records.repository.js';
import { DriftRevertsRepository } from '../changes/drift/drift-reverts.repository.js';
import { changeRulesOf } from '../domains/change-rules/change-rules.js';
import type { DomainDetail } from '../domains/domain.dto.js';
import type { Domain } from '../domains/domain.entity.js';
import { DomainChanges } from '../domains/domain-changes.service.js';
import { DomainPermissionsRepository } from '../domains/domain-permissions.repository.js';
import { DomainsRepository } from '../domains/domains.repository.js';
import { type NewDomain, NewDomains } from '../domains/new-domains.js';
import { shownName } from '../domains/zone-identity.js';
import { now } from '../platform/common/clock.js';
import { errors } from '../platform/common/errors.js';
import type { PageQuery } from '../platform/common/paging.dto.js';
import { Db } from '../platform/database/db.js';
import { Jobs } from '../platform/jobs/jobs.js';
import type { TrashedView } from './trash.dto.js';
import type { DomainContent, TrashedDomain } from './trashed.entity.js';
import { type ListedDomain, TrashedDomainsRepository } from './trashed-domains.repository.js';

/** the job that is asked for where there is something to remove */
export const PURGE = 'trash.purge';
/** ms for which a deleted domain is kept */
const KEPT_MS = 30 * 86_400_000;
const NOBODY: Maker = { maker_id: null, maker_token_id: null };

/**
 * Deleted domains. Nothing of the live tables tells them from others: their rows move into tables of the trash, and
 * back, in one transaction, so that no query can meet half of one. Their history stays where it is, since it is of an
 * id that no other domain gets.
 */
@Injectable()
export class Trash implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly rows: TrashedDomainsRepository,
    private readonly records: TrashedRecords,
    private readonly domains: DomainsRepository,
    private readonly permissions: DomainPermissionsRepository,
    private readonly added: NewDomains,
    private readonly changes: DomainChanges,
    private readonly reverts: DriftRevertsRepository,
    private readonly jobs: Jobs,
    private readonly audit: AuditService,
  ) {}

  onModuleInit(): void {
    this.added.onTakingUp(
      (domain, manager) => this.takeUp(domain, manager),
      (accountId) => this.rows.names(accountId, now()),
    );
  }

  /** Those of the caller, for administrators all. @throws AppError 400001 */
  async list(me: Principal, query: PageQuery): Promise<{ total: number; list: TrashedView[] }> {
    const { total, list } = await this.rows.list(me.role >= Role.Admin ? null : me.userId, now(), query);
    return { total, list: list.map(viewOf) };
  }

  /**
   * Moves a domain here, of whose records there is a copy. The transaction has locked its row.
   * @returns false where its records were changed since the copy
   */
  async put(manager: EntityManager, caller: Caller, id: number, revision: number): Promise<boolean> {
    const domain = await this.domains.whole(id, manager);
    if (!domain || domain.revision !== revision) return false;
    const { name, apart, account_id, owner_id } = domain;
    const me = signedIn(caller);
    const at = { deleted_at: now(), deleter_id: me.userId, deleter: me.username, purged_at: now(KEPT_MS) };
    const kept = { id, name, apart, account_id, owner_id, content: contentOf(domain), ...at, leaving: false };
    await this.rows.add(kept, await this.permissions.whole(id, manager), manager);
    await this.records.drop(id, manager);
    await this.domains.delete(id, manager);
    return true;
  }

  /**
   * Brings a domain back as it was, and reads its records at the provider; a failure there does not undo it.
   * @param force an administrator's word that it may lie below or above somebody else's domain
   * @throws AppError 403001, 404001, 409001 where the account has a domain of the name again
   */
  async restore(caller: Caller, id: number, force: boolean): Promise<DomainDetail> {
    const me = signedIn(caller);
    const listed = await this.open(me, id);
    return this.changes.putBack(caller, listed, force, async (manager) => {
      const kept = await this.locked(id, manager);
      if (!kept) throw errors.notFound('domain');
      await this.bring(manager, kept, { ...kept.content, owner_id: kept.owner_id }, makerOf(caller));
      const permissions = await this.rows.permissions(id, manager);
      for (const one of permissions) await this.permissions.bringBack({ ...one, domain_name: kept.name }, manager);
      await this.leaveNothing(id, manager);
      await this.audit.write(manager, caller, {
        ...entryOf('domain.restore', listed),
        after: { name: kept.name, account_id: kept.account_id, permissions: permissions.length },
      });
    });
  }

  /** It cannot be restored any more; its rows go behind the answer. @throws AppError 404001 */
  async purge(caller: Caller, id: number): Promise<void> {
    const listed = await this.open(signedIn(caller), id);
    if (!(await this.leave(caller, listed, null))) throw errors.notFound('domain');
    await this.jobs.enqueue(PURGE, null, PURGE);
  }

  /** @param by only where its time is over by then */
  leave(actor: Actor, listed: Pick<TrashedDomain, 'id' | 'name' | 'account_id'>, by: string | null): Promise<boolean> {
    return this.db.transaction(async (manager) => {
      if (!(await this.rows.leave(listed.id, by, manager))) return false;
      const before = { name: listed.name, account_id: listed.account_id };
      await this.audit.write(manager, actor, { ...entryOf('domain.purge', listed), before });
      return true;
    });
  }

  /**
   * The domain that is added is one of here, where its owner may see what that one held: it has its id, what it
   * demanded of changes, and its records, which the first reading compares with the provider as any other; but nobody's
   * rights.
   */
  private async takeUp(domain: NewDomain, manager: EntityManager): Promise<number | null> {
    const id = await this.rows.newest(domain, now(), manager);
    const kept = id === null ? null : await this.locked(id, manager);
    if (!kept) return null;
    const { change_rules, revision, synced_at } = kept.content;
    // who adds it may not want what it did by itself: that is held until somebody sets it
    await this.bring(manager, kept, { ...domain, id: kept.id, change_rules, revision, synced_at }, NOBODY);
    await this.leaveNothing(kept.id, manager);
    return kept.id;
  }

  /** @param maker in whose name drift is taken back from now on */
  private async bring(
    manager: EntityManager,
    { id }: TrashedDomain,
    domain: Partial<DomainContent>,
    maker: Maker,
  ): Promise<void> {
    // the cache is older than the zone: it is read until that succeeds, and nothing is written before
    const revision = (domain.revision ?? 0) + 1;
    await this.domains.bringBack({ ...domain, revision, stale_revision: revision }, manager);
    await this.records.bringBack(id, manager);
    const { drift } = changeRulesOf({ change_rules: domain.change_rules ?? null });
    if (drift.mode === 'revert') await this.reverts.begin(id, maker, now(), manager);
  }

  /** Its row goes with those of its permissions; those of its records are a copy from now on. */
  private async leaveNothing(id: number, manager: EntityManager): Promise<void> {
    await this.rows.remove(id, manager);
    this.db.afterCommit(manager, () => void this.jobs.enqueue(PURGE, null, PURGE).catch(() => undefined));
  }

  /** One that can still be restored, until the transaction ends. */
  private async locked(id: number, manager: EntityManager): Promise<TrashedDomain | null> {
    if (!(await this.rows.lock(id, manager)) || !(await this.rows.find(id, now(), manager))) return null;
    return this.rows.whole(id, manager);
  }

  /** One that the caller may see, which is for its owner and for administrators. @throws AppError 404001 */
  private async open(me: Principal, id: number): Promise<ListedDomain> {
    const kept = await this.rows.find(id, now());
    if (!kept || (me.role < Role.Admin && kept.owner_id !== me.userId)) throw errors.notFound('domain');
    return kept;
  }
}

const contentOf = ({ account: _account, owner: _owner, ...row }: Domain): DomainContent => row;

const entryOf = (action: 'domain.restore' | 'domain.purge', { id, name }: Pick<TrashedDomain, 'id' | 'name'>) => ({
  action,
  domain: { id, name },
  target: { type: 'domain', id, name },
});

const viewOf = (row: ListedDomain): TrashedView => ({
  id: row.id,
  name: shownName(row),
  account_id: row.account_id,
  account_name: row.account_name,
  owner_id: row.owner_id,
  deleted_at: row.deleted_at,
  deleted_by: { user_id: row.deleter_id, username: row.deleter },
  purged_at: row.purged_at,
});
