import { Button, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { ConfirmDestructive } from '~/components/confirm';
import { type Column, DataTable } from '~/components/data-table';
import { Dialog } from '~/components/dialog';
import { ErrorText } from '~/components/error-text';
import { FormEnd, useApiForm } from '~/components/form';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';
import { useMe } from '~/session/session';
import { useLocalList } from './use-local-list';

type Member = components['schemas']['MemberView'];
type TeamRole = Member['role'];
const ROLES: TeamRole[] = ['member', 'manager', 'owner'];

interface Props {
  id: number;
  /** may take members in and out */
  mayManage: boolean;
  /** may make owners and managers */
  mayName: boolean;
}

/** Who is in a team, and as what. */
export function TeamMembers({ id, mayManage, mayName }: Props) {
  const { t } = useTranslation('teams');
  const me = useMe();
  const list = useLocalList('username');
  const query = useQuery(listOptions('/api/teams/{id}/members', { path: { id }, query: list.query }));
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<Member | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const give = async (userId: number, role: TeamRole) => {
    setProblem(null);
    await client
      .PUT('/api/teams/{id}/members/{userId}', { params: { path: { id, userId } }, body: { role } })
      .catch(setProblem);
    await invalidate('/api/teams');
  };
  const columns: Column<Member>[] = [
    {
      key: 'username',
      header: t('member'),
      sort: 'username',
      lead: true,
      cell: ({ username, nickname }) => (nickname === username ? username : `${username} ${nickname}`),
    },
    {
      key: 'role',
      header: t('roleIn'),
      sort: 'role',
      cell: ({ user_id, username, role }) =>
        mayName ? (
          <Select
            size="xs"
            w={140}
            aria-label={t('roleOf', { name: username })}
            data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
            allowDeselect={false}
            value={role}
            onChange={(next) => next && next !== role && void give(user_id, next as TeamRole)}
          />
        ) : (
          t(`role.${role}`)
        ),
    },
    { key: 'joined', header: t('joined'), sort: 'joined_at', cell: ({ joined_at }) => <Time iso={joined_at} /> },
    {
      key: 'out',
      header: t('actions'),
      align: 'right',
      cell: (member) =>
        (mayManage || member.user_id === me.id) && (
          <Button
            variant="subtle"
            aria-label={member.user_id === me.id ? undefined : t('removeOne', { name: member.username })}
            onClick={() => setRemoved(member)}
          >
            {member.user_id === me.id ? t('leave') : t('remove')}
          </Button>
        ),
    },
  ];
  const add = mayManage && (
    <Button variant="default" onClick={() => setNew(true)}>
      {t('addMember')}
    </Button>
  );
  return (
    <Section title={t('members')} actions={add}>
      <ErrorText error={problem} />
      <DataTable
        label={t('members')}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ user_id }) => user_id}
        empty={<Empty title={t('noMembers')} text={t('noMembersText')} action={add} />}
      />
      {isNew && <NewMember id={id} mayName={mayName} onClose={() => setNew(false)} />}
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={
          removed?.user_id === me.id
            ? t('leaveAsk', { name: removed?.username })
            : t('removeAsk', { name: removed?.username })
        }
        verb={removed?.user_id === me.id ? t('leave') : t('remove')}
        onConfirm={async () => {
          const userId = removed?.user_id as number;
          await client.DELETE('/api/teams/{id}/members/{userId}', { params: { path: { id, userId } } });
          await invalidate('/api/teams');
        }}
      >
        {t('removeText')}
      </ConfirmDestructive>
    </Section>
  );
}

function NewMember({ id, mayName, onClose }: { id: number; mayName: boolean; onClose: () => void }) {
  const { t } = useTranslation('teams');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { username: '', role: 'member' as TeamRole },
    save: async (body) => {
      await client.POST('/api/teams/{id}/members', { params: { path: { id } }, body });
      await invalidate('/api/teams');
      onClose();
    },
  });
  const roles = mayName ? ROLES : (['member'] as const);
  return (
    <Dialog opened title={t('addMember')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <TextInput
            label={t('username')}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            {...form.getInputProps('username')}
          />
          <Select
            label={t('roleIn')}
            description={t(`roleText.${form.values.role}`)}
            data={roles.map((value) => ({ value, label: t(`role.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps('role')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('addMember')} />
        </Stack>
      </form>
    </Dialog>
  );
}
