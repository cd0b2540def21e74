import { Badge, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';
import { BulkBar } from './bulk-bar';
import { DomainFilters, useDomainFilters } from './domain-filters';
import { type Domain, stateOf, urgency } from './domains';
import { SavedViews } from './saved-views';

/** The domains: searched, sorted and filtered by the server; what can be done with many stands above them. */
export function DomainList({ onAdd }: { onAdd: () => void }) {
  const { t } = useTranslation('domains');
  const navigate = useNavigate();
  const isAdmin = useMay(Role.Admin);
  const list = useListState('name');
  const filters = useDomainFilters();
  const query = useQuery(listOptions('/api/domains', { query: { ...list.query, ...filters.query } }));
  const [chosen, setChosen] = useState<ReadonlyMap<number, Domain>>(new Map());
  const rows = query.data?.rows ?? [];
  const choose = (ids: ReadonlySet<number | string>) => {
    const known = new Map([...chosen, ...rows.map((row) => [row.id, row] as const)]);
    setChosen(new Map([...known].filter(([id]) => ids.has(id))));
  };
  const columns: Column<Domain>[] = [
    { key: 'name', header: t('field.name'), sort: 'name', lead: true, cell: (domain) => <Name domain={domain} /> },
    {
      key: 'account',
      header: t('field.account'),
      width: 180,
      cell: ({ account_id, account_name }) =>
        isAdmin ? (
          <AppLink to={`/accounts/${account_id}`} fz="sm">
            {account_name}
          </AppLink>
        ) : (
          account_name
        ),
    },
    {
      key: 'state',
      header: t('field.state'),
      width: 190,
      cell: (domain) => {
        const [state, meaning] = stateOf(domain);
        return <Status is={meaning}>{t(`state.${state}`)}</Status>;
      },
    },
    {
      key: 'records',
      header: t('field.records'),
      sort: 'records_count',
      align: 'right',
      width: 80,
      cell: ({ records_count }) => records_count,
    },
    {
      key: 'ends',
      header: t('field.ends'),
      width: 130,
      sort: 'expires_at',
      cell: ({ expires_at }) => <Ends iso={expires_at} />,
    },
    { key: 'read', header: t('field.read'), width: 130, cell: ({ synced_at }) => <Time iso={synced_at} /> },
  ];
  const hasFilters = filters.isNarrowed || Boolean(list.keyword) || query.data?.total !== 0;
  return (
    <>
      <SavedViews />
      <DataTable
        label={t('title')}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: `/domains/${id}` as never })}
        list={list}
        searchLabel={t('search')}
        {...(hasFilters && { filters: <DomainFilters {...filters} /> })}
        selection={{ chosen: new Set(chosen.keys()), onChange: choose }}
        bulk={<BulkBar domains={[...chosen.values()]} onClear={() => setChosen(new Map())} />}
        empty={
          <Empty
            title={t('empty.title')}
            text={isAdmin ? t('empty.text') : t('empty.user')}
            action={
              <>
                {isAdmin && (
                  <AppLink to="/accounts" search={{ add: 'choose' }} fz="sm">
                    {t('empty.connect')}
                  </AppLink>
                )}
                <Button variant="default" onClick={onAdd}>
                  {t('add.verb')}
                </Button>
              </>
            }
          />
        }
      />
    </>
  );
}

function Name({ domain: { id, unicode_name, private: apart, permission, remark } }: { domain: Domain }) {
  const { t } = useTranslation('domains');
  return (
    <>
      <AppLink to={`/domains/${id}`} fz="sm" ff="monospace">
        {unicode_name}
      </AppLink>{' '}
      {apart && <Badge color="gray">{t('private')}</Badge>}{' '}
      {permission === 'read' && <Badge color="gray">{t('readOnly')}</Badge>}
      {remark && (
        <Text fz="xs" c="dimmed">
          {remark}
        </Text>
      )}
    </>
  );
}

function Ends({ iso }: { iso: string | null }) {
  const soon = iso ? urgency(iso, Date.now()) : null;
  return soon ? (
    <Status is={soon}>
      <Time iso={iso} />
    </Status>
  ) : (
    <Time iso={iso} />
  );
}
