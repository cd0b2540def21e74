import { client } from '~/api/client';
import type { components } from '~/api/schema';
import type { Filters } from './filters';

type Schemas = components['schemas'];
export type Found = Schemas['FoundRecord'];
export type RecordsSet = Schemas['RecordsSet'];
type Group = Schemas['PlanGroupView'];

/** records that are gathered one by one at most; what fits a condition of the API is not gathered */
export const MOST_GATHERED = 5000;
const PAGE = 500;

export interface Search extends Filters {
  keyword: string;
}

/** The query of the API for what is looked for. */
export const queryOf = ({ keyword, host, type, value, domain, account, enabled }: Search) => ({
  keyword: keyword || undefined,
  host: host || undefined,
  type: type || undefined,
  value: value || undefined,
  domain: domain || undefined,
  account_id: account ? Number(account) : undefined,
  enabled: enabled ? enabled === 'true' : undefined,
});

/** Whether a plan can name what is looked for by itself; else the records that were found are named. */
export const isCondition = ({ keyword, domain, account, enabled, host, type, value }: Search): boolean =>
  !(keyword || domain || account || enabled) && Boolean(host || type || value);

/** All records that are found, page by page: who asks sees to it that they are no more than `MOST_GATHERED`. */
export async function gather(search: Search): Promise<Found[]> {
  const found: Found[] = [];
  for (let page = 1; ; page++) {
    const query = { ...queryOf(search), page, limit: PAGE };
    const { data } = await client.GET('/api/records', { params: { query } });
    const { list, total } = data as Schemas['FoundRecordList'];
    found.push(...list);
    if (!list.length || found.length >= total) break;
  }
  return found;
}

/** One change for all of these records, as changes of each domain. @param set null: they are deleted */
export function changesOf(records: readonly Found[], set: RecordsSet | null): Schemas['DomainChanges'][] {
  const domains = new Map<number, Schemas['BatchChange'][]>();
  for (const { id, domain_id: domain, read_only: isReadOnly } of records) {
    if (isReadOnly) continue;
    const changes = domains.get(domain) ?? [];
    domains.set(domain, changes);
    changes.push(set ? { op: 'update', record_id: id, ...set } : { op: 'delete', record_id: id });
  }
  return [...domains].map(([domain_id, changes]) => ({ domain_id, changes }));
}

interface Wish {
  search: Search;
  /** rows that were chosen; none: all that is found */
  chosen: readonly Found[];
  set: RecordsSet | null;
  comment: string;
}

/** Has a plan worked out for all of these records. Its `id` is null where nothing is to be done. */
export async function planForAll({ search, chosen, set, comment }: Wish): Promise<Group> {
  const { host, type, value } = search;
  const where = { ...(host && { host }), ...(type && { type }), ...(value && { value }) };
  const body =
    set && !chosen.length && isCondition(search)
      ? { where, set, comment }
      : { domains: changesOf(chosen.length ? chosen : await gather(search), set), comment };
  const { data } = await client.POST('/api/plans', { body });
  return data as Group;
}
