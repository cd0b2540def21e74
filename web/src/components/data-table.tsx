import { Button, Checkbox, CloseButton, Group, Text, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useUrlState } from '~/state/use-url-state';
import classes from './data-table.module.css';
import { Empty, Failure, Loading, Stale } from './state-block';
import { useTypedFilter } from './use-typed-filter';

export interface Column<T> {
  key: string;
  header: string;
  cell: (row: T) => ReactNode;
  /** the field that the API sorts by */
  sort?: string;
  align?: 'right';
  /** shown on narrow screens, too, without its header */
  lead?: boolean;
  width?: number | string;
}

interface Asked<T> {
  data: { rows: T[]; total: number } | undefined;
  error: unknown;
  isPlaceholderData?: boolean;
  refetch: () => unknown;
}

interface Props<T> {
  /** of the table, for who hears it */
  label: string;
  columns: Column<T>[];
  query: Asked<T>;
  rowKey: (row: T) => number | string;
  /** Enter, and a click where no link or button is */
  onOpen?: (row: T) => void;
  /** what an empty list is for, and how to begin; not shown while a filter finds nothing */
  empty: ReactNode;
  /** the filters of this list stand in the address: `useListState` */
  list: ListState;
  /** more filters, between the search field and the count */
  filters?: ReactNode;
  searchLabel?: string;
  /** false: the API cannot search this list */
  searchable?: boolean;
  selection?: { chosen: ReadonlySet<number | string>; onChange: (chosen: Set<number | string>) => void };
  /** shown above the table while rows are chosen */
  bulk?: ReactNode;
}

/** The order, the page and the search text of a list. */
export interface ListState {
  sort: string;
  keyword: string;
  page: number;
  limit: number;
  set: (change: { sort?: string; keyword?: string; page?: string; limit?: string }) => void;
  /** the query of the API */
  query: { page: number; limit: number; sort: string | undefined; keyword: string | undefined };
}

/** The state of a list, in the address. @param sort by default */
export function useListState(sort = '', limit = 50): ListState {
  const [state, set] = useUrlState({ sort, keyword: '', page: '1', limit: String(limit) });
  const page = Math.max(1, Number(state.page) || 1);
  const size = Math.min(500, Math.max(1, Number(state.limit) || limit));
  const query = { page, limit: size, sort: state.sort || undefined, keyword: state.keyword || undefined };
  return { sort: state.sort, keyword: state.keyword, page, limit: size, set, query };
}

