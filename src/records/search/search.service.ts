import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/access.js';
import {
  type Direction,
  DnsRecordsRepository,
  type Listed,
  type PlacedRecord,
  type ShownRecord,
} from '../../cache/dns-records.repository.js';
import { searchPattern } from '../../cache/record-search.js';
import { storedHost, unknownType } from '../../changes/edits/filter-names.js';
import { recordView } from '../../changes/edits/record.dto.js';
import { domainReference } from '../../dns/domain-reference.js';
import { isType } from '../../dns/types.js';
import { DomainPolicy } from '../../domains/domain-policy.js';
import { DomainSummariesRepository } from '../../domains/domain-summaries.repository.js';
import { type Narrowed, type Reader, searchedSql } from '../../domains/readable-domains.repository.js';
import { shownName } from '../../domains/zone-identity.js';
import { orderBy, pageOf } from '../../platform/common/paging.dto.js';
import type { OrUndefined } from '../../platform/common/validation.js';
import { marks, type SqlValue } from '../../platform/database/db.js';
import { unknownSort } from '../../platform/database/lists.js';
import { AllowedRecords } from '../allowed-records.js';
import { typesOf, valueSql } from '../record-filter.js';
import type { FoundRecord, FoundRecordList, SearchQuery } from './search.dto.js';

const SORTS = { id: 'id', host: 'host', type: 'type' };

/** records, and domains, that one statement looks through */
const [AT_ONCE, MOST_DOMAINS] = [10_000, 200];

/** so many are put in order here; a page behind them, in the order of ids, is read by its offset */
const SHALLOW = 1000;

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
    const listed = { ...filter(reader, query, types), order };
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
  ): Promise<ShownRecord[]> {
    const gone = () => false;
    const reader = this.policy.reader(me);
    const found = filter(reader, query, await this.types(me, reader, query.type, gone));
    const listed = { ...found, order: 'id ASC' };
    if (ids) {
      listed.where = `${found.where} AND domain_id IN (${marks(ids.length)})`;
      listed.values = [...found.values, ...ids];
      listed.how = 'index';
    }
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
    wanted: Filtered & Listed,
    take: number,
    skip: number,
    gone: () => boolean,
  ): Promise<{ rows: ShownRecord[]; total: number }> {
    const rules = me.token?.rules;
    if (rules) return this.allowed.everywhere(rules, { ...wanted, skip, take }, gone);
    if (wanted.how === 'whole') return this.whole(reader, wanted, take, skip);
    if (wanted.how === 'domains') return this.looked(reader, wanted, take, skip, gone);
    const rows = await this.rows.page(wanted, take, skip);
    return { rows, total: await this.rows.total(wanted, skip, take, rows) };
  }

  /** A page of all records of some domains, whose stored counts are exact. */
  private async whole(
    reader: Reader,
    { narrowed, ...listed }: Filtered & Listed,
    take: number,
    skip: number,
  ): Promise<{ rows: ShownRecord[]; total: number }> {
    const total = await this.domains.records(reader, narrowed);
    const isAll = reader.all && !reader.only && Object.values(narrowed).every((value) => value === undefined);
    // the records of all domains are in the order of an index, which ends with the page
    const bound =
      isAll || !isById(listed)
        ? undefined
        : (many: number, direction: Direction) => this.domains.bound(reader, narrowed, many, direction);
    return { rows: await this.rows.pageOf(listed, total, take, skip, bound), total };
  }

  /**
   * A page of what no index finds: it is looked for in some domains after the others, so that others have their turns.
   * @param own conditions on records, without those on domains
   */
  private async looked(
    reader: Reader,
    { narrowed, own, ...listed }: Filtered & Listed,
    take: number,
    skip: number,
    gone: () => boolean,
  ): Promise<{ rows: ShownRecord[]; total: number }> {
    const many = skip + take;
    const isDeep = many > SHALLOW && isById(listed);
    let first: PlacedRecord[] = [];
    let total = 0;
    for (const ids of groups(await this.domains.sizes(reader, narrowed))) {
      const where = `domain_id IN (${marks(ids.length)}) AND ${own.where}`;
      const part = { where, values: [...ids, ...own.values], order: listed.order };
      const last = first.length === many ? first.at(-1) : undefined;
      const some = isDeep ? [] : await this.rows.first(part, many, last);
      total += isDeep || last || some.length === many ? await this.rows.count(part) : some.length;
      first = inOrder([...first, ...some], part).slice(0, many);
      await this.allowed.breathe(gone);
    }
    if (isDeep) return { rows: await this.rows.pageOf(listed, total, take, skip), total };
    return { rows: await this.rows.shown(first.slice(skip).map(({ id }) => id)), total };
  }

  private async viewsOf(rows: readonly ShownRecord[]): Promise<FoundRecord[]> {
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
  /** which domains, of those that may be read */
  narrowed: Narrowed;
  /** the conditions on records alone */
  own: { where: string; values: SqlValue[] };
  /** all records of these domains, what an index finds, or what has to be looked for in all of them */
  how: 'whole' | 'index' | 'domains';
}

/** @param types see `typesOf` @throws AppError 400001 */
function filter(reader: Reader, query: Query, types: readonly string[]): Filtered {
  const { domain, account_id, host, value, enabled, keyword } = query;
  const narrowed = { domain: domain === undefined ? undefined : domainReference(domain, 'domain'), account_id };
  const parts: [string, SqlValue[]][] = [];
  if (types.length) parts.push([`type IN (${marks(types.length)})`, [...types]]);
  if (host !== undefined) parts.push(['host = ?', [storedHost(host, null, 'host')]]);
  if (value !== undefined) parts.push(valueSql(value, NO_ZONE));
  if (enabled !== undefined) parts.push(['enabled = ?', [enabled]]);
  if (keyword) parts.push([`search LIKE ? ESCAPE '!'`, [searchPattern(keyword)]]);
  const own = all(parts);
  // few records have a host or a value
  const isLookedFor = (keyword || enabled !== undefined) && host === undefined && value === undefined;
  return {
    ...all([searchedSql(reader, 'domain_id', narrowed), ...parts]),
    ...{ narrowed, own, how: parts.length ? (isLookedFor ? 'domains' : 'index') : 'whole' },
  };
}

const all = (parts: readonly [string, SqlValue[]][]) => ({
  where: parts.map(([sql]) => sql).join(' AND '),
  values: parts.flatMap(([, values]) => values),
});

/** Domains that are looked through at once: SQLite reads their records while nobody else has a turn. */
function* groups(domains: readonly { id: number; records_count: number }[]): Generator<number[]> {
  let [ids, records]: [number[], number] = [[], 0];
  for (const { id, records_count } of domains) {
    ids.push(id);
    records += records_count;
    if (records < AT_ONCE && ids.length < MOST_DOMAINS) continue;
    yield ids;
    [ids, records] = [[], 0];
  }
  if (ids.length) yield ids;
}

const isById = ({ order }: Pick<Listed, 'order'>): boolean => order === 'id ASC' || order === 'id DESC';

/** Records in the order of a list. */
function inOrder(records: PlacedRecord[], { order }: Pick<Listed, 'order'>): PlacedRecord[] {
  const sign = order.endsWith('DESC') ? -1 : 1;
  return records.sort((a, b) => sign * (a.place < b.place ? -1 : a.place > b.place ? 1 : a.id - b.id));
}

/** The zone that relative names in a value are read in: no record has it. */
const NO_ZONE = 'invalid';
