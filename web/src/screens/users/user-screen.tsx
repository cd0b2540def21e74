import { Select, Stack, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { changed } from '~/components/changed';
import { ExplainForm } from '~/components/explain-form';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Facts } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { Role, type User, useMay, useMe } from '~/session/session';
import { UserAccess } from './user-access';

/** One user: who it is, what opens the account, and what the user may do. */
export function UserScreen({ id }: { id: number }) {
  const { t } = useTranslation('users');
  const params = { params: { path: { id } } };
  const user = $api.useQuery('get', '/api/users/{id}', params);
  const me = useMe();
  const mayChange = useMay(Role.Super);
  return (
    <Screen
      title={user.data?.username ?? t('one')}
      crumbs={[{ label: t('title'), to: '/users' }]}
      about={user.data && (user.data.id === me.id ? t('isYou') : undefined)}
    >
      <Loaded query={user}>
        {(data) => (
          <>
            <Section title={t('state')}>
              <Facts
                of={[
                  [
                    t('stateOf'),
                    <Status key="state" is={data.status ? 'good' : 'off'}>
                      {data.status ? t('active') : t('locked')}
                    </Status>,
                  ],
                  [
                    t('factor'),
                    <Status key="factor" is={data.totp_enabled ? 'good' : 'off'}>
                      {data.totp_enabled ? t('factorOn') : t('factorOff')}
                    </Status>,
                  ],
                  [
                    t('lastLogin'),
                    data.last_login_at ? <Time key="login" iso={data.last_login_at} exact /> : t('never'),
                  ],
                  [t('made'), <Time key="made" iso={data.created_at} exact />],
                ]}
              />
            </Section>
            {!mayChange ? (
              <Text fz="sm" c="dimmed" mt="lg">
                {t('readOnly')}
              </Text>
            ) : (
              <>
                <Section title={t('person')}>
                  <PersonForm key={data.id} user={data} />
                </Section>
                <UserAccess user={data} />
              </>
            )}
            <Section title={t('explain')}>
              <Text fz="sm" c="dimmed" mb="sm" maw="70ch">
                {t('explainText')}
              </Text>
              <ExplainForm
                source="/api/domains"
                explain={async (body) => {
                  const { data } = await client.POST('/api/users/{id}/explain', { ...params, body });
                  return data as components['schemas']['Explanation'];
                }}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Screen>
  );
}

function PersonForm({ user }: { user: User }) {
  const { t } = useTranslation('users');
  const me = useMe();
  const roles = ([1, 2, 3] as const).filter((role) => role <= me.role);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { nickname: user.nickname, email: user.email ?? '', role: String(user.role) },
    save: async (values, filled) => {
      const bodyOf = ({ nickname, email, role }: typeof values) => ({
        nickname,
        email: email || null,
        role: Number(role) as User['role'],
      });
      // a role that somebody else has given meanwhile stays
      const body = changed(bodyOf(values), bodyOf(filled));
      await client.PUT('/api/users/{id}', { params: { path: { id: user.id } }, body });
      await invalidate('/api/users', ...(user.id === me.id ? ['/api/bootstrap'] : []));
      notifyDone(t('saved', { name: user.username }));
    },
  });
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="md" maw={460}>
        <TextInput label={t('nickname')} {...form.getInputProps('nickname')} />
        <TextInput label={t('emailOptional')} type="email" {...form.getInputProps('email')} />
        <Select
          label={t('role')}
          description={t(`roleText.${form.values.role}`)}
          data={roles.map((role) => ({ value: String(role), label: t(`common:role.${role}`) }))}
          allowDeselect={false}
          {...form.getInputProps('role')}
        />
        <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
      </Stack>
    </form>
  );
}