/** The search field of a list: asks when the typing pauses. `/` goes to it. */
export function SearchField({ list, label }: { list: ListState; label: string }) {
  const { t } = useTranslation('common');
  const [text, setText] = useTypedFilter(list.keyword, (keyword) => list.set({ keyword }));
  return (
    <TextInput
      size="xs"
      w={260}
      maw="100%"
      type="search"
      aria-label={label}
      placeholder={label}
      data-search
      leftSection={<IconSearch size={14} stroke={1.6} aria-hidden />}
      rightSection={text && <CloseButton size="xs" aria-label={t('clear')} onClick={() => setText('')} />}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

function Head<T>({ column, list }: { column: Column<T>; list: ListState }) {
  const { key, header, sort, align, width } = column;
  const up = sort !== undefined && list.sort === sort;
  const down = sort !== undefined && list.sort === `-${sort}`;
  return (
    <th
      key={key}
      scope="col"
      style={{ width }}
      data-align={align}
      aria-sort={up ? 'ascending' : down ? 'descending' : undefined}
    >
      {sort ? (
        <button type="button" className="zw-sort" onClick={() => list.set({ sort: up ? `-${sort}` : sort })}>
          {header}
          {up && <IconChevronUp size={13} aria-hidden />}
          {down && <IconChevronDown size={13} aria-hidden />}
        </button>
      ) : (
        header
      )}
    </th>
  );
}

/** Moves the focus among the rows. */
function onRowKey(event: KeyboardEvent<HTMLTableRowElement>, open: (() => void) | undefined): void {
  const row = event.currentTarget;
  const rows = [...(row.parentElement?.children ?? [])] as HTMLElement[];
  const at = rows.indexOf(row);
  const target: Record<string, HTMLElement | undefined> = {
    ArrowDown: rows[at + 1],
    ArrowUp: rows[at - 1],
    Home: rows[0],
    End: rows.at(-1),
  };
  if (event.target !== row) return;
  if (event.key === 'Enter' && open) open();
  else if (event.key in target) target[event.key]?.focus();
  else return;
  event.preventDefault();
}

/** A list of the API: pages, order and search are the server's and stand in the address. */
export function DataTable<T>(props: Props<T>) {
  const {
    label,
    columns,
    query,
    rowKey,
    onOpen,
    empty,
    list,
    filters,
    searchLabel,
    searchable = true,
    selection,
    bulk,
  } = props;
  const { t } = useTranslation('common');
  const [focused, setFocused] = useState(0);
  const { data, error, refetch } = query;
  const isNarrowed = list.keyword !== '' || list.page > 1;
  const chosen = selection?.chosen ?? new Set();
  const choose = (keys: (number | string)[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const key of keys) isChosen ? next.add(key) : next.delete(key);
    selection?.onChange(next);
  };

  const { rows, total } = data ?? { rows: [], total: 0 };
  const pages = Math.max(1, Math.ceil(total / list.limit));
  // the last entries of the last page may be gone
  const isBeyond = data !== undefined && !query.isPlaceholderData && list.page > pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each page
  useEffect(() => {
    if (isBeyond) list.set({ page: String(pages) });
  }, [isBeyond, pages]);
  if (data && total === 0 && !isNarrowed && !filters) return empty;
  const keys = rows.map(rowKey);
  const many = keys.filter((key) => chosen.has(key)).length;
  return (
    <div className={classes.frame} aria-busy={query.isPlaceholderData || undefined}>
      <Group gap="sm" className={classes.bar}>
        {searchable && <SearchField list={list} label={searchLabel ?? t('search')} />}
        {filters}
        <Text fz="sm" c="dimmed" ml="auto" role="status">
          {data && t('count', { count: total })}
        </Text>
      </Group>
      {chosen.size > 0 && bulk && (
        <Group gap="xs" className={classes.bulk} role="region" aria-label={t('chosen', { count: chosen.size })}>
          <Text fz="sm">{t('chosen', { count: chosen.size })}</Text>
          {bulk}
        </Group>
      )}
      {data && Boolean(error) && <Stale error={error} retry={refetch} />}
      {!data || isBeyond ? (
        error ? (
          <Failure error={error} retry={refetch} />
        ) : (
          <Loading lines={8} />
        )
      ) : rows.length === 0 ? (
        <Empty title={t('nothingFound')} text={t('nothingFoundText')} />
      ) : (
        <div className={classes.scroll}>
          <table aria-label={label} aria-rowcount={total} className={classes.table}>
            <thead>
              <tr>
                {selection && (
                  <th scope="col" className={classes.check}>
                    <Checkbox
                      size="xs"
                      aria-label={t('chooseAll')}
                      checked={many === keys.length}
                      indeterminate={many > 0 && many < keys.length}
                      onChange={(event) => choose(keys, event.currentTarget.checked)}
                    />
                  </th>
                )}
                {columns.map((column) => (
                  <Head key={column.key} column={column} list={list} />
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, i) => {
                const key = rowKey(row);
                return (
                  <tr
                    key={key}
                    tabIndex={i === Math.min(focused, rows.length - 1) ? 0 : -1}
                    data-opens={onOpen ? true : undefined}
                    data-chosen={chosen.has(key) || undefined}
                    onFocus={() => setFocused(i)}
                    onKeyDown={(event) => onRowKey(event, onOpen && (() => onOpen(row)))}
                    onClick={(event) => {
                      if (!(event.target as Element).closest('a,button,input,label')) onOpen?.(row);
                    }}
                  >
                    {selection && (
                      <td className={classes.check}>
                        <Checkbox
                          size="xs"
                          aria-label={t('choose')}
                          checked={chosen.has(key)}
                          onChange={(event) => choose([key], event.currentTarget.checked)}
                        />
                      </td>
                    )}
                    {columns.map(({ key: column, header, cell, align, lead }) => (
                      <td key={column} data-label={lead ? undefined : header} data-align={align}>
                        {cell(row)}
                      </td>
                    ))}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {pages > 1 && (
        <Group gap="xs" className={classes.pages} component="nav" aria-label={t('pages')}>
          <Button variant="default" disabled={list.page <= 1} onClick={() => list.set({ page: String(list.page - 1) })}>
            {t('previous')}
          </Button>
          <Text fz="sm">{t('pageOf', { page: list.page, pages })}</Text>
          <Button
            variant="default"
            disabled={list.page >= pages}
            onClick={() => list.set({ page: String(list.page + 1) })}
          >
            {t('next')}
          </Button>
        </Group>
      )}
    </div>
  );
}
