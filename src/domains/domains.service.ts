import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { DomainRemoval } from '../accounts/domain-removal.js';
import { ProviderConnections } from '../accounts/provider-connections.js';
import { AuditService } from '../audit/audit.service.js';
import { type Caller, type Principal, Role, signedIn } from '../common/access.js';
import { now } from '../common/clock.js';
import { errors } from '../common/errors.js';
import { contains, orderBy, type PageQuery, pageOf, pageSql } from '../common/paging.dto.js';
import { parseTime } from '../common/validation.js';
import { Db, isDuplicate, marks } from '../database/db.js';
import { toUnicode, zoneName } from '../dns/names.js';
import type { RemoteZone } from '../providers/provider.js';
import { WRITE } from './access-rights.js';
import type { DomainInput, DomainPatch, DomainView } from './domain.dto.js';
import { Domain } from './domain.entity.js';
import { DOMAIN_COLUMNS, DomainPolicy, type DomainRow } from './domain-policy.js';

const SORTS = {
  id: 'mine.id',
  name: 'mine.name',
  created_at: 'd.created_at',
  records_count: 'd.records_count',
  expires_at: 'd.expires_at',
};

export const domainView = (row: DomainRow, level: number): DomainView => ({
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
  permission: level >= WRITE ? 'write' : 'read',
  expires_at: row.expires_at,
  created_at: row.created_at,
  synced_at: row.synced_at,
  remark: row.remark,
});

@Injectable()
export class DomainsService {
  /** What follows the creation of a domain, such as reading its records; a failure there does not undo the creation. */
  private readonly followUps: ((domain: DomainRow) => Promise<void>)[] = [];

  constructor(
    @InjectRepository(Domain) private readonly domains: Repository<Domain>,
    private readonly db: Db,
    private readonly policy: DomainPolicy,
    private readonly connections: ProviderConnections,
    private readonly removal: DomainRemoval,
    private readonly audit: AuditService,
  ) {}

  afterCreate(work: (domain: DomainRow) => Promise<void>): void {
    this.followUps.push(work);
  }

