import { Checkbox, Group, NumberInput, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import type { components } from '~/api/schema';
import { changed } from '~/components/changed';
import { FormEnd, SecretInput, useApiForm } from '~/components/form';
import { Section } from '~/components/screen';
import { Status } from '~/components/status';
import { type Given, keyOf, SettingsSection, Waiting } from './section';
import classes from './settings.module.css';

type Smtp = components['schemas']['SmtpView'];

/** The mail server, and a mail to try it. */
export function MailSettings() {
  return (
    <>
      <SettingsSection path="/api/settings/smtp">
        {(given) => (
          <>
            <Waiting section="smtp" of={given.tagged} />
            <MailForm key={keyOf(given.tagged)} {...given} />
          </>
        )}
      </SettingsSection>
      <MailTest />
    </>
  );
}

function MailForm({ value, save }: Given<Smtp>) {
  const { t } = useTranslation('settings');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      enabled: value.enabled,
      host: value.host,
      port: value.port as number | string,
      security: value.security as string,
      username: value.username,
      password: undefined as string | null | undefined,
      from: value.from,
    },
    save: (values, filled) => save(changed(values, filled)),
  });
  return (
    <form onSubmit={onSubmit} className={classes.form} autoComplete="off">
      <Checkbox
        label={t('mail.enabled')}
        description={t('mail.enabledHint')}
        {...form.getInputProps('enabled', { type: 'checkbox' })}
      />
      <div className={classes.pair}>
        <TextInput label={t('mail.host')} placeholder="mail.example.com" {...form.getInputProps('host')} />
        <NumberInput label={t('mail.port')} {...form.getInputProps('port')} />
      </div>
      <Select
        label={t('mail.security')}
        data={['starttls', 'tls', 'none'].map((name) => ({ value: name, label: t(`mail.securities.${name}`) }))}
        allowDeselect={false}
        {...form.getInputProps('security')}
      />
      <TextInput
        label={t('mail.username')}
        description={t('mail.usernameHint')}
        autoComplete="off"
        {...form.getInputProps('username')}
      />
      <SecretInput
        label={t('mail.password')}
        isSet={value.password_set}
        clearable
        value={form.values.password}
        onChange={(password) => form.setFieldValue('password', password)}
        error={form.errors.password}
      />
      <TextInput label={t('mail.from')} placeholder="Zoneward <dns@example.com>" {...form.getInputProps('from')} />
      <FormEnd busy={busy} problem={problem} verb={t('common:save')} />
    </form>
  );
}

function MailTest() {
  const { t } = useTranslation('settings');
  const [result, setResult] = useState<components['schemas']['SmtpTestResult'] | null>(null);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { to: '' },
    save: async (body) => {
      setResult(null);
      const { data } = await client.POST('/api/settings/smtp/test', { body });
      setResult(data ?? null);
    },
  });
  return (
    <Section title={t('mail.test')}>
      <form onSubmit={onSubmit} className={classes.form}>
        <TextInput label={t('mail.to')} description={t('mail.testHint')} type="email" {...form.getInputProps('to')} />
        <div role="status">
          {result && (
            <Group gap="xs">
              <Status is={result.success ? 'good' : 'bad'}>{result.success ? t('mail.sent') : t('mail.failed')}</Status>
              {result.message}
            </Group>
          )}
        </div>
        <FormEnd busy={busy} problem={problem} verb={t('mail.send')} />
      </form>
    </Section>
  );
}
