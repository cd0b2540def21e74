import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { changed } from '~/components/changed';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { AccountFields } from './account-fields';
import classes from './accounts.module.css';
import type { Account } from './providers';

export function SettingsForm({ account }: { account: Account }) {
  const { t } = useTranslation('accounts');
  const { id, name, remark, team_id, sync_interval_minutes } = account;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { name, remark, team_id, sync_interval_minutes },
    save: async (values, filled) => {
      const body = changed(values, filled);
      await client.PUT('/api/accounts/{id}', { params: { path: { id } }, body });
      await invalidate('/api/accounts', '/api/dashboard');
      notifyDone(t('settings.saved', { name: values.name }));
    },
  });
  return (
    <form onSubmit={onSubmit} className={classes.form} aria-label={t('settings.title')}>
      <Stack gap="sm">
        <AccountFields form={form} />
      </Stack>
      <FormEnd busy={busy} problem={problem} verb={t('settings.save')} />
    </form>
  );
}
