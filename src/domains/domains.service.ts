import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { AccountsService } from '../accounts/accounts.service.js';
import { DeletionBlockers } from '../accounts/deletion-blockers.service.js';
import { DomainReadersRepository } from '../accounts/domain-readers.repository.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, hasScope, type Principal, Role, signedIn } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { orderBy, pageOf, pageSql } from '../common/paging.dto.js';
import { assertUnchanged, same } from '../common/read-only.js';
import { parseTime } from '../common/validation.js';
import { Db, isDuplicate, marks } from '../database/db.js';
import { Leases } from '../database/leases.js';
import { unknownSort } from '../database/lists.js';
import { toUnicode, zoneName } from '../dns/names.js';
import { isPublicSuffix } from '../dns/public-suffix.js';
import { Events } from '../events/events.js';
import { capabilitiesView } from '../providers/capabilities-view.js';
import type { RemoteZone } from '../providers/provider.js';
import { type DomainAccess, READ, WRITE } from './access-rights.js';
import type { DomainDetail, DomainInput, DomainPatch, DomainQuery, DomainView } from './domain.dto.js';
import { Domain } from './domain.entity.js';
import { filterOf } from './domain-filter.js';
import { DOMAIN_COLUMNS, DomainPolicy, type DomainRow, type OpenDomain } from './domain-policy.js';
import { SharedZones } from './shared-zones.service.js';
import { zoneLock } from './zone-lock.js';

/** What the table of readable domains holds itself: sorted by it, the page is known before a row of domains is read. */
const SORTS_OF_MINE = { id: 'mine.id', name: 'mine.name' };
const SORTS = {
  ...SORTS_OF_MINE,
  created_at: 'd.created_at',
  records_count: 'd.records_count',
  expires_at: 'd.expires_at',
};

/** ms that a deletion waits for writers of the zone */
const LOCK_WAIT_MS = 60_000;
/** whoever adds a domain looks at all others, and follows whoever adds one now */
const ADDING = 'domains|add';
/** ids that one statement names */
const CHUNK = 500;

/** What a caller may do in a domain, for its views. */
type Held = Pick<DomainAccess, 'level' | 'hosts'>;

const domainView = (row: DomainRow, { level, hosts }: Held): DomainView => ({
  id: row.id,
  name: row.name,
  unicode_name: toUnicode(row.name),
  account_id: row.account_id,
  account_name: row.account_name,
  provider: row.provider,
  owner_id: row.owner_id,
  remote_id: row.remote_id,
  status: row.status,
  records_count: row.records_count,
  permission: level >= WRITE || hosts.length ? 'write' : 'read',
  write_hosts: level < WRITE && hosts.length ? [...hosts] : null,
  expires_at: row.expires_at,
  created_at: row.created_at,
  synced_at: row.synced_at,
  remark: row.remark,
});

@Injectable()
export class DomainsService {
  private leaving: (caller: Caller, domainId: number, force: boolean) => Promise<void> = async () => {};
  constructor(
    @InjectRepository(Domain) private readonly domains: Repository<Domain>,
    private readonly db: Db,
    private readonly policy: DomainPolicy,
    private readonly connections: ProviderConnections,
    private readonly events: Events,
    private readonly audit: AuditService,
    private readonly leases: Leases,
    private readonly shared: SharedZones,
    private readonly accounts: AccountsService,
    private readonly blockers: DeletionBlockers,
    private readonly readers: DomainReadersRepository,
  ) {}

  /** A page of the domains that the caller may read, and how many there are. @throws AppError 400001 */
  async list(me: Principal, query: DomainQuery): Promise<{ total: number; list: DomainView[] }> {
    const order = orderBy(query.sort, SORTS, 'name', 'mine.id');
    if (!order) throw unknownSort(SORTS);
    const [sortedBy, descending] = [query.sort?.replace(/^-/, '') ?? 'name', query.sort?.startsWith('-') ?? false];
    const page = pageOf(query);
    const [end, cut] = pageSql(page);
    const filter = filterOf(query, me.role >= Role.Admin ? 'mine' : 'd');
    const all = this.policy.readable(me);
    // by name, and of everything, the first entries of each grant are enough
    const plain = page && sortedBy === 'name' && !filter.sql;
    const cheap = plain ? await this.policy.readableByName(me, page.page * page.limit, descending) : null;
    const { page: listed, counted } = cheap ?? { page: all, counted: all };
    const rows = 'JOIN domains d ON d.id = mine.id';
    const accounts = 'JOIN dns_accounts a ON a.id = d.account_id';
    const where = `WHERE ${listed.where}${filter.sql} ORDER BY ${order}${end}`;
    const from =
      Object.hasOwn(SORTS_OF_MINE, sortedBy) && !filter.ofRow
        ? `(SELECT mine.id, mine.name FROM ${listed.mine} ${where}) mine ${rows} ${accounts} ORDER BY ${order}`
        : `${listed.mine} ${rows} ${accounts} ${where}`;
    const found = await this.db.rows<DomainRow>(`SELECT ${DOMAIN_COLUMNS} FROM ${from}`, [
      ...listed.values,
      ...filter.values,
      ...cut,
    ]);
    const levels = await this.policy.levels(
      me,
      found.map((row) => row.id),
    );
    const list = found.map((row) => domainView(row, writable(me, row.id, levels.get(row.id) ?? NOTHING)));
    if (!page) return { total: list.length, list };
    const count = await this.db.row<{ n: number }>(
      `SELECT COUNT(*) AS n FROM ${counted.mine} ${filter.ofRow ? rows : ''} WHERE ${counted.where}${filter.sql}`,
      [...counted.values, ...filter.values],
    );
    return { total: Number(count?.n), list };
  }

