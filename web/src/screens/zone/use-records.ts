import { keepPreviousData, queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { client } from '~/api/client';
import { queryClient } from '~/api/query';
import type { RecordRow } from './fields';
import type { Filter } from './filter';

export const PAGE = 500;

export interface Asked extends Filter {
  sort?: string;
}

interface Loaded {
  rows: RecordRow[];
  total: number;
}

/** Records of one host stand together; those of one type and name, too, as far as a page goes. */
function bySet(rows: RecordRow[]): RecordRow[] {
  const order = new Map<string, number>();
  for (const { host } of rows) if (!order.has(host)) order.set(host, order.size);
  const rank = ({ host }: RecordRow) => order.get(host) as number;
  return rows.toSorted((a, b) => rank(a) - rank(b) || a.type.localeCompare(b.type) || a.id - b.id);
}

const pageOptions = (zone: number, asked: Asked, page: number) =>
  queryOptions<Loaded>({
    queryKey: ['get', '/api/domains/{domain_id}/records', { zone, asked, page }],
    gcTime: 60_000,
    staleTime: 30_000,
    queryFn: async ({ signal }) => {
      const params = { path: { domain_id: String(zone) }, query: { ...asked, page: page + 1, limit: PAGE } };
      const { data } = await client.GET('/api/domains/{domain_id}/records', { params, signal });
      const { list, total } = data as { list: RecordRow[]; total: number };
      return { rows: asked.sort === 'host' ? bySet(list) : list, total };
    },
  });

/** The first page, and how many records there are. While another filter is asked for, those of the one before stay. */
export function useHead(zone: number, asked: Asked) {
  const head = useQuery({ ...pageOptions(zone, asked, 0), placeholderData: keepPreviousData });
  const shown = useRef(asked);
  if (!head.isPlaceholderData && head.data) shown.current = asked;
  return { head, total: head.data?.total ?? 0, shown: shown.current };
}

/**
 * The records of a zone as a sparse list: its pages are read where they are shown.
 * @param rows those that are shown, as their first and last index; and others that are needed
 * @returns what gives the record of an index; undefined: it is on its way
 */
export function useRows(zone: number, { head, total, shown }: ReturnType<typeof useHead>, rows: readonly number[][]) {
  const last = Math.ceil(total / PAGE) - 1;
  const wanted = new Set<number>();
  for (const [from = 0, to = from] of rows)
    for (let page = Math.floor(from / PAGE); page <= Math.min(last, Math.floor(to / PAGE)); page++)
      if (page > 0) wanted.add(page);
  const pages = [...wanted];
  const answers = useQueries({ queries: pages.map((page) => pageOptions(zone, shown, page)) });
  const byPage = new Map(pages.map((page, i) => [page, answers[i]?.data]));
  return {
    failed: answers.find(({ error }) => error),
    row: (index: number): RecordRow | undefined => {
      const page = Math.floor(index / PAGE);
      return (page === 0 ? head.data : byPage.get(page))?.rows[index % PAGE];
    },
  };
}

/** Asks for the first rows while the domain itself is still on its way. */
export function usePrefetchedRows(zone: number): void {
  const { q, sort, by } = useSearch({ strict: false }) as Record<string, string | undefined>;
  const isPlain = !q && !sort && by !== 'set';
  useEffect(() => {
    if (isPlain) void queryClient.prefetchQuery(pageOptions(zone, { sort: 'host' }, 0));
  }, [zone, isPlain]);
}

/** All records that a filter finds, page by page. */
export async function allRows(zone: number, asked: Asked, total: number): Promise<RecordRow[]> {
  const rows: RecordRow[] = [];
  for (let page = 0; page * PAGE < total; page++)
    rows.push(...(await queryClient.fetchQuery(pageOptions(zone, asked, page))).rows);
  return rows;
}
