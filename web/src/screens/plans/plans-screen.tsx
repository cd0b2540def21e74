import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { DomainFrame, useDomainId } from '~/screens/domains/domain-frame';
import { useUrlState } from '~/state/use-url-state';
import { type PlanState, STATES } from './plan';
import { useDoor, Who } from './who';

type Row = components['schemas']['PlanListEntry'];

export function PlansScreen() {
  const { t } = useTranslation('plans');
  const id = useDomainId();
  const navigate = useNavigate();
  const door = useDoor();
  const list = useListState('', 20);
  const [{ state }, set] = useUrlState({ state: '', page: '1' });
  const query = useQuery(
    listOptions('/api/domains/{domain_id}/plans', {
      path: { domain_id: String(id) },
      query: { page: list.page, limit: list.limit, state },
    }),
  );
  const columns: Column<Row>[] = [
    {
      key: 'what',
      header: t('column.what'),
      lead: true,
      cell: (row) => <AppLink to={`/plans/${row.id}`}>{row.comment || `${door(row.door)} ${row.id}`}</AppLink>,
    },
    {
      key: 'state',
      header: t('column.state'),
      cell: (row) => <Status is={STATES[row.state]}>{t(`state.${row.state}`)}</Status>,
    },
    { key: 'by', header: t('column.by'), cell: (row) => <Who of={row.created_by} /> },
    { key: 'at', header: t('column.at'), cell: (row) => <Time iso={row.created_at} /> },
    {
      key: 'ends',
      header: t('column.ends'),
      cell: (row) => (row.state === 'open' || row.state === 'waiting' ? <Time iso={row.expires_at} /> : '–'),
    },
  ];
  return (
    <DomainFrame>
      <DataTable
        label={t('title')}
        columns={columns}
        query={query}
        rowKey={(row) => row.id}
        onOpen={(row) => void navigate({ to: `/plans/${row.id}` as never })}
        list={list}
        searchable={false}
        filters={
          (state || query.data?.total) && (
            <NativeSelect
              size="xs"
              aria-label={t('column.state')}
              value={state}
              onChange={(event) => set({ state: event.currentTarget.value })}
              data={[
                { value: '', label: t('state.any') },
                ...(Object.keys(STATES) as PlanState[]).map((key) => ({ value: key, label: t(`state.${key}`) })),
              ]}
            />
          )
        }
        empty={<Empty title={t('empty.title')} text={t('empty.text')} />}
      />
    </DomainFrame>
  );
}
