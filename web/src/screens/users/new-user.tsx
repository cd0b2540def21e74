import { PasswordInput, Select, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { useBootstrap } from '~/session/session';

/** Makes a user with a first password. */
export function NewUser({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('users');
  const navigate = useNavigate();
  const { me, settings } = useBootstrap();
  const roles = ([1, 2, 3] as const).filter((role) => role <= me.role);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { username: '', nickname: '', email: '', role: '1', password: '' },
    save: async ({ username, nickname, email, role, password }) => {
      const more = { ...(nickname && { nickname }), ...(email && { email }) };
      const body = { username, password, role: Number(role) as 1 | 2 | 3, ...more };
      const { data } = await client.POST('/api/users', { body });
      await invalidate('/api/users');
      onClose();
      if (data) await navigate({ to: '/users', search: { user: String(data.id) } as never });
    },
  });
  return (
    <Dialog opened title={t('add')} onClose={onClose}>
      <form onSubmit={onSubmit} autoComplete="off">
        <Stack gap="md">
          <TextInput
            label={t('username')}
            description={t('usernameHint')}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
            {...form.getInputProps('username')}
          />
          <TextInput label={t('nickname')} autoComplete="off" {...form.getInputProps('nickname')} />
          <TextInput label={t('emailOptional')} type="email" autoComplete="off" {...form.getInputProps('email')} />
          <Select
            label={t('role')}
            description={t(`roleText.${form.values.role}`)}
            data={roles.map((role) => ({ value: String(role), label: t(`common:role.${role}`) }))}
            allowDeselect={false}
            {...form.getInputProps('role')}
          />
          <PasswordInput
            label={t('password')}
            description={t('passwordHint', { count: settings.password_policy.min_length })}
            autoComplete="new-password"
            visibilityToggleButtonProps={{ 'aria-label': t('session:showPassword'), tabIndex: 0 }}
            {...form.getInputProps('password')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('add')} />
        </Stack>
      </form>
    </Dialog>
  );
}
