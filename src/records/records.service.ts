import { Injectable } from '@nestjs/common';
import type { Caller } from '../common/access.js';
import { errors } from '../common/errors.js';
import { contains, orderBy } from '../common/paging.dto.js';
import { Db, type SqlValue } from '../database/db.js';
import { toAscii } from '../dns/names.js';
import { assertMay, judge } from '../domains/access-rights.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { DomainsService } from '../domains/domains.service.js';
import type { RecordInput, RecordList, RecordPatch, RecordQuery, RecordView } from './record.dto.js';
import { RECORD_COLUMNS, RecordCache, type StoredRecord, stored } from './record-cache.js';
import { RecordSyncService } from './record-sync.service.js';
import { recordView } from './record-view.js';
import { RecordWriter } from './record-writer.service.js';

/** A list without `limit` is complete up to here; beyond it a page must be asked for, so that nothing is cut silently. */
const MAX_UNPAGED = 10_000;
const DEFAULT_LIMIT = 20;
const SORTS = {
  id: 'id',
  name: 'host',
  host: 'host',
  type: 'type',
  ttl: 'ttl',
  updated_at: 'updated_at',
  created_at: 'id',
};

@Injectable()
export class RecordsService {
  constructor(
    private readonly db: Db,
    private readonly cache: RecordCache,
    private readonly writer: RecordWriter,
    private readonly sync: RecordSyncService,
    private readonly domains: DomainsService,
  ) {}

  /** Cached records, filtered and paged in SQL. @throws AppError 400001; ProviderError when `refresh` fails */
  async list(opened: OpenDomain, query: RecordQuery): Promise<RecordList & { page: number; limit: number }> {
    let domain = opened;
    if (query.refresh) {
      await this.sync.refresh(domain);
      domain = { ...(await this.domains.reload(domain.id)), access: opened.access };
    }
    const order = orderBy(query.sort, SORTS, 'id', 'id');
    if (!order) throw errors.field('sort', `must be one of ${Object.keys(SORTS).join(', ')}`);
    const [where, values] = filter(domain.id, query);
    const asked = query.limit ?? query.pageSize;
    const paged = asked !== undefined || query.page !== undefined;
    const limit = asked ?? (paged ? DEFAULT_LIMIT : MAX_UNPAGED);
    const page = query.page ?? 1;
    if (domain.access.rules) return this.allowed(domain, [where, values], order, { paged, page, limit });
    // the stored count is exact: every write of the cache keeps it in its own transaction
    const total = values.length === 1 ? domain.records_count : await this.count(where, values);
    if (!paged) assertFitsOneAnswer(total);
    const rows = await this.db.rows<StoredRecord>(
      `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`,
      [...values, limit, (page - 1) * limit],
    );
    return { total, list: rows.map((row) => recordView(stored(row), domain)), page, limit };
  }

  /** @throws AppError 404001, also for a record of another domain */
  async get(domain: OpenDomain, id: number): Promise<RecordView> {
    const row = await this.cache.one(domain.id, id);
    if (!row) throw errors.notFound('Record');
    assertMay(domain.access, domain.id, 'read', row);
    return recordView(row, domain);
  }

  async create(me: Caller, domain: OpenDomain, input: RecordInput): Promise<{ id: number }> {
    return { id: (await this.writer.one(me, domain, { op: 'create', input })) as number };
  }

  async update(me: Caller, domain: OpenDomain, id: number, patch: RecordPatch): Promise<RecordView> {
    await this.writer.one(me, domain, { op: 'update', id, patch });
    return this.written(domain, id);
  }

  async remove(me: Caller, domain: OpenDomain, id: number): Promise<void> {
    await this.writer.one(me, domain, { op: 'delete', id });
  }

  async setEnabled(me: Caller, domain: OpenDomain, id: number, enabled: boolean): Promise<RecordView> {
    await this.writer.one(me, domain, { op: 'status', id, enabled });
    return this.written(domain, id);
  }

  /** What the caller has just written, which is no secret to who may write but not read. */
  private async written(domain: OpenDomain, id: number): Promise<RecordView> {
    const row = await this.cache.one(domain.id, id);
    if (!row) throw errors.notFound('Record');
    return recordView(row, domain);
  }

  /** The list of a token with rules: what they let it read is not for SQL to say. */
  private async allowed(
    domain: OpenDomain,
    [where, values]: [string, SqlValue[]],
    order: string,
    { paged, page, limit }: { paged: boolean; page: number; limit: number },
  ): Promise<RecordList & { page: number; limit: number }> {
    const rows = await this.db.rows<StoredRecord>(
      `SELECT ${RECORD_COLUMNS} FROM dns_records WHERE ${where} ORDER BY ${order}`,
      values,
    );
    const mine = rows.map(stored).filter((row) => judge(domain.access, domain.id, 'read', row).allowed);
    if (!paged) assertFitsOneAnswer(mine.length);
    const list = mine.slice((page - 1) * limit, page * limit).map((row) => recordView(row, domain));
    return { total: mine.length, list, page, limit };
  }

  private async count(where: string, values: SqlValue[]): Promise<number> {
    return Number(
      (await this.db.row<{ n: number }>(`SELECT COUNT(*) AS n FROM dns_records WHERE ${where}`, values))?.n,
    );
  }
}

/** @throws AppError 400001: nothing is cut silently */
function assertFitsOneAnswer(total: number): void {
  if (total <= MAX_UNPAGED) return;
  throw errors.field('page', `is required: ${total} records match, more than the ${MAX_UNPAGED} that fit one answer`);
}

function filter(domainId: number, query: RecordQuery): [string, SqlValue[]] {
  const where = ['domain_id = ?'];
  const values: SqlValue[] = [domainId];
  const equals = (column: string, value: SqlValue | undefined) => {
    if (value === undefined) return;
    where.push(`${column} = ?`);
    values.push(value);
  };
  const host = query.host ?? query.subdomain;
  equals('type', query.type?.toUpperCase());
  equals('host', host === undefined ? undefined : toAscii(host) || '@');
  equals('value', query.value);
  equals('line', query.line === '0' ? 'default' : query.line);
  equals('enabled', query.enabled);
  if (query.keyword) {
    where.push(`(host LIKE ? ESCAPE '!' OR LOWER(value) LIKE ? ESCAPE '!' OR LOWER(remark) LIKE ? ESCAPE '!')`);
    values.push(...Array<string>(3).fill(contains(query.keyword)));
  }
  return [where.join(' AND '), values];
}
