import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Caller, type Principal, Role, signedIn } from '../access/access.js';
import { type Maker, makerOf } from '../access/maker.js';
import { AccountsService } from '../accounts/accounts.service.js';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { type Connection, ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import { namesAbove, zoneName } from '../dns/names.js';
import { isPublicSuffix } from '../dns/public-suffix.js';
import { now } from '../platform/common/clock.js';
import { type AppError, errors } from '../platform/common/errors.js';
import { assertUnchanged, same } from '../platform/common/read-only.js';
import { parseTime } from '../platform/common/validation.js';
import { Db, isDuplicate } from '../platform/database/db.js';
import { Leases } from '../platform/database/leases.js';
import { Events } from '../platform/events/events.js';
import type { Conditions } from '../platform/http/conditions.js';
import type { RemoteZone } from '../providers/provider.js';
import { rulesOf, wrongRules } from './change-rules/change-rules.dto.js';
import { type ChangeRules, changeRulesOf, type Drift, storedRules } from './change-rules/change-rules.js';
import { assertSeen, type DomainDetail, type DomainInput, type DomainPatch } from './domain.dto.js';
import type { Domain } from './domain.entity.js';
import { DomainPolicy, type OpenDomain } from './domain-policy.js';
import { DomainsRepository } from './domains.repository.js';
import { DomainsService } from './domains.service.js';
import { NewDomains } from './new-domains.js';
import { SharedZonesRepository } from './shared-zones.repository.js';
import { assertPublic } from './zone-identity.js';

/** ms that adding a domain waits for those before it */
const LOCK_WAIT_MS = 60_000;
/** domains are added one after the other, since each is compared with all others */
const ADDING = 'domains|add';

/** What of a domain an update changes. */
type Edited = Pick<DomainDetail, 'remark' | 'expires_at' | 'watch_certificates' | 'certificate_port'> & ChangeRules;

interface Edit {
  before: Edited;
  after: Edited;
  rules: Partial<ChangeRules>;
  conditions: Conditions;
}

/** What else is stored where somebody changes what becomes of drift, in that transaction. */
type DriftChange = (manager: EntityManager, id: number, was: Drift, is: Drift, maker: Maker) => Promise<void>;

/** Adds and changes domains. */
@Injectable()
export class DomainChanges {
  private driftChanges: DriftChange = async () => {};

  constructor(
    private readonly db: Db,
    private readonly domains: DomainsRepository,
    private readonly added: NewDomains,
    private readonly shared: SharedZonesRepository,
    private readonly views: DomainsService,
    private readonly policy: DomainPolicy,
    private readonly accounts: AccountsService,
    private readonly blockers: DeletionBlockers,
    private readonly connections: ProviderConnections,
    private readonly leases: Leases,
    private readonly events: Events,
    private readonly audit: AuditService,
  ) {
    blockers.onLocking((accountId, manager) => domains.lockAll(accountId, manager));
  }

  /** Registers what keeps the differences of domains. */
  driftChangesBy(driftChanges: DriftChange): void {
    this.driftChanges = driftChanges;
  }

  /**
   * Adds a zone that exists at the account's provider (or, with `create`, makes it there). One that is in the trash of
   * the account takes its history up again, if the caller inherits it.
   * @param force an administrator's word that it may lie below or above somebody else's domain, or is a public suffix
   * @throws AppError 403001, 404001 unknown account or zone, 409001 known already, private only, or `force` is
   * needed, 501001 the provider cannot create zones
   */
  async create(caller: Caller, input: DomainInput, force: boolean): Promise<DomainDetail> {
    return (await this.add(caller, input, force)).domain;
  }

  /** The same, and whether the provider had the zone already. */
  async add(caller: Caller, input: DomainInput, force: boolean): Promise<{ domain: DomainDetail; wasThere: boolean }> {
    const me = signedIn(caller);
    const name = zoneName(input.name);
    await this.accounts.assertMayUse(me, input.account_id);
    if (await this.domains.isInAccount(input.account_id, name)) throw duplicate(name);
    assertNoSuffix(me, name, force);
    await this.assertApart(me, name, force);
    const above = namesAbove(name).filter((one) => one !== name);
    if (above.length) await this.views.assertMayUnbind(me, await this.shared.named(above));
    const { zone, server, wasThere } = await this.resolve(input.account_id, name, input.create ?? false);
    await this.assertAlone(me, server, zone, force);
    const there = { server, remoteId: zone.id };
    const bound = [...(await this.shared.at(there)), ...(await this.shared.trashed(name, there))];
    await this.views.assertMayUnbind(me, bound);
    const row = {
      name,
      apart: '',
      account_id: input.account_id,
      remote_id: zone.id,
      owner_id: me.userId,
      status: 'active',
      remark: input.remark ?? '',
      records_count: 0,
      revision: 0,
      expires_at: null,
      created_at: now(),
      synced_at: null,
    };
    const add = () =>
      this.db.transaction(async (manager) => {
        // once more: of two such domains at once the second one sees the first
        await this.assertApart(me, name, force, manager);
        await this.assertAlone(me, server, zone, force, manager);
        await this.blockers.assertNotLate(name, manager);
        const { id: created, taken_up } = await this.added.add(row, manager);
        await this.audit.write(manager, caller, {
          action: 'domain.create',
          domain: { id: created, name },
          target: { type: 'domain', id: created, name },
          after: { name, account_id: row.account_id, remark: row.remark, ...(taken_up && { taken_up }) },
        });
        return created;
      });
    const id = await this.leases.hold([ADDING], LOCK_WAIT_MS, add).catch((error) => {
      throw isDuplicate(error) ? duplicate(name) : error;
    });
    // its records are read before the answer; a failure there does not undo the creation
    await this.events.emit('domain.created', id);
    return { domain: await this.whole(caller, id), wasThere };
  }

  /**
   * Brings a domain back that was deleted, if it may stand where it stood.
   * @param put does so, in the transaction that has asked
   * @throws AppError 403001, 409001 where the account has one of the name, or `force` is needed
   */
  async putBack(
    caller: Caller,
    { id, name, apart, account_id, owner_id }: Pick<Domain, 'id' | 'name' | 'apart' | 'account_id' | 'owner_id'>,
    force: boolean,
    put: (manager: EntityManager) => Promise<void>,
  ): Promise<DomainDetail> {
    const me = signedIn(caller);
    if (!apart && (await this.domains.isInAccount(account_id, name))) throw duplicate(name);
    const work = () =>
      this.db.transaction(async (manager) => {
        if (!apart) await this.assertApart(me, name, force, manager, owner_id ?? 0);
        await put(manager);
      });
    await this.leases.hold([ADDING], LOCK_WAIT_MS, work).catch((error) => {
      throw isDuplicate(error) ? duplicate(name) : error;
    });
    await this.events.emit('domain.created', id);
    return this.whole(caller, id);
  }

  /**
   * Changes what is given.
   * @throws AppError 400001 for a read-only field that differs; 403001 for what is for its owner; 409001; 412001
   */
  async update(caller: Caller, domain: OpenDomain, patch: DomainPatch, conditions: Conditions): Promise<DomainDetail> {
    const detail = this.views.detail(signedIn(caller), domain);
    assertSeen(conditions, detail);
    assertUnchanged(patch, detail);
    const { remark, expires_at, watch_certificates, certificate_port } = domain;
    const own = { remark, expires_at, watch_certificates: Boolean(watch_certificates), certificate_port };
    const before = { ...own, ...changeRulesOf(domain) };
    const rules = { ...given(patch, ['guards', 'ttl_floor', 'require_if_match']), ...rulesOf(patch) };
    const after = { ...before, ...rules };
    const wrong = wrongRules(patch);
    if (wrong.length) throw errors.validation(wrong);
    await this.views.assertMayChangeRules(signedIn(caller), domain, before, after);
    if (patch.remark !== undefined) after.remark = patch.remark ?? '';
    if (patch.watch_certificates && !before.watch_certificates) assertPublic(domain);
    if (patch.watch_certificates !== undefined) after.watch_certificates = patch.watch_certificates;
    if (patch.certificate_port !== undefined) after.certificate_port = patch.certificate_port;
    const asked = patch.expires_at ? parseTime(patch.expires_at) : null;
    // null leaves a date that a registry gave: only the registry changes it
    const automatic = asked === null && domain.expires_source !== 'manual';
    if (patch.expires_at !== undefined && !automatic) after.expires_at = asked;
    if (same(before, after)) this.audit.notNeeded(caller);
    else await this.write(caller, domain, { before, after, rules, conditions });
    return this.whole(caller, domain.id);
  }

  private async write(caller: Caller, domain: OpenDomain, { before, after, rules, conditions }: Edit): Promise<void> {
    const moved = after.expires_at !== before.expires_at;
    const source = after.expires_at === null ? null : 'manual';
    // unless it is changed here, the end of the registration follows the registry, and may be another by now
    const { expires_at: end, remark, watch_certificates, certificate_port } = after;
    const own = { remark, watch_certificates, certificate_port };
    const expiry = { expires_at: end, expires_source: source, expires_checked_at: null, expiry_error: null };
    const changes = moved ? { ...own, ...expiry } : own;
    await this.db.transaction(async (manager) => {
      await this.domains.lock(domain.id, manager);
      const now = await this.domains.find(domain.id, manager);
      if (!now) throw errors.notFound('domain');
      assertSeen(conditions, this.views.detail(signedIn(caller), { ...now, access: domain.access }));
      // of two changes at once neither takes back what the other has set
      const stored = changeRulesOf(now);
      const change_rules = storedRules({ ...stored, ...rules });
      await this.domains.update(domain.id, { ...changes, change_rules }, manager);
      if (rules.drift && !same(stored.drift, rules.drift))
        await this.driftChanges(manager, domain.id, stored.drift, rules.drift, makerOf(caller));
      await this.audit.write(manager, caller, {
        action: 'domain.update',
        domain,
        target: { type: 'domain', id: domain.id, name: domain.name },
        before,
        after,
      });
    });
    if (Object.keys(rules).length) await this.events.emit('domain.rules.changed', domain.id);
    // the date of the registry is restored at once
    if (moved && !source && !domain.apart) await this.events.emit('domain.expiry.automatic', domain.name);
  }

  /** What was just written, for who may write it. */
  private async whole(caller: Caller, id: number): Promise<DomainDetail> {
    const me = signedIn(caller);
    const domain = await this.policy.look(me, id);
    if (!domain) throw errors.notFound('domain');
    return this.views.detail(me, domain);
  }

  /**
   * That a new domain lies neither below nor above one of somebody else, nor has its name: whoever adds a zone decides
   * what is answered below it.
   * @throws AppError 403001 naming those that the caller may read, 409001 for administrators, who may say `force`
   */
  private async assertApart(
    me: Principal,
    name: string,
    force: boolean,
    manager?: EntityManager,
    owner = me.userId,
  ): Promise<void> {
    const admin = me.role >= Role.Admin;
    if (admin && force) return;
    const rows = await this.domains.overlapping(name, owner, manager);
    if (!rows.length) return;
    const ids = rows.map(({ id }) => id);
    const readable = admin ? new Set(ids) : await this.views.readableIds(me, ids, manager);
    const named = rows.filter(({ id }) => readable.has(id));
    const domains = named.map((row) => row.name).join(', ');
    const data = { domains: named };
    if (admin) throw errors.conflict('overlap_needs_force', { name, domains }, data);
    const more = { required: 'role:2', ...data };
    if (!named.length) throw errors.forbidden('domain_overlaps', { name }, more);
    throw errors.forbidden('domain_overlaps_known', { name, domains }, more);
  }

  /**
   * That no other domain is this very zone, in whichever account: two caches of one zone are followed, but nobody
   * should have two without knowing. @throws AppError 409001
   */
  private async assertAlone(
    me: Principal,
    server: string,
    zone: RemoteZone,
    force: boolean,
    manager?: EntityManager,
  ): Promise<void> {
    if (me.role >= Role.Admin && force) return;
    const there = await this.shared.at({ server, remoteId: zone.id }, manager);
    if (!there.length) return;
    const ids = there.map(({ id }) => id);
    const readable = await this.views.readableIds(me, ids, manager);
    const reason = me.role >= Role.Admin ? 'zone_shared_needs_force' : 'zone_shared';
    const known = there.filter(({ id }) => readable.has(id)).map(({ id, name }) => ({ id, name }));
    throw errors.conflict(reason, {}, { domains: known });
  }

  /** The provider's public zone of exactly this name. */
  private async resolve(
    accountId: number,
    name: string,
    create: boolean,
  ): Promise<{ zone: RemoteZone; server: string; wasThere: boolean }> {
    const { provider, definition, server } = await this.connections.of(accountId);
    const zone = await provider.findZone(name);
    if (zone) return { zone, server, wasThere: true };
    if (!create) throw await noZone(provider, name);
    if (!definition.capabilities.createZone) {
      throw errors.unsupported('zones_not_creatable', { provider: definition.label });
    }
    return { zone: await provider.createZone(name), server, wasThere: false };
  }
}

/** Why a name cannot be added: the provider has no such zone, or only a private one, which no name finds. */
async function noZone(provider: Connection['provider'], name: string): Promise<AppError> {
  const zones = await provider.listZones().catch(() => []);
  if (!zones.some((zone) => zone.name === name && zone.private)) return errors.notFound('zone_at_provider', { name });
  return errors.conflict('zone_private_only', { name });
}

/** Those of some fields that a body has. */
const given = <T extends object, K extends keyof T>(body: T, keys: readonly K[]) =>
  Object.fromEntries(keys.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]])));

/**
 * Whoever adds a public suffix decides what is answered below the names of all who register there.
 * @throws AppError 403001, 409001 for administrators, who may say `force`
 */
function assertNoSuffix(me: Principal, name: string, force: boolean): void {
  const admin = me.role >= Role.Admin;
  if ((admin && force) || !isPublicSuffix(name)) return;
  if (admin) throw errors.conflict('suffix_needs_force', { name });
  throw errors.forbidden('domain_public_suffix', { name }, { required: 'role:2' });
}

const duplicate = (name: string) => errors.taken('name', 'domain_exists', { name });
