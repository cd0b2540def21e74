import { PasswordInput, Stack, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { FormEnd, useApiForm } from '~/components/form';
import { SetupCode, wantsCode } from './database-step';

/** The first administrator, who is signed in at once. */
export function AdminStep({ onDone }: { onDone: (username: string, password: string) => Promise<void> }) {
  const { t } = useTranslation('entry');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { username: '', password: '', email: '', setup_code: '' },
    save: async ({ username, password, email, setup_code }) => {
      const body = { username, password, ...(email && { email }), ...(setup_code && { setup_code }) };
      await quietClient.POST('/api/init/admin', { body });
      await onDone(username, password);
    },
  });
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="sm">
        <TextInput
          label={t('admin.username')}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          required
          {...form.getInputProps('username')}
        />
        <PasswordInput
          label={t('admin.password')}
          description={t('admin.passwordHint')}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('showPassword'), tabIndex: 0 }}
          required
          {...form.getInputProps('password')}
        />
        <TextInput
          label={t('admin.email')}
          description={t('admin.emailHint')}
          type="email"
          autoComplete="email"
          {...form.getInputProps('email')}
        />
        <SetupCode
          shown={wantsCode(problem) || form.getValues().setup_code !== ''}
          {...form.getInputProps('setup_code')}
        />
        <FormEnd busy={busy} problem={problem} verb={t('admin.create')} />
      </Stack>
    </form>
  );
}