  /** A page of the domains that the caller may read, and how many there are. @throws AppError 400001 */
  async list(me: Principal, query: PageQuery): Promise<{ total: number; list: DomainView[] }> {
    const order = orderBy(query.sort, SORTS, 'name', 'mine.id');
    if (!order) throw errors.field('sort', `must be one of ${Object.keys(SORTS).join(', ')}`);
    const page = pageOf(query);
    const [end, cut] = pageSql(page);
    const byName = page && !query.keyword && order.startsWith('mine.name');
    const most = page ? page.page * page.limit : 0;
    const first = byName ? await this.policy.firstReadable(me, most, order.endsWith('DESC') ? 'DESC' : 'ASC') : null;
    const all = first?.all ?? this.policy.readable(me);
    const { mine, where, values } = first ?? all;
    const [more, words] = query.keyword ? [" AND mine.name LIKE ? ESCAPE '!'", [contains(query.keyword)]] : ['', []];
    const rest = 'JOIN domains d ON d.id = mine.id JOIN dns_accounts a ON a.id = d.account_id';
    // by name, the page is known before a row of domains is read
    const from = order.includes('d.')
      ? `${mine} ${rest} WHERE ${where}${more} ORDER BY ${order}${end}`
      : `(SELECT mine.id, mine.name FROM ${mine} WHERE ${where}${more} ORDER BY ${order}${end}) mine ${rest} ORDER BY ${order}`;
    const rows = await this.db.rows<DomainRow>(`SELECT ${DOMAIN_COLUMNS} FROM ${from}`, [...values, ...words, ...cut]);
    const levels = await this.policy.levels(
      me,
      rows.map((row) => row.id),
    );
    const list = rows.map((row) => domainView(row, levels.get(row.id) ?? 0));
    if (!end) return { total: list.length, list };
    const count = await this.db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${all.mine} WHERE ${all.where}${more}`, [
      ...all.values,
      ...words,
    ]);
    return { total: Number(count?.n), list };
  }

  /** Which of these ids are domains that the caller may read. */
  async readableIds(me: Principal, ids: readonly number[]): Promise<Set<number>> {
    const { mine, where, values } = this.policy.readable(me);
    const rows = await this.db.rows<{ id: number }>(
      `SELECT mine.id FROM ${mine} WHERE ${where} AND mine.id IN (${marks(ids.length)})`,
      [...values, ...ids],
    );
    return new Set(rows.map((row) => row.id));
  }

  /**
   * Adds a zone that exists at the account's provider (or, with `create`, makes it there).
   * @throws AppError 403001, 404001 unknown account or zone, 409001 known already, 501001 the provider cannot create zones
   */
  async create(caller: Caller, input: DomainInput): Promise<DomainRow> {
    const me = signedIn(caller);
    const name = zoneName(input.name);
    await this.assertMayUseAccount(me, input.account_id);
    if (await this.domains.findOneBy({ account_id: input.account_id, name })) throw duplicate(name);
    const zone = await this.resolve(input.account_id, name, input.create ?? false);
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
    const id = await this.db
      .transaction(async (manager) => {
        const inserted = await manager.insert(Domain, row);
        const created = Number(inserted.identifiers[0]?.id);
        await this.audit.write(manager, caller, {
          action: 'domain.create',
          domain: { id: created, name },
          target: { type: 'domain', id: created, name },
          after: { name, account_id: row.account_id, remark: row.remark },
        });
        return created;
      })
      .catch((error) => {
        throw isDuplicate(error) ? duplicate(name) : error;
      });
    for (const work of this.followUps) await work(await this.reload(id));
    return this.reload(id);
  }

  async update(caller: Caller, domain: DomainRow, patch: DomainPatch): Promise<DomainRow> {
    const changes: Partial<Domain> = {};
    if (patch.remark !== undefined) changes.remark = patch.remark ?? '';
    if (patch.expires_at !== undefined) changes.expires_at = patch.expires_at ? parseTime(patch.expires_at) : null;
    if (Object.keys(changes).length) {
      const { remark, expires_at } = domain;
      await this.db.transaction(async (manager) => {
        await manager.update(Domain, { id: domain.id }, changes);
        await this.audit.write(manager, caller, {
          action: 'domain.update',
          domain,
          target: { type: 'domain', id: domain.id, name: domain.name },
          before: { remark, expires_at },
          after: { remark, expires_at, ...changes },
        });
      });
    }
    return this.reload(domain.id);
  }

  /** Forgets a domain and its cache; nothing happens at the provider. */
  async remove(caller: Caller, domain: DomainRow): Promise<void> {
    await this.db.transaction(async (manager) => {
      await this.removal.run(manager, [domain.id]);
      await manager.delete(Domain, { id: domain.id });
      await this.audit.write(manager, caller, {
        action: 'domain.delete',
        domain,
        target: { type: 'domain', id: domain.id, name: domain.name },
        before: { name: domain.name, account_id: domain.account_id, remark: domain.remark },
      });
    });
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

  /** Ordinary users may use the accounts that one of their teams was given. */
  private async assertMayUseAccount(me: Principal, accountId: number): Promise<void> {
    const row = await this.db.row<{ id: number; mine: number }>(
      `SELECT a.id, (SELECT COUNT(*) FROM team_members m WHERE m.team_id = a.team_id AND m.user_id = ?) AS mine
         FROM dns_accounts a WHERE a.id = ?`,
      [me.userId, accountId],
    );
    if (me.role < Role.Admin && !Number(row?.mine ?? 0)) throw errors.forbidden();
    if (!row) throw errors.notFound('Account');
  }

  /** The provider's zone of exactly this name. */
  private async resolve(accountId: number, name: string, create: boolean): Promise<RemoteZone> {
    const { provider, definition } = await this.connections.of(accountId);
    const zone = (await provider.listZones()).find((z) => z.name === name);
    if (zone) return zone;
    if (!create) throw errors.notFound(`Zone ${name} at the provider`);
    if (!definition.capabilities.createZone || !provider.createZone) {
      throw errors.unsupported(`${definition.label} cannot create zones; create it there and synchronise`);
    }
    return provider.createZone(name);
  }
}

const duplicate = (name: string) => errors.conflict(`The domain ${name} exists in this account already`);
