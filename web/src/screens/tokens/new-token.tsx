import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { FormEnd, useApiForm } from '~/components/form';
import { Screen } from '~/components/screen';
import { NewSecret } from './new-secret';
import { limitsOf, rulesOf, TokenFields, valuesOf } from './token-form';
import classes from './tokens.module.css';

/** Makes a token, and shows its secret once. */
export function NewToken() {
  const { t } = useTranslation('tokens');
  const navigate = useNavigate();
  const [made, setMade] = useState<components['schemas']['TokenCreated'] | null>(null);
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: valuesOf(null),
    save: async (values) => {
      const { kind, preset } = values;
      const host = preset.host.trim();
      const rights = {
        all: {},
        preset: { preset: { name: preset.name, ...(host && { host }) } },
        rules: { rules: rulesOf(values) },
      };
      const { data } = await client.POST('/api/tokens', { body: { ...limitsOf(values), ...rights[kind] } });
      setMade(data ?? null);
      await invalidate('/api/tokens', '/api/bootstrap');
    },
  });
  const leave = (token?: number) =>
    void navigate({ to: '/tokens', search: (token ? { token: String(token) } : {}) as never, replace: true });
  return (
    <Screen title={t('add')} crumbs={[{ label: t('title'), to: '/tokens' }]}>
      <form onSubmit={onSubmit} className={classes.form}>
        <TokenFields form={form} kinds={['preset', 'rules', 'all']} />
        <FormEnd busy={busy} problem={problem} verb={t('make')}>
          <Button variant="default" onClick={() => leave()}>
            {t('common:cancel')}
          </Button>
        </FormEnd>
      </form>
      {made && <NewSecret secret={made.token} name={made.tokenData.name} onClose={() => leave(made.tokenData.id)} />}
    </Screen>
  );
}
