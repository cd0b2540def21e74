import { Injectable } from '@nestjs/common';
import { type Caller, hasScope } from '../access/access.js';
import type { Connection } from '../accounts/provider-connections.js';
import { DnsRecordsRepository, type Listed, type ShownRecord } from '../cache/dns-records.repository.js';
import { RecordCache, type StoredRecord } from '../cache/record-cache.js';
import { SuspiciousList } from '../cache/suspicious.js';
import { doorOf } from '../changes/change-sets.js';
import { creation, type Edit, Places, update } from '../changes/edits/edit.js';
import { unknownType } from '../changes/edits/filter-names.js';
import type { RecordInput, RecordPatch, RecordView } from '../changes/edits/record.dto.js';
import { recordView } from '../changes/edits/record.dto.js';
import { ChangeEngine } from '../changes/engine.service.js';
import { mayRead, readsRecords } from '../changes/history/who.js';
import { RecordSyncService } from '../changes/in-doubt/record-sync.service.js';
import { isType } from '../dns/types.js';
import { assertMay, judgeRecord, WRITE } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import { within } from '../platform/common/clock.js';
import { withoutDeadline } from '../platform/common/deadline.js';
import { errors } from '../platform/common/errors.js';
import { Logger } from '../platform/common/logger.js';
import { orderBy, pageOf } from '../platform/common/paging.dto.js';
import { say } from '../platform/common/words/field-text.js';
import type { SqlValue } from '../platform/database/db.js';
import { unknownSort } from '../platform/database/lists.js';
import type { Conditions } from '../platform/http/conditions.js';
import type { RecordState } from '../tokens/rules/token-rules.js';
import { AllowedRecords } from './allowed-records.js';
import { filter, typesOf } from './record-filter.js';
import type { RecordList, RecordQuery } from './records.dto.js';
import { assertSeen } from './rrsets/rrset-view.js';
import { hides } from './rules-sql.js';

/**
 * A list without `limit` is complete up to here; beyond it a page must be asked for, so that nothing is cut silently.
 */
const MAX_UNPAGED = 10_000;
/** ms that a list waits for the zone where the cache is known to be old; then it is shown as it is */
const FOLLOW_MS = 2_000;
const SORTS = {
  id: 'id',
  name: 'host',
  host: 'host',
  type: 'type',
  ttl: 'ttl',
  updated_at: 'updated_at',
  created_at: 'created_at',
};

/**
 * `asked`: the page that was asked for; null: the list is whole. `revision`: of the domain, not after its records were
 * read.
 */
type PagedRecords = RecordList & { asked: ReturnType<typeof pageOf>; revision: number };

@Injectable()
export class RecordsService {
  /** domains whose caches follow their zones right now */
  private readonly following = new Map<number, Promise<unknown>>();

  constructor(
    private readonly rows: DnsRecordsRepository,
    private readonly cache: RecordCache,
    private readonly engine: ChangeEngine,
    private readonly sync: RecordSyncService,
    private readonly domains: DomainsService,
    private readonly readable: AllowedRecords,
    private readonly places: Places,
    private readonly logger: Logger,
  ) {}

  /**
   * Cached records, filtered and paged in SQL. `gone`: whether nobody waits for them any more.
   * @throws AppError 400001; 403001 and 409002 of a suspicious `refresh`; ProviderError when it fails
   */
  async list(
    me: Caller,
    opened: OpenDomain,
    query: RecordQuery,
    gone: () => boolean = () => false,
  ): Promise<PagedRecords> {
    let domain = opened;
    if (query.confirm && !query.refresh) throw errors.field('confirm', 'goes with refresh=true only', 'conflict');
    if (query.confirm) assertMayConfirm(me, domain);
    if (query.refresh) {
      await this.sync.refresh(domain, me, query.confirm).catch((error) => {
        const mayRead = (row: RecordState) => judgeRecord(domain.access, domain.id, 'read', row).allowed;
        throw error instanceof SuspiciousList ? error.told(mayRead) : error;
      });
      domain = { ...(await this.domains.reload(domain.id)), access: opened.access };
    } else domain = await this.fresh(domain);
    const sorts = { ...SORTS, value: this.rows.valueOrder };
    const order = orderBy(query.sort, sorts, 'id', 'id');
    if (!order) throw unknownSort(sorts);
    const types = query.type === undefined ? [] : typesOf(query.type);
    await this.assertTypes(domain, types, gone);
    const [where, values] = filter(domain, query, types);
    const asked = pageOf({ page: query.page, limit: query.limit ?? query.pageSize });
    // rules that hide nothing need no count of their own, which takes as long as the domain is large
    if (hides(domain.access.rules, domain.id)) return this.allowed(domain, [where, values], order, asked, gone);
    const { total, rows } = await this.found(domain, { where, values, order }, types, asked, Boolean(query.keyword));
    return { total, list: rows.map((row) => recordView(row, domain)), asked, revision: domain.revision };
  }

