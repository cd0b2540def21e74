import { Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { DiffView } from '~/components/diff-view';
import { ErrorText } from '~/components/error-text';
import { Time } from '~/components/time';
import type { Phase } from './use-publish';

interface Props {
  domain: number;
  phase: Extract<Phase, { is: 'stale' }>;
  onAgain: () => void;
  onClose: () => void;
}

/** Somebody was faster: what they changed, who it was, and that nothing of one's own is lost. */
export function Conflict({ domain, phase, onAgain, onClose }: Props) {
  const { t } = useTranslation('zone');
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const newest = $api.useQuery('get', '/api/domains/{domain_id}/versions', {
    params: { path: { domain_id: String(domain) }, query: { limit: 1 } },
  });
  const last = newest.data?.list[0];
  const who = last?.actor.username ?? last?.actor.token_name;
  return (
    <Stack gap="sm">
      <Text>{t('conflict.text')}</Text>
      {last && (
        <Text fz="sm">
          {who ? t('conflict.by', { who }) : t('conflict.byDoor', { door: last.door })} <Time iso={last.created_at} />
        </Text>
      )}
      {phase.differences.length > 0 ? (
        <DiffView
          label={t('conflict.differences')}
          changes={phase.differences.map(({ host, type, planned_on, found }) => ({
            op: found ? (planned_on ? 'update' : 'create') : 'delete',
            host,
            type,
            before: planned_on,
            after: found,
          }))}
        />
      ) : (
        <ErrorText error={phase.error} />
      )}
      <Text fz="sm">{t('conflict.kept')}</Text>
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={onClose}>
          {t('publish.back')}
        </Button>
        <Button ref={button} onClick={onAgain}>
          {t('conflict.again')}
        </Button>
      </Group>
    </Stack>
  );
}
