import { Button, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';

type Team = components['schemas']['TeamView'];

/** The teams that one belongs to; administrators see all. */
export function TeamsScreen() {
  const { t } = useTranslation('teams');
  const navigate = useNavigate();
  const list = useListState('name');
  const query = useQuery(listOptions('/api/teams', { query: list.query }));
  const [isNew, setNew] = useState(false);
  const columns: Column<Team>[] = [
    {
      key: 'name',
      header: t('name'),
      sort: 'name',
      lead: true,
      cell: ({ id, name }) => <AppLink to={`/teams/${id}`}>{name}</AppLink>,
    },
    { key: 'description', header: t('description'), cell: ({ description }) => description || '–' },
    { key: 'mine', header: t('myRole'), cell: ({ my_role }) => (my_role ? t(`role.${my_role}`) : '–') },
    { key: 'members', header: t('members'), align: 'right', cell: ({ member_count }) => member_count },
    { key: 'made', header: t('made'), sort: 'created_at', cell: ({ created_at }) => <Time iso={created_at} /> },
  ];
  const add = <Button onClick={() => setNew(true)}>{t('add')}</Button>;
  return (
    <Screen title={t('title')} about={t('about')} actions={query.data?.total ? add : undefined}>
      <DataTable
        label={t('title')}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: `/teams/${id}` as never })}
        empty={<Empty title={t('empty')} text={t('emptyText')} action={add} />}
      />
      {isNew && <NewTeam onClose={() => setNew(false)} />}
    </Screen>
  );
}

function NewTeam({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('teams');
  const navigate = useNavigate();
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { name: '', description: '' },
    save: async (body) => {
      const { data } = await client.POST('/api/teams', { body });
      await invalidate('/api/teams');
      if (data) await navigate({ to: `/teams/${data.id}` as never });
    },
  });
  return (
    <Dialog opened title={t('add')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <TextInput label={t('name')} data-autofocus {...form.getInputProps('name')} />
          <TextInput label={t('descriptionOptional')} {...form.getInputProps('description')} />
          <FormEnd busy={busy} problem={problem} verb={t('add')} />
        </Stack>
      </form>
    </Dialog>
  );
}