  /** A page of a list. Stored counts are exact: every write of the cache keeps them in its own transaction. */
  private async found(
    { id, records_count }: OpenDomain,
    listed: Listed,
    types: readonly string[],
    asked: PagedRecords['asked'],
    searching: boolean,
  ): Promise<{ total: number; rows: ShownRecord[] }> {
    const { page, limit } = asked ?? { page: 1, limit: MAX_UNPAGED };
    const start = (page - 1) * limit;
    const isWhole = listed.values.length === 1;
    let total = isWhole ? records_count : undefined;
    if (!isWhole && listed.values.length === 1 + types.length) total = await this.cache.countOf(id, types);
    if (!asked && total !== undefined) assertFitsOneAnswer(total);
    const rows = isWhole
      ? await this.rows.pageOf(this.rows.ofDomain(id, listed.order), records_count, limit, start)
      : await this.rows.page(listed, limit, start, searching);
    total ??= await this.rows.total(listed, start, limit, rows);
    if (!asked) assertFitsOneAnswer(total);
    return { total, rows };
  }

  /**
   * A list of a vendor's own types may be asked for, where the domain has such records that the caller may read.
   * @throws AppError 400001 for what is no record type
   */
  private async assertTypes(domain: OpenDomain, types: readonly string[], gone: () => boolean): Promise<void> {
    for (const type of types) {
      if (isType(type)) continue;
      const one = { where: 'domain_id = ? AND type = ?', values: [domain.id, type], order: 'id ASC', skip: 0, take: 1 };
      const held = domain.access.rules
        ? (await this.readable.page(domain, one, gone)).total
        : await this.cache.countOf(domain.id, [type]);
      if (!held) throw unknownType(type);
    }
  }

  /**
   * The domain with a cache that is not known to be old. Where the zone was changed in another account it is read anew;
   * a provider that is down does not make a list fail.
   */
  async fresh(domain: OpenDomain): Promise<OpenDomain> {
    if (domain.stale_revision === null) return domain;
    await within(this.follow(domain), FOLLOW_MS);
    return { ...(await this.domains.reload(domain.id)), access: domain.access };
  }

  /** Brings an old cache up to date, once for all who ask meanwhile. */
  private follow(domain: OpenDomain): Promise<unknown> {
    const { id, name } = domain;
    const running =
      this.following.get(id) ??
      withoutDeadline(() => this.sync.refresh(domain, 'system'))
        .catch((err: Error) => this.logger.warn({ domain: name, err: err.message }, 'an old list is shown'))
        .finally(() => this.following.delete(id));
    this.following.set(id, running);
    return running;
  }

  /** @throws AppError 404001, also for a record of another domain, and for one that may not be read */
  async get(domain: OpenDomain, id: number): Promise<RecordView> {
    const row = await this.cache.one(domain.id, id);
    if (!row || !judgeRecord(domain.access, domain.id, 'read', row).allowed) throw errors.notFound('record');
    return recordView(row, domain);
  }

  /** @throws AppError 412001 where something of the name and type is there, and must not be */
  async create(
    me: Caller,
    domain: OpenDomain,
    input: RecordInput,
    { ifNoneMatch }: Conditions = {},
  ): Promise<{ id: number }> {
    const place = await this.places.of(domain, input.ttl);
    const edit = { op: 'create' as const, ...creation(place, input) };
    if (ifNoneMatch === undefined) return { id: (await this.write(me, domain, edit, place.connection)).id };
    const { host, type, line } = edit.record;
    const key = { host, type, line };
    const of = (rows: readonly StoredRecord[]): Edit[] => {
      assertMay(domain.access, domain.id, 'create', edit.record);
      assertSeen({ ifNoneMatch }, domain, key, rows, readsRecords(me));
      return [edit];
    };
    return { id: (await this.write(me, domain, { hosts: [host], sets: [key], of }, place.connection)).id };
  }

