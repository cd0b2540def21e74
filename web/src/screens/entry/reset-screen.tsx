import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { quietClient } from '~/api/client';
import { AppLink } from '~/components/app-link';
import { FormEnd, useApiForm } from '~/components/form';
import { useBareAddress } from './bare-address';
import { EntryFrame } from './entry-frame';

/** The token of the mail, behind the `#` of the address. */
const readToken = (): string => new URLSearchParams(location.hash.slice(1)).get('token') ?? '';

/** Asks for a mail with a link; with its token in the address, for the new password. */
export function ResetScreen() {
  const [token] = useState(readToken);
  useBareAddress();
  return token ? <NewPassword token={token} /> : <AskForMail />;
}

function AskForMail() {
  const { t } = useTranslation('entry');
  const [sent, setSent] = useState(false);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { username: '' },
    renamed: { email: 'username' },
    save: async ({ username }) => {
      const body = username.includes('@') ? { email: username } : { username };
      await quietClient.POST('/api/auth/password-reset', { body });
      setSent(true);
    },
  });
  return (
    <EntryFrame title={t('reset.title')} text={sent ? undefined : t('reset.text')}>
      {sent ? (
        <Text fz="sm" role="status">
          {t('reset.sent')}
        </Text>
      ) : (
        <form onSubmit={onSubmit}>
          <Stack gap="sm">
            <TextInput
              label={t('reset.name')}
              autoComplete="username"
              autoFocus
              required
              {...form.getInputProps('username')}
            />
            <FormEnd busy={busy} problem={problem} verb={t('reset.send')} />
          </Stack>
        </form>
      )}
      <p>
        <AppLink to="/sign-in" fz="sm">
          {t('toSignIn')}
        </AppLink>
      </p>
    </EntryFrame>
  );
}

function NewPassword({ token }: { token: string }) {
  const { t } = useTranslation('entry');
  const navigate = useNavigate();
  const [done, setDone] = useState(false);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { password: '', again: '' },
    validate: { again: (again, { password }) => (again === password ? null : t('reset.differ')) },
    save: async ({ password }) => {
      await quietClient.POST('/api/auth/password-reset/confirm', { body: { token, password } });
      setDone(true);
    },
  });
  const shows = { 'aria-label': t('showPassword'), tabIndex: 0 };
  if (done)
    return (
      <EntryFrame title={t('reset.changed')} text={t('reset.changedText')}>
        <Button size="sm" fullWidth onClick={() => void navigate({ to: '/sign-in' })}>
          {t('toSignIn')}
        </Button>
      </EntryFrame>
    );
  return (
    <EntryFrame title={t('reset.new')}>
      <form onSubmit={onSubmit}>
        <Stack gap="sm">
          <PasswordInput
            label={t('reset.new')}
            description={t('admin.passwordHint')}
            autoComplete="new-password"
            visibilityToggleButtonProps={shows}
            autoFocus
            required
            {...form.getInputProps('password')}
          />
          <PasswordInput
            label={t('reset.again')}
            autoComplete="new-password"
            visibilityToggleButtonProps={shows}
            required
            {...form.getInputProps('again')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('reset.change')} />
        </Stack>
      </form>
    </EntryFrame>
  );
}
