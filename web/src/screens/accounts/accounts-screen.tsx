import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { RoleGate } from '~/components/role-gate';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';
import { useUrlState } from '~/state/use-url-state';
import { AccountStatus } from './account-status';
import { AddAccount } from './add-account';
import { type Account, useProviderLabel } from './providers';

/** The accounts at providers; with `?add=` the form for another one. */
export function AccountsScreen() {
  const { t } = useTranslation('accounts');
  const [{ add }, set] = useUrlState({ add: '' });
  const mayAdd = useMay(Role.Admin);
  if (add && mayAdd) return <AddAccount kind={add === 'choose' ? null : add} onKind={(kind) => set({ add: kind })} />;
  return (
    <Screen
      title={t('title')}
      {...(mayAdd && { actions: <Button onClick={() => set({ add: 'choose' })}>{t('add.verb')}</Button> })}
    >
      <RoleGate role={Role.Admin}>
        <AccountList onAdd={() => set({ add: 'choose' })} />
      </RoleGate>
    </Screen>
  );
}

function AccountList({ onAdd }: { onAdd: () => void }) {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const list = useListState('name');
  const query = useQuery(listOptions('/api/accounts', { query: list.query }));
  const labelOf = useProviderLabel();
  const columns: Column<Account>[] = [
    {
      key: 'name',
      header: t('field.name'),
      sort: 'name',
      lead: true,
      cell: ({ id, name, remark }) => (
        <>
          <AppLink to={`/accounts/${id}`} fz="sm" fw={500}>
            {name}
          </AppLink>
          {remark && (
            <Text fz="xs" c="dimmed">
              {remark}
            </Text>
          )}
        </>
      ),
    },
    { key: 'provider', header: t('field.provider'), sort: 'provider', cell: ({ provider }) => labelOf(provider) },
    { key: 'domains', header: t('field.domains'), align: 'right', cell: ({ domains_count }) => domains_count },
    { key: 'state', header: t('field.state'), cell: (account) => <AccountStatus account={account} /> },
    { key: 'synced', header: t('field.lastSync'), cell: ({ last_sync_at }) => <Time iso={last_sync_at} /> },
    {
      key: 'created',
      header: t('field.created'),
      sort: 'created_at',
      cell: ({ created_at }) => <Time iso={created_at} />,
    },
  ];
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: `/accounts/${id}` as never })}
      list={list}
      searchLabel={t('search')}
      empty={
        <Empty
          title={t('empty.title')}
          text={t('empty.text')}
          action={<Button onClick={onAdd}>{t('add.verb')}</Button>}
        />
      }
    />
  );
}
