import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { useUrlState } from '~/state/use-url-state';
import { type Found, isCondition, MOST_GATHERED, queryOf } from './change';
import { ChangeDialog } from './change-dialog';
import { NO_FILTERS, SearchFilters } from './filters';
import classes from './search.module.css';

/** Records of all domains, and one change for all that were found. */
export function SearchScreen() {
  const { t } = useTranslation('search');
  const navigate = useNavigate();
  const list = useListState('', 50);
  const [{ page: _, ...filters }, set] = useUrlState({ ...NO_FILTERS, page: '1' });
  const [chosen, setChosen] = useState<Map<number | string, Found>>(new Map());
  const [isChanging, setChanging] = useState(false);
  const search = { ...NO_FILTERS, ...filters, keyword: list.keyword };
  const isNarrowed = Object.values(search).some(Boolean);
  const query = useQuery(
    listOptions('/api/records', {
      query: { ...queryOf(search), page: list.page, limit: list.limit, sort: list.query.sort },
    }),
  );
  const { rows = [], total = 0 } = query.data ?? {};
  const columns: Column<Found>[] = [
    {
      key: 'host',
      header: t('column.host'),
      sort: 'host',
      lead: true,
      cell: ({ domain_id: id, unicode_host: host, domain }) => (
        <span className={classes.name}>
          {host === '@' ? '' : `${host}.`}
          <AppLink to={`/domains/${id}`}>{domain}</AppLink>
        </span>
      ),
    },
    { key: 'type', header: t('column.type'), sort: 'type', width: 80, cell: ({ type }) => <b>{type}</b> },
    {
      key: 'value',
      header: t('column.value'),
      cell: ({ value, priority }) => (
        <span className={classes.value}>{priority === null ? value : `${priority} ${value}`}</span>
      ),
    },
    { key: 'ttl', header: t('column.ttl'), align: 'right', width: 70, cell: ({ ttl }) => ttl },
    {
      key: 'state',
      header: t('column.state'),
      cell: ({ enabled, read_only: isReadOnly, pending }) =>
        pending ? (
          <Status is="busy">{t('state.pending')}</Status>
        ) : isReadOnly ? (
          <Status is="off">{t('state.readOnly')}</Status>
        ) : enabled ? (
          <Status is="good">{t('state.on')}</Status>
        ) : (
          <Status is="off">{t('state.off')}</Status>
        ),
    },
    { key: 'at', header: t('column.at'), cell: ({ updated_at: at }) => <Time iso={at} /> },
  ];
  const choose = (keys: Set<number | string>) =>
    setChosen(
      new Map(
        [...keys].flatMap((key) => {
          const row = rows.find(({ id }) => id === key) ?? chosen.get(key);
          return row ? [[key, row] as const] : [];
        }),
      ),
    );
  const isTooMany = chosen.size === 0 && total > MOST_GATHERED && !isCondition(search);
  const count = chosen.size || total;
  const isEmpty = query.data !== undefined && total === 0 && !isNarrowed;
  return (
    <Screen
      title={t('title')}
      about={t('about')}
      actions={
        count > 0 &&
        (isNarrowed || chosen.size > 0) && (
          <Button disabled={isTooMany} onClick={() => setChanging(true)}>
            {chosen.size > 0 ? t('changeChosen', { count }) : t('changeAll', { count })}
          </Button>
        )
      }
    >
      {isTooMany && (
        <Text fz="sm" c="dimmed" mb="xs">
          {t('tooMany', { count: MOST_GATHERED })}
        </Text>
      )}
      <DataTable
        label={t('title')}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        onOpen={({ domain_id: id }) => void navigate({ to: `/domains/${id}` as never })}
        list={list}
        searchLabel={t('searchLabel')}
        filters={isEmpty ? undefined : <SearchFilters of={search} set={set} />}
        selection={{ chosen: new Set(chosen.keys()), onChange: choose }}
        empty={<Empty title={t('empty.title')} text={t('empty.text')} />}
      />
      {isChanging && (
        <ChangeDialog
          opened
          onClose={() => setChanging(false)}
          search={search}
          chosen={[...chosen.values()]}
          count={count}
        />
      )}
    </Screen>
  );
}
