import { Button, Stack, TextInput } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { changed } from '~/components/changed';
import { ConfirmDestructive } from '~/components/confirm';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { Row, Rows } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Role, useMay } from '~/session/session';
import { TeamMembers } from './team-members';
import { TeamPermissions } from './team-permissions';

type Team = components['schemas']['TeamDetail'];

/** One team: its members, and what they may do with domains. */
export function TeamScreen() {
  const { t } = useTranslation('teams');
  const { teamId } = useParams({ strict: false }) as { teamId: string };
  const id = Number(teamId);
  const team = $api.useQuery('get', '/api/teams/{id}', { params: { path: { id } } });
  const isAdmin = useMay(Role.Admin);
  const isOwner = isAdmin || team.data?.my_role === 'owner';
  const mayManage = isOwner || team.data?.my_role === 'manager';
  const [isEdited, setEdited] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  return (
    <Screen
      title={team.data?.name ?? t('team.title')}
      crumbs={[{ label: t('title'), to: '/teams' }]}
      about={team.data?.description}
      actions={
        team.data && (
          <>
            {isOwner && (
              <Button variant="default" onClick={() => setDeleting(true)}>
                {t('delete')}
              </Button>
            )}
            {mayManage && (
              <Button variant="default" onClick={() => setEdited(true)}>
                {t('change')}
              </Button>
            )}
          </>
        )
      }
    >
      <Loaded query={team}>
        {(data) => (
          <>
            <TeamMembers id={id} mayManage={mayManage} mayName={isOwner} />
            <TeamPermissions id={id} mayManage={mayManage} />
            {data.accounts.length > 0 && (
              <Section title={t('accounts')}>
                <Rows label={t('accounts')}>
                  {data.accounts.map(({ id, name, provider }) => (
                    <Row key={id} more={provider}>
                      {name}
                    </Row>
                  ))}
                </Rows>
              </Section>
            )}
            {isEdited && <EditTeam team={data} onClose={() => setEdited(false)} />}
            <ConfirmDestructive
              opened={isDeleting}
              onClose={() => setDeleting(false)}
              title={t('deleteAsk', { name: data.name })}
              verb={t('delete')}
              typed={data.name}
              onConfirm={async () => {
                await client.DELETE('/api/teams/{id}', { params: { path: { id } } });
                await navigate({ to: '/teams' });
                await invalidate('/api/teams');
              }}
            >
              {t('deleteText')}
            </ConfirmDestructive>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function EditTeam({ team, onClose }: { team: Team; onClose: () => void }) {
  const { t } = useTranslation('teams');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { name: team.name, description: team.description },
    save: async (values, filled) => {
      const body = changed(values, filled);
      await client.PUT('/api/teams/{id}', { params: { path: { id: team.id } }, body });
      await invalidate('/api/teams');
      onClose();
    },
  });
  return (
    <Dialog opened title={t('changeTitle', { name: team.name })} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <TextInput label={t('name')} data-autofocus {...form.getInputProps('name')} />
          <TextInput label={t('descriptionOptional')} {...form.getInputProps('description')} />
          <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
        </Stack>
      </form>
    </Dialog>
  );
}
