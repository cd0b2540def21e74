import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/access.js';
import { DnsRecordsRepository, type Listed, type StoredRecord } from '../../cache/dns-records.repository.js';
import { searchPattern } from '../../cache/record-search.js';
import { storedHost, unknownType } from '../../changes/edits/filter-names.js';
import { recordView } from '../../changes/edits/record.dto.js';
import { domainReference } from '../../dns/domain-reference.js';
import { isType } from '../../dns/types.js';
import { DomainPolicy } from '../../domains/domain-policy.js';
import { DomainSummariesRepository } from '../../domains/domain-summaries.repository.js';
import { type Reader, searchedSql } from '../../domains/readable-domains.repository.js';
import { shownName } from '../../domains/zone-identity.js';
import { orderBy, pageOf } from '../../platform/common/paging.dto.js';
import type { OrUndefined } from '../../platform/common/validation.js';
import { marks, type SqlValue } from '../../platform/database/db.js';
import { unknownSort } from '../../platform/database/lists.js';
import { AllowedRecords } from '../allowed-records.js';
import { typesOf, valueSql } from '../record-filter.js';
import type { FoundRecord, FoundRecordList, SearchQuery } from './search.dto.js';

const SORTS = { id: 'id', host: 'host', type: 'type' };

type Query = OrUndefined<SearchQuery>;
type Found = FoundRecordList & { page: number; limit: number };

/** Records of all domains that somebody may read. */
@Injectable()
export class RecordSearch {
  constructor(
    private readonly rows: DnsRecordsRepository,
    private readonly allowed: AllowedRecords,
    private readonly policy: DomainPolicy,
    private readonly domains: DomainSummariesRepository,
  ) {}

  /** @param gone whether nobody waits for it any more @throws AppError 400001 */
  async list(me: Principal, query: Query, gone: () => boolean): Promise<Found> {
    const order = orderBy(query.sort, SORTS, 'id', 'id');
    if (!order) throw unknownSort(SORTS);
    const reader = this.policy.reader(me);
    const types = await this.types(me, reader, query.type, gone);
    const { page, limit } = pageOf(query) ?? { page: 1, limit: 20 };
    const listed = { ...filter(reader, query, types), order, searching: query.keyword !== undefined };
    const { rows, total } = await this.found(me, reader, listed, limit, (page - 1) * limit, gone);
    return { total, list: await this.viewsOf(rows), page, limit };
  }

  /**
   * Records that somebody may read, as `list` finds them, in the order of their ids.
   * @param ids of domains; undefined: in any @param most how many @throws AppError 400001
   */
  async matching(
    me: Principal,
    query: Pick<Query, 'host' | 'type' | 'value'>,
    ids: readonly number[] | undefined,
    most: number,
  ): Promise<StoredRecord[]> {
    const gone = () => false;
    const reader = this.policy.reader(me);
    const { where, values, isWhole } = filter(reader, query, await this.types(me, reader, query.type, gone));
    const among = ids ? `domain_id IN (${marks(ids.length)})` : '1 = 1';
    const listed = { where: `${where} AND ${among}`, values: [...values, ...(ids ?? [])], isWhole, order: 'id ASC' };
    return (await this.found(me, reader, listed, most, 0, gone)).rows;
  }

  /** The types that a query names. @throws AppError 400001 */
  private async types(me: Principal, reader: Reader, type: string | undefined, gone: () => boolean): Promise<string[]> {
    const types = type === undefined ? [] : typesOf(type);
    for (const one of types.filter((name) => !isType(name))) {
      const { total } = await this.found(me, reader, { ...filter(reader, {}, [one]), order: 'id ASC' }, 1, 0, gone);
      if (!total) throw unknownType(one);
    }
    return types;
  }

  private async found(
    me: Principal,
    reader: Reader,
    { isWhole, searching = false, ...listed }: Filtered & Listed & { searching?: boolean },
    take: number,
    skip: number,
    gone: () => boolean,
  ): Promise<{ rows: StoredRecord[]; total: number }> {
    const rules = me.token?.rules;
    if (rules) return this.allowed.everywhere(rules, { ...listed, skip, take }, gone);
    const rows = await this.rows.page(listed, take, skip, searching);
    // the stored counts of domains are exact
    const total = isWhole ? await this.domains.records(reader) : await this.rows.total(listed, skip, take, rows);
    return { rows, total };
  }

  private async viewsOf(rows: readonly StoredRecord[]): Promise<FoundRecord[]> {
    const domains = await this.domains.named([...new Set(rows.map(({ domain_id }) => domain_id))]);
    // a domain that was deleted since the page was read took its records along
    return rows.flatMap((row) => {
      const domain = domains.get(row.domain_id);
      return domain ? [{ ...recordView(row, domain), domain_id: row.domain_id, domain: shownName(domain) }] : [];
    });
  }
}

interface Filtered {
  where: string;
  values: SqlValue[];
  /** nothing is left out but what may not be read */
  isWhole: boolean;
}

/** @param types see `typesOf` @throws AppError 400001 */
function filter(reader: Reader, query: Query, types: readonly string[]): Filtered {
  const { domain, account_id, host, value, enabled, keyword } = query;
  const which = domain === undefined ? undefined : domainReference(domain, 'domain');
  const parts: [string, SqlValue[]][] = [searchedSql(reader, 'domain_id', { domain: which, account_id })];
  const own = parts.length;
  if (types.length) parts.push([`type IN (${marks(types.length)})`, [...types]]);
  if (host !== undefined) parts.push(['host = ?', [storedHost(host, null, 'host')]]);
  if (value !== undefined) parts.push(valueSql(value, NO_ZONE));
  if (enabled !== undefined) parts.push(['enabled = ?', [enabled]]);
  if (keyword) parts.push([`search LIKE ? ESCAPE '!'`, [searchPattern(keyword)]]);
  return {
    where: parts.map(([sql]) => sql).join(' AND '),
    values: parts.flatMap(([, values]) => values),
    isWhole: parts.length === own && domain === undefined && account_id === undefined,
  };
}

/** The zone that relative names in a value are read in: no record has it. */
const NO_ZONE = 'invalid';
