import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AppLink } from '~/components/app-link';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import type { Plan } from './settle';
import type { Publish } from './use-publish';

/** It waits for an approval: until when, and how to take it back. */
export function Waiting({ plan, publish }: { plan: Plan; publish: Publish }) {
  const { t } = useTranslation('zone');
  const [error, setError] = useState<unknown>(null);
  return (
    <Stack gap="sm">
      <div role="status">
        <Status is="busy">{t('publish.waits')}</Status>
      </div>
      <Text fz="sm">
        {t('publish.waitsText')} <Time iso={plan.expires_at} />
      </Text>
      <DiffView changes={plan.changes} label={t('publish.changes')} />
      <ErrorText error={error} />
      <Group justify="space-between" gap="sm">
        <AppLink to={`/plans/${plan.id}`} fz="sm">
          {t('publish.toPlan', { id: plan.id })}
        </AppLink>
        <Group gap="sm">
          <Button variant="default" onClick={() => void publish.withdraw().catch(setError)}>
            {t('publish.withdraw')}
          </Button>
          <Button onClick={publish.close}>{t('publish.back')}</Button>
        </Group>
      </Group>
    </Stack>
  );
}
