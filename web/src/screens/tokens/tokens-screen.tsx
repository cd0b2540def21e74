import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';
import { useUrlState } from '~/state/use-url-state';
import { NewToken } from './new-token';
import type { Token } from './token-draft';
import { TokenScreen } from './token-screen';
import { TokenState } from './token-state';

/** The own API tokens; `?token=7` shows one of them, `?token=new` makes one. */
export function TokensScreen() {
  const [{ token }] = useUrlState({ token: '' });
  if (token === 'new') return <NewToken />;
  return token ? <TokenScreen key={token} id={Number(token)} /> : <TokenList />;
}

function TokenList() {
  const { t } = useTranslation('tokens');
  const navigate = useNavigate();
  const list = useListState('-created_at');
  const query = useQuery(listOptions('/api/tokens', { query: list.query }));
  const open = (token: string) => void navigate({ to: '/tokens', search: { token } as never });
  const columns: Column<Token>[] = [
    {
      key: 'name',
      header: t('name'),
      sort: 'name',
      lead: true,
      cell: ({ id, name }) => (
        <AppLink to="/tokens" search={{ token: String(id) }}>
          {name}
        </AppLink>
      ),
    },
    { key: 'state', header: t('stateOf'), cell: (token) => <TokenState token={token} /> },
    {
      key: 'may',
      header: t('may'),
      cell: ({ rules, preset, allowed_services }) =>
        preset
          ? t(`preset.${preset}.name`)
          : [
              allowed_services.includes('*') ? t('everything') : allowed_services.join(', '),
              rules && t('rulesCount', { count: rules.length }),
            ]
              .filter(Boolean)
              .join(' · '),
    },
    {
      key: 'domains',
      header: t('domains'),
      cell: ({ allowed_domains }) =>
        allowed_domains.length ? t('domainsCount', { count: allowed_domains.length }) : t('allDomains'),
    },
    {
      key: 'used',
      header: t('lastUsed'),
      cell: ({ last_used_at, last_used_network }) =>
        last_used_at ? (
          <>
            <Time iso={last_used_at} /> <span className="zw-mono">{last_used_network}</span>
          </>
        ) : (
          t('never')
        ),
    },
    { key: 'end', header: t('ends'), cell: ({ end_time }) => (end_time ? <Time iso={end_time} /> : t('never')) },
  ];
  const add = <Button onClick={() => open('new')}>{t('add')}</Button>;
  return (
    <Screen title={t('title')} about={t('about')} actions={query.data?.total ? add : undefined}>
      <DataTable
        label={t('title')}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        onOpen={({ id }) => open(String(id))}
        empty={<Empty title={t('empty')} text={t('emptyText')} action={add} />}
      />
    </Screen>
  );
}
