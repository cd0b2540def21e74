import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { RoleGate } from '~/components/role-gate';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Role, useMay } from '~/session/session';
import { useUrlState } from '~/state/use-url-state';
import { NewTunnel } from './new-tunnel';
import { RunToken, type ShownToken } from './run-token';
import { type Tunnel, TunnelStatus } from './tunnel';
import { TunnelDetail } from './tunnel-detail';

/** Tunnels of the accounts that can hold some; the address says which one is looked at. */
export function TunnelsScreen() {
  const { t } = useTranslation('tunnels');
  const [{ tunnel, making }, set] = useUrlState({ tunnel: '', making: '' });
  // it is shown this once, and kept nowhere
  const [token, setToken] = useState<ShownToken | null>(null);
  if (!useMay(Role.Admin))
    return (
      <Screen title={t('title')} about={t('about')}>
        <RoleGate role={Role.Admin}>{null}</RoleGate>
      </Screen>
    );
  return (
    <>
      {tunnel ? (
        <TunnelDetail key={tunnel} id={Number(tunnel)} onToken={setToken} />
      ) : (
        <Screen
          title={t('title')}
          about={t('about')}
          actions={<Button onClick={() => set({ making: '1' })}>{t('make')}</Button>}
        >
          <List onMake={() => set({ making: '1' })} />
        </Screen>
      )}
      {making && (
        <NewTunnel
          onClose={() => set({ making: '' })}
          onMade={(made) => {
            setToken(made.token === null ? null : { name: made.name, token: made.token });
            set({ making: '', tunnel: String(made.id) });
          }}
        />
      )}
      {token && <RunToken of={token} onClose={() => setToken(null)} />}
    </>
  );
}

function List({ onMake }: { onMake: () => void }) {
  const { t } = useTranslation('tunnels');
  const navigate = useNavigate();
  const list = useListState('name', 50);
  const query = useQuery(listOptions('/api/tunnels', { query: list.query }));
  const columns: Column<Tunnel>[] = [
    {
      key: 'name',
      header: t('column.name'),
      sort: 'name',
      lead: true,
      cell: ({ id, name }) => (
        <AppLink to="/tunnels" search={{ tunnel: String(id) }}>
          {name}
        </AppLink>
      ),
    },
    { key: 'state', header: t('column.state'), cell: (row) => <TunnelStatus of={row} /> },
    {
      key: 'hosts',
      header: t('column.hosts'),
      cell: ({ ingress }) =>
        ingress
          .map(({ hostname }) => hostname)
          .filter(Boolean)
          .join(', ') || '–',
    },
    {
      key: 'connections',
      header: t('column.connections'),
      align: 'right',
      cell: ({ connections }) => new Set(connections.map(({ client_id: id }) => id)).size,
    },
  ];
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: '/tunnels' as never, search: { tunnel: String(id) } as never })}
      list={list}
      empty={
        <Empty title={t('empty.title')} text={t('empty.text')} action={<Button onClick={onMake}>{t('make')}</Button>} />
      }
    />
  );
}