  /** @param ifMatch the tag of the state that the caller has seen: 412001 when it is another one by now */
  async update(me: Caller, domain: OpenDomain, id: number, patch: RecordPatch, ifMatch?: string): Promise<RecordView> {
    const edit = update({ zone: domain.name }, id, patch, ifMatch);
    const row = await this.write(me, domain, edit, undefined, ifMatch);
    return written(me, domain, row, patch);
  }

  async remove(me: Caller, domain: OpenDomain, id: number, ifMatch?: string): Promise<void> {
    const edit = { op: 'delete' as const, id, ifMatch };
    await this.engine.one(me, domain, edit, { door: doorOf(me), comment: '', conditional: ifMatch !== undefined });
  }

  async setEnabled(
    me: Caller,
    domain: OpenDomain,
    id: number,
    enabled: boolean,
    ifMatch?: string,
  ): Promise<RecordView> {
    const edit = { op: 'status' as const, id, enabled, ifMatch };
    return written(me, domain, await this.write(me, domain, edit, undefined, ifMatch), {});
  }

  /** @returns the record as it was written */
  private async write(
    me: Caller,
    domain: OpenDomain,
    edit: Parameters<ChangeEngine['one']>[2],
    connection?: Connection,
    ifMatch?: string,
  ): Promise<StoredRecord> {
    const options = { door: doorOf(me), comment: '', conditional: ifMatch !== undefined };
    return (await this.engine.one(me, domain, edit, options, connection)) as StoredRecord;
  }

  /** The list of a token with rules. */
  private async allowed(
    domain: OpenDomain,
    [where, values]: [string, SqlValue[]],
    order: string,
    asked: PagedRecords['asked'],
    gone: () => boolean,
  ): Promise<PagedRecords> {
    const { page, limit } = asked ?? { page: 1, limit: MAX_UNPAGED };
    const wanted = { where, values, order, skip: (page - 1) * limit, take: limit };
    const { total, rows } = await this.readable.page(domain, wanted, gone);
    if (!asked) assertFitsOneAnswer(total);
    return { total, list: rows.map((row) => recordView(row, domain)), asked, revision: domain.revision };
  }
}

/** What the caller has just written. Who may not read the record sees of it what they sent. */
function written(me: Caller, domain: OpenDomain, row: StoredRecord, sent: RecordPatch): RecordView {
  const view = recordView(row, domain);
  if (mayRead(me, domain)(row)) return view;
  const told = <T>(given: unknown, value: T, none: T): T => ((given ?? null) === null ? none : value);
  return {
    ...view,
    host: told(sent.host ?? sent.name, view.host, ''),
    unicode_host: told(sent.host ?? sent.name, view.unicode_host, ''),
    type: told(sent.type, view.type, ''),
    value: told(sent.value, view.value, ''),
    ttl: told(sent.ttl, view.ttl, 0),
    line: told(sent.line, view.line, ''),
    priority: told(sent.priority ?? sent.mx ?? sent.value, view.priority, null),
    weight: told(sent.weight, view.weight, null),
    remark: sent.remark ?? '',
    expires_at: sent.expires_at ?? null,
    end_hold_reason: null,
  };
}

/** Who may take records out of the cache of a domain: who may write all of it. @throws AppError 403001 */
function assertMayConfirm({ principal }: Caller, { id, access }: OpenDomain): void {
  const { token } = principal ?? {};
  if (access.level >= WRITE && !access.rules && (!token || hasScope(token.allowedServices, 'records:write'))) return;
  throw errors.forbidden('confirm_needs_write', {}, { required: `domain:${id}:write` });
}

/** @throws AppError 400001: nothing is cut silently */
function assertFitsOneAnswer(total: number): void {
  if (total <= MAX_UNPAGED) return;
  const words = say('is required: {total} records match, more than the {max} that fit one answer', {
    total,
    max: MAX_UNPAGED,
  });
  throw errors.field('page', words);
}
