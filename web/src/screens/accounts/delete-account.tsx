import { Button, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { invalidate } from '~/api/query';
import { ConfirmDestructive } from '~/components/confirm';
import { notifyDone } from '~/components/notify';
import type { Account } from './providers';

/** Forgets an account. What hangs on it is named, and then its name has to be typed. */
export function DeleteAccount({ account: { id, name, domains_count } }: { account: Account }) {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const [tunnels, setTunnels] = useState(0);
  const isHeavy = domains_count > 0 || tunnels > 0;
  const remove = async () => {
    try {
      await client.DELETE('/api/accounts/{id}', { params: { path: { id }, query: isHeavy ? { force: true } : {} } });
    } catch (error) {
      const counts = error instanceof ApiError && error.reason === 'needs_force' ? error.data.params : null;
      if (counts) setTunnels((counts as { tunnels: number }).tunnels);
      throw error;
    }
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
