import { Button, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { Section } from '~/components/screen';
import { useBootstrap } from '~/session/session';
import { useFresh } from './fresh';

/** The own password: replaced, never shown. */
export function PasswordSection() {
  const { t } = useTranslation('profile');
  const [opened, setOpened] = useState(false);
  return (
    <Section
      title={t('password.title')}
      actions={
        <Button variant="default" onClick={() => setOpened(true)}>
          {t('password.change')}
        </Button>
      }
    >
      <Text fz="sm" c="dimmed" maw="70ch">
        {t('password.about')}
      </Text>
      {opened && <PasswordDialog onClose={() => setOpened(false)} />}
    </Section>
  );
}

function PasswordDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('profile');
  const { settings, me } = useBootstrap();
  const { fresh, dialog } = useFresh();
  const eye = { 'aria-label': t('session:showPassword'), tabIndex: 0 };
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { old_password: '', new_password: '' },
    save: async (body) => {
      if ((await fresh(() => client.POST('/api/auth/password', { body }))) === null) return;
      await invalidate('/api/auth/sessions');
      notifyDone(t('password.changed'));
      onClose();
    },
  });
  return (
    <Dialog opened title={t('password.change')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <input type="text" name="username" autoComplete="username" value={me.username} readOnly hidden />
        <Stack gap="md">
          <PasswordInput
            label={t('password.old')}
            autoComplete="current-password"
            visibilityToggleButtonProps={eye}
            data-autofocus
            {...form.getInputProps('old_password')}
          />
          <PasswordInput
            label={t('password.new')}
            description={t('password.hint', { count: settings.password_policy.min_length })}
            autoComplete="new-password"
            visibilityToggleButtonProps={eye}
            {...form.getInputProps('new_password')}
          />
          <FormEnd busy={busy} problem={problem} verb={t('password.change')} />
        </Stack>
      </form>
      {dialog}
    </Dialog>
  );
}
