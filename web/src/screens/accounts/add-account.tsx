import { Button, Radio, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { FormEnd, useApiForm } from '~/components/form';
import { Screen, Section } from '~/components/screen';
import { Empty, Loaded } from '~/components/state-block';
import { AboutProvider, Capabilities } from './about-provider';
import { AccountFields } from './account-fields';
import classes from './accounts.module.css';
import { CredentialFields, type Credentials } from './credential-fields';
import { ProviderPicker } from './provider-picker';
import { type Provider, useProviders } from './providers';
import { besideFields, isRefusal } from './refusal';

/** @param kind null: it is still to be chosen */
export function AddAccount({ kind, onKind }: { kind: string | null; onKind: (kind: string) => void }) {
  const { t } = useTranslation('accounts');
  const providers = useProviders();
  return (
    <Screen title={t('add.title')} crumbs={[{ label: t('title'), to: '/accounts' }]}>
      <Loaded query={providers}>
        {(all) => {
          if (!kind) return <ProviderPicker providers={all} />;
          const provider = all.find((one) => one.kind === kind);
          const back = <Button onClick={() => onKind('choose')}>{t('add.other')}</Button>;
          if (!provider) return <Empty title={t('add.none', { kind })} text={t('add.unknown')} action={back} />;
          return <AddForm key={kind} provider={provider} onOther={() => onKind('choose')} />;
        }}
      </Loaded>
    </Screen>
  );
}

function AddForm({ provider, onOther }: { provider: Provider; onOther: () => void }) {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const { kind, label, credentials, alternatives } = provider;
  const [alternative, setAlternative] = useState(0);
  const [isRefused, setRefused] = useState(false);
  const fields = credentials[alternative] ?? [];
  const initial: Credentials = {};
  for (const { key, values, default: usual } of credentials.flat()) initial[key] = values ? (usual ?? '') : '';

  const save = async (check: boolean) => {
    const { credentials: typed, ...rest } = form.getValues();
    const filled = fields.filter(({ key }) => typed[key]).map(({ key }) => [key, typed[key]]);
    try {
      const body = { ...rest, provider: kind, credentials: Object.fromEntries(filled) };
      const { data } = await client.POST('/api/accounts', { body, params: { query: { check } } });
      if (!data) return;
      const path = { id: data.id };
      // its zones are wanted at once; what goes wrong with it is shown at the account
      const begun = await client
        .POST('/api/accounts/{id}/sync', { params: { path, query: { wait: 0 } } })
        .catch(() => null);
      const job = (begun?.data as { job_id?: number } | undefined)?.job_id;
      await invalidate('/api/accounts', '/api/bootstrap', '/api/dashboard');
      await navigate({ to: `/accounts/${data.id}` as never, search: (job ? { job } : {}) as never });
    } catch (error) {
      setRefused(isRefusal(error));
      throw besideFields(error, fields, (key) => Boolean(typed[key]));
    }
  };
  const { form, onSubmit, busy, problem, run } = useApiForm({
    initialValues: {
      name: label,
      remark: '',
      team_id: null as number | null,
      sync_interval_minutes: 60,
      credentials: initial,
    },
    save: () => save(true),
  });
  return (
    <div className={classes.columns}>
      <form onSubmit={onSubmit} aria-label={t('add.formOf', { label })} noValidate>
        <Section
          title={label}
          actions={
            <Button variant="default" onClick={onOther}>
              {t('add.other')}
            </Button>
          }
        >
          <Stack gap="sm">
            {alternatives.length > 1 && (
              <Radio.Group
                label={t('add.alternative')}
                value={String(alternative)}
                onChange={(value) => {
                  setAlternative(Number(value));
                  form.clearErrors();
                }}
              >
                <Stack gap={6} mt={4}>
                  {alternatives.map(({ label: one }, i) => (
                    <Radio key={one} value={String(i)} label={one} size="xs" />
                  ))}
                </Stack>
              </Radio.Group>
            )}
            <CredentialFields fields={fields} form={form as never} />
          </Stack>
        </Section>
        <Section title={t('add.about')}>
          <Stack gap="sm">
            <AccountFields form={form} />
          </Stack>
        </Section>
        <FormEnd busy={busy} problem={problem} verb={t('add.verb')}>
          {isRefused && (
            <Button variant="default" loading={busy} onClick={() => void run(() => save(false))}>
              {t('add.unchecked')}
            </Button>
          )}
        </FormEnd>
      </form>
      <aside className={classes.aside} aria-label={t('add.aside')}>
        <AboutProvider provider={provider} />
        <Capabilities provider={provider} />
      </aside>
    </div>
  );
}
