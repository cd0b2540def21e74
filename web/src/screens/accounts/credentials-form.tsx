import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { FormEnd, useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import classes from './accounts.module.css';
import { CredentialFields, type Credentials } from './credential-fields';
import { type Account, alternativeOf, type Field, type Provider } from './providers';
import { besideFields, isRefusal } from './refusal';

/** What is sent: of secrets what was typed, of others what is not as before; null takes one away. */
function changesOf(fields: readonly Field[], typed: Credentials, before: Record<string, string>): Credentials {
  const changes: Credentials = {};
  for (const { key, secret } of fields) {
    const value = typed[key];
    if (secret ? value !== undefined && value !== '' : (value ?? '') !== (before[key] ?? ''))
      changes[key] = value === '' ? null : value;
  }
  return changes;
}

/** Other credentials for an account: secrets that are left alone are kept. */
export function CredentialsForm({ account, provider }: { account: Account; provider: Provider }) {
  const { t } = useTranslation('accounts');
  const { id, name, credentials: kept } = account;
  const fields = provider.credentials[alternativeOf(provider, (key) => key in kept)] ?? [];
  const isSet = (key: string) => kept[key] !== undefined;
  const [isRefused, setRefused] = useState(false);
  const initial: Credentials = {};
  for (const { key, secret } of fields) initial[key] = secret ? undefined : (kept[key] ?? '');
  const save = async (check: boolean) => {
    const { credentials: typed } = form.getValues();
    try {
      const body = { credentials: changesOf(fields, typed, kept) as Record<string, never> };
      await client.PUT('/api/accounts/{id}', { params: { path: { id }, query: { check } }, body });
      form.setValues({ credentials: initial });
      await invalidate('/api/accounts', '/api/dashboard');
      notifyDone(t('credentials.saved', { name }));
    } catch (error) {
      setRefused(isRefusal(error));
      throw besideFields(error, fields, (key) => Boolean(typed[key]) || isSet(key));
    }
  };
  const { form, onSubmit, busy, problem, run } = useApiForm({
    initialValues: { credentials: initial },
    save: () => save(true),
  });
  const isChanged = Object.keys(changesOf(fields, form.values.credentials, kept)).length > 0;
  if (fields.every(({ key }) => key === 'endpoint') && !isSet('endpoint'))
    return <Text fz="sm">{t('credentials.none')}</Text>;
  return (
    <form onSubmit={onSubmit} className={classes.form} aria-label={t('credentials.title')} noValidate>
      <Text fz="sm" c="dimmed" mb="sm">
        {t('credentials.about')}
      </Text>
      <Stack gap="sm">
        <CredentialFields fields={fields} form={form as never} isSet={isSet} />
      </Stack>
      {isChanged && (
        <FormEnd busy={busy} problem={problem} verb={t('credentials.verb')}>
          {isRefused && (
            <Button variant="default" loading={busy} onClick={() => void run(() => save(false))}>
              {t('credentials.unchecked')}
            </Button>
          )}
          <Button variant="default" onClick={() => form.reset()}>
            {t('common:cancel')}
          </Button>
        </FormEnd>
      )}
    </form>
  );
}
