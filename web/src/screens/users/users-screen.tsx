import { Button, Select } from '@mantine/core';
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
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Role, type User, useMay } from '~/session/session';
import { useUrlState } from '~/state/use-url-state';
import { NewUser } from './new-user';
import { UserScreen } from './user-screen';

/** All users; `?user=7` shows one of them. */
export function UsersScreen() {
  const { t } = useTranslation('users');
  const [{ user }] = useUrlState({ user: '' });
  return (
    <RoleGate role={Role.Admin}>
      {user ? <UserScreen key={user} id={Number(user)} /> : <UserList title={t('title')} />}
    </RoleGate>
  );
}

function UserList({ title }: { title: string }) {
  const { t } = useTranslation('users');
  const navigate = useNavigate();
  const list = useListState('username');
  const [filter, setFilter] = useUrlState({ role: '', status: '', page: '1' });
  const query = useQuery(
    listOptions('/api/users', { query: { ...list.query, role: filter.role, status: filter.status } }),
  );
  const mayChange = useMay(Role.Super);
  const [isNew, setNew] = useState(false);
  const columns: Column<User>[] = [
    {
      key: 'username',
      header: t('username'),
      sort: 'username',
      lead: true,
      cell: ({ id, username, nickname }) => (
        <>
          <AppLink to="/users" search={{ user: String(id) }}>
            {username}
          </AppLink>
          {nickname !== username && ` ${nickname}`}
        </>
      ),
    },
    { key: 'role', header: t('role'), cell: ({ role }) => t(`common:role.${role}`) },
    {
      key: 'status',
      header: t('stateOf'),
      cell: ({ status }) => <Status is={status ? 'good' : 'off'}>{status ? t('active') : t('locked')}</Status>,
    },
    {
      key: 'factor',
      header: t('factor'),
      cell: ({ totp_enabled }) => (
        <Status is={totp_enabled ? 'good' : 'off'}>{totp_enabled ? t('factorOn') : t('factorOff')}</Status>
      ),
    },
    { key: 'email', header: t('email'), cell: ({ email }) => email ?? '–' },
    {
      key: 'login',
      header: t('lastLogin'),
      sort: 'last_login_at',
      cell: ({ last_login_at }) => (last_login_at ? <Time iso={last_login_at} /> : t('never')),
    },
  ];
  const add = mayChange && <Button onClick={() => setNew(true)}>{t('add')}</Button>;
  return (
    <Screen title={title} about={t('about')} actions={add}>
      <DataTable
        label={title}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/users', search: { user: String(id) } as never })}
        searchLabel={t('search')}
        filters={
          <>
            <Select
              size="xs"
              w={170}
              aria-label={t('role')}
              data={[
                { value: '', label: t('anyRole') },
                ...[1, 2, 3].map((role) => ({ value: String(role), label: t(`common:role.${role}`) })),
              ]}
              allowDeselect={false}
              value={filter.role}
              onChange={(role) => setFilter({ role: role ?? '' })}
            />
            <Select
              size="xs"
              w={130}
              aria-label={t('stateOf')}
              data={[
                { value: '', label: t('anyState') },
                { value: '1', label: t('active') },
                { value: '0', label: t('locked') },
              ]}
              allowDeselect={false}
              value={filter.status}
              onChange={(status) => setFilter({ status: status ?? '' })}
            />
          </>
        }
        empty={<Empty title={t('title')} text={t('about')} action={add} />}
      />
      {isNew && <NewUser onClose={() => setNew(false)} />}
    </Screen>
  );
}