  /** How many domains the caller may read. */
  async count(me: Principal): Promise<number> {
    const { mine, where, values } = this.policy.readable(me);
    return Number((await this.db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${mine} WHERE ${where}`, values))?.n);
  }

  /** Which of these ids are domains that the caller may read. */
  async readableIds(me: Principal, ids: readonly number[], manager?: EntityManager): Promise<Set<number>> {
    const { mine, where, values } = this.policy.readable(me);
    const rows = await this.db.rows<{ id: number }>(
      `SELECT mine.id FROM ${mine} WHERE ${where} AND mine.id IN (${marks(ids.length)})`,
      [...values, ...ids],
      manager,
    );
    return new Set(rows.map((row) => row.id));
  }

  /**
   * Adds a zone that exists at the account's provider (or, with `create`, makes it there).
   * @param force an administrator's word that it may lie below or above somebody else's domain, or is a public suffix
   * @throws AppError 403001, 404001 unknown account or zone, 409001 known already or `force` is needed, 501001 the
   * provider cannot create zones
   */
  async create(caller: Caller, input: DomainInput, force: boolean): Promise<DomainDetail> {
    const me = signedIn(caller);
    const name = zoneName(input.name);
    await this.accounts.assertMayUse(me, input.account_id);
    if (await this.domains.findOneBy({ account_id: input.account_id, name })) throw duplicate(name);
    assertNoSuffix(me, name, force);
    await this.assertApart(me, name, force);
    const { zone, server } = await this.resolve(input.account_id, name, input.create ?? false);
    await this.assertAlone(me, server, zone, force);
    const row = {
      name,
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
        const inserted = await manager.insert(Domain, row);
        const created = Number(inserted.identifiers[0]?.id);
        await this.audit.write(manager, caller, {
          action: 'domain.create',
          domain: { id: created, name },
          target: { type: 'domain', id: created, name },
          after: { name, account_id: row.account_id, remark: row.remark },
        });
        return created;
      });
    const id = await this.leases.hold([ADDING], LOCK_WAIT_MS, add).catch((error) => {
      throw isDuplicate(error) ? duplicate(name) : error;
    });
    // its records are read before the answer; a failure there does not undo the creation
    await this.events.emit('domain.created', id);
    return this.whole(caller, id);
  }

  /** Changes what is given. @throws AppError 400001 for a read-only field that is not as it was */
  async update(caller: Caller, domain: OpenDomain, patch: DomainPatch): Promise<DomainDetail> {
    assertUnchanged(patch, this.detail(signedIn(caller), domain));
    const { remark, expires_at, watch_certificates, certificate_port } = domain;
    const before = { remark, expires_at, watch_certificates: Boolean(watch_certificates), certificate_port };
    const after = { ...before };
    if (patch.remark !== undefined) after.remark = patch.remark ?? '';
    if (patch.watch_certificates !== undefined) after.watch_certificates = patch.watch_certificates;
    if (patch.certificate_port !== undefined) after.certificate_port = patch.certificate_port;
    const asked = patch.expires_at ? parseTime(patch.expires_at) : null;
    // what a registry said goes when the registry says so
    const automatic = asked === null && domain.expires_source !== 'manual';
    if (patch.expires_at !== undefined && !automatic) after.expires_at = asked;
    if (same(before, after)) this.audit.notNeeded(caller);
    else {
      const moved = after.expires_at !== expires_at;
      const source = after.expires_at === null ? null : 'manual';
      // what is not changed may be another by now: the end of the registration follows the registry
      const { expires_at: _end, ...own } = after;
      const end = {
        expires_at: after.expires_at,
        expires_source: source,
        expires_checked_at: null,
        expiry_error: null,
      };
      await this.db.transaction(async (manager) => {
        await manager.update(Domain, { id: domain.id }, { ...own, ...(moved && end) });
        await this.audit.write(manager, caller, {
          action: 'domain.update',
          domain,
          target: { type: 'domain', id: domain.id, name: domain.name },
          before,
          after,
        });
      });
      // what the registry said before is there at once
      if (moved && !source) await this.events.emit('domain.expiry.automatic', domain.name);
    }
    return this.whole(caller, domain.id);
  }

  /** What has to be done before a domain goes; what it throws keeps the domain. */
  onLeaving(leaving: DomainsService['leaving']): void {
    this.leaving = leaving;
  }

  /**
   * Forgets a domain and its cache; nothing happens at the provider. With `force` lists of changes that are not done
   * are cancelled and settled first. @throws AppError 409001
   */
  async remove(caller: Caller, domain: DomainRow, force: boolean): Promise<void> {
    await this.leaving(caller, domain.id, force);
    const remove = () =>
      this.db.transaction(async (manager) => {
        const readers = await this.readers.ofDomain(domain.id, manager);
        await this.blockers.assertNothingInFlight('id', domain.id, force, manager);
        await manager.delete(Domain, { id: domain.id });
        await this.audit.write(manager, caller, {
          action: 'domain.delete',
          domain,
          target: { type: 'domain', id: domain.id, name: domain.name },
          before: { name: domain.name, account_id: domain.account_id, remark: domain.remark },
        });
        return readers;
      });
    // a write that is on its way ends first: its record would stand nowhere
    const firstOf = async () => (await this.shared.of(domain.id)).ids[0];
    for (;;) {
      const first = await firstOf();
      // another domain of the zone, that named the lock, may have gone while it was waited for
      const still = async () => ((await firstOf()) === first ? remove() : null);
      const removed = await this.leases.hold([zoneLock(first)], LOCK_WAIT_MS, still, { whole: true });
      if (removed) return this.events.emit('domains.removed', removed);
    }
  }

  /** A domain with what the caller may do there. */
  detail(me: Principal, domain: OpenDomain): DomainDetail {
    const { access } = domain;
    const deletes = !me.token || hasScope(me.token.allowedServices, '*');
    return {
      ...domainView(domain, writable(me, domain.id, access)),
      expires_source: domain.expires_source,
      expires_checked_at: domain.expires_checked_at,
      expiry_error: domain.expiry_error,
      watch_certificates: Boolean(domain.watch_certificates),
      certificate_port: domain.certificate_port,
      can_delete: deletes && this.policy.judgeDomain(me, domain.id, domain, 'own').allowed,
      capabilities: capabilitiesView(this.connections.definition(domain.provider).capabilities),
    };
  }

  /** What was just written, for who may write it. */
  private async whole(caller: Caller, id: number): Promise<DomainDetail> {
    const me = signedIn(caller);
    const domain = await this.policy.look(me, id);
    if (!domain) throw errors.notFound('Domain');
    return this.detail(me, domain);
  }

  /** Which of these ids are domains at all. */
  async existing(ids: readonly number[]): Promise<Set<number>> {
    const found = new Set<number>();
    for (let i = 0; i < ids.length; i += CHUNK) {
      const some = ids.slice(i, i + CHUNK);
      const rows = await this.db.rows<{ id: number }>(
        `SELECT id FROM domains WHERE id IN (${marks(some.length)})`,
        some,
      );
      for (const { id } of rows) found.add(id);
    }
    return found;
  }

  /** The domains of an account with one of these names. */
  async named(accountId: number, names: readonly string[]): Promise<DomainRow[]> {
    const found: DomainRow[] = [];
    for (let i = 0; i < names.length; i += CHUNK) {
      const some = names.slice(i, i + CHUNK);
      const sql = `SELECT ${DOMAIN_COLUMNS} FROM domains d JOIN dns_accounts a ON a.id = d.account_id
        WHERE d.account_id = ? AND d.name IN (${marks(some.length)})`;
      found.push(...(await this.db.rows<DomainRow>(sql, [accountId, ...some])));
    }
    return found;
  }

  /** A domain without asking who wants it: for jobs, and after the guard has asked. @throws AppError 404 */
  async reload(id: number): Promise<DomainRow> {
    const row = await this.db.row<DomainRow>(
      `SELECT ${DOMAIN_COLUMNS} FROM domains d JOIN dns_accounts a ON a.id = d.account_id WHERE d.id = ?`,
      [id],
    );
    if (!row) throw errors.notFound('Domain');
    return row;
  }

  /**
   * That a new domain lies neither below nor above one of somebody else, nor has its name: whoever adds a zone decides
   * what is answered below it.
   * @throws AppError 403001 naming those that the caller may read, 409001 for administrators, who may say `force`
   */
  private async assertApart(me: Principal, name: string, force: boolean, manager?: EntityManager): Promise<void> {
    const admin = me.role >= Role.Admin;
    if (admin && force) return;
    const labels = name.split('.');
    const above = labels.map((_, i) => labels.slice(i).join('.'));
    const rows = await this.db.rows<{ id: number; name: string }>(
      `SELECT id, name FROM domains WHERE (owner_id IS NULL OR owner_id <> ?)
          AND (name IN (${marks(above.length)}) OR name LIKE ? ESCAPE '!')
        ORDER BY name LIMIT 20`,
      [me.userId, ...above, `%.${name.replace(/_/g, '!_')}`],
      manager,
    );
    if (!rows.length) return;
    const readable = admin
      ? new Set(rows.map(({ id }) => id))
      : await this.readableIds(
          me,
          rows.map(({ id }) => id),
          manager,
        );
    const named = rows.filter(({ id }) => readable.has(id));
    const words = named.length ? ` (${named.map((row) => row.name).join(', ')})` : '';
    const message = `${name} lies below or above a domain of somebody else, or has its name${words}`;
    if (admin) throw errors.conflict(`${message}; force=true adds it all the same`, { domains: named });
    throw errors.forbidden(`${message}; an administrator may add it`, { required: 'role:2', domains: named });
  }

  /**
   * That no other domain is this very zone, in whichever account: two caches of one zone are followed, but nobody
   * should have them unaware. @throws AppError 409001
   */
  private async assertAlone(
    me: Principal,
    server: string,
    zone: RemoteZone,
    force: boolean,
    manager?: EntityManager,
  ): Promise<void> {
    if (me.role >= Role.Admin && force) return;
    const there = await this.shared.at(server, zone.id, manager);
    if (!there.length) return;
    const ids = there.map(({ id }) => id);
    const readable = await this.readableIds(me, ids, manager);
    const rest = me.role >= Role.Admin ? 'force=true adds it all the same' : 'an administrator may add it';
    const words = `Another account has this zone of the same server here already; ${rest}`;
    throw errors.conflict(words, { domains: there.filter(({ id }) => readable.has(id)) });
  }

  /** The provider's zone of exactly this name. */
  private async resolve(
    accountId: number,
    name: string,
    create: boolean,
  ): Promise<{ zone: RemoteZone; server: string }> {
    const { provider, definition, server } = await this.connections.of(accountId);
    const zone = await provider.findZone(name);
    if (zone) return { zone, server };
    if (!create) throw errors.notFound(`Zone ${name} at the provider`);
    if (!definition.capabilities.createZone) {
      throw errors.unsupported(`${definition.label} cannot create zones; create it there and synchronise`);
    }
    return { zone: await provider.createZone(name), server };
  }
}

const NOTHING: Held = { level: 0, hosts: [] };

/**
 * What is held in a domain as views tell it: of a token no more than its scopes and rules leave. `hosts` then are those
 * of the rules that allow writing something; whether a single change is allowed, and why not, is for `explain`.
 */
function writable({ token }: Principal, id: number, held: Held): Held {
  const none = { level: Math.min(held.level, READ), hosts: [] };
  if (!token) return held;
  if (!hasScope(token.allowedServices, 'records:write')) return none;
  const allows = token.rules?.filter(
    ({ effect, domains, actions }) =>
      effect === 'allow' && (!domains || domains.includes(id)) && (!actions || actions.some((one) => one !== 'read')),
  );
  if (!allows) return held;
  if (!allows.length) return none;
  // under hosts already: which of them the rules leave is not to be said in globs
  if (held.level < WRITE || allows.some(({ hosts }) => !hosts)) return held;
  return { level: READ, hosts: [...new Set(allows.flatMap(({ hosts }) => hosts ?? []))] };
}

/**
 * Whoever adds a public suffix decides what is answered below the names of all who register there.
 * @throws AppError 403001, 409001 for administrators, who may say `force`
 */
function assertNoSuffix(me: Principal, name: string, force: boolean): void {
  const admin = me.role >= Role.Admin;
  if ((admin && force) || !isPublicSuffix(name)) return;
  const message = `${name} is a public suffix, below which anybody may register names`;
  if (admin) throw errors.conflict(`${message}; force=true adds it all the same`);
  throw errors.forbidden(`${message}; an administrator may add it`, { required: 'role:2' });
}

const duplicate = (name: string) => errors.taken('name', `the domain ${name} exists in this account already`);
