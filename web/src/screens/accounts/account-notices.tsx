import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { ErrorText } from '~/components/error-text';
import { Time } from '~/components/time';
import { stateOf } from './account-status';
import type { Account } from './providers';

/** What is wrong with an account, why, and what can be done. */
export function AccountNotices({ account }: { account: Account }) {
  const { t } = useTranslation('accounts');
  const { paused_until, pause_reason, last_error, hold_reason } = account;
  return (
    <>
      {stateOf(account, Date.now()) === 'paused' && (
        <div className="zw-notice" data-is="warn" role="status">
          <Text fz="sm" fw={600}>
            {t('notice.paused')} <Time iso={paused_until} />
          </Text>
          {pause_reason && <Text fz="sm">{t('notice.says', { words: pause_reason })}</Text>}
          <Text fz="sm">{t('notice.pausedText')}</Text>
          <Resume id={account.id} />
        </div>
      )}
      {last_error && (
        <div className="zw-notice" data-is="bad" role="status">
          <Text fz="sm" fw={600}>
            {t('notice.failed')}
          </Text>
          <Text fz="sm">{last_error}</Text>
          <Text fz="sm">{t('notice.failedText')}</Text>
        </div>
      )}
      {hold_reason && (
        <div className="zw-notice" data-is="warn" role="status">
          <Text fz="sm" fw={600}>
            {t('notice.held')}
          </Text>
          <Text fz="sm">{hold_reason}</Text>
          <Text fz="sm">{t('notice.heldText')}</Text>
        </div>
      )}
    </>
  );
}

function Resume({ id }: { id: number }) {
  const { t } = useTranslation('accounts');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const resume = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await client.POST('/api/accounts/{id}/resume', { params: { path: { id } } });
      await invalidate('/api/accounts', '/api/dashboard');
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Group gap="sm" mt={6}>
      <Button variant="default" loading={busy} onClick={resume}>
        {t('notice.resume')}
      </Button>
      <ErrorText error={problem} />
    </Group>
  );
}
