import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { ConfirmDestructive } from '~/components/confirm';
import { notifyDone } from '~/components/notify';
import { useForced } from '~/components/use-forced';
import type { Account } from './providers';

/** Forgets an account. What hangs on it is named, and then its name has to be typed. */
export function DeleteAccount({ account: { id, name, domains_count } }: { account: Account }) {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const { refusal, run } = useForced(({ reason }) => reason === 'needs_force');
  const { tunnels = 0 } = (refusal?.data.params ?? {}) as { tunnels?: number };
  const isHeavy = domains_count > 0 || refusal !== null;
  const remove = async () => {
    const query = isHeavy ? { force: true } : {};
    await run(() => client.DELETE('/api/accounts/{id}', { params: { path: { id }, query } }));
    await navigate({ to: '/accounts' });
    await invalidate('/api/accounts', '/api/domains', '/api/dashboard', '/api/bootstrap');
    notifyDone(t('delete.done', { name }));
  };
  return (
    <>
      <Text fz="sm" mb="sm">
        {t('delete.about')}
      </Text>
      <Button variant="default" c="var(--mantine-color-error)" onClick={() => setAsks(true)}>
        {t('delete.verb')}
      </Button>
      <ConfirmDestructive
        opened={asks}
        onClose={() => setAsks(false)}
        title={t('delete.title', { name })}
        verb={t('delete.verb')}
        {...(isHeavy && { typed: name })}
        onConfirm={remove}
      >
        {isHeavy ? t('delete.heavy', { domains: domains_count, tunnels }) : t('delete.light')} {t('delete.nothing')}
      </ConfirmDestructive>
    </>
  );
}
