import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import type { components } from '~/api/schema';
import { Copy } from '~/components/copy';
import { Dialog } from '~/components/dialog';
import { Failure } from '~/components/state-block';
import { Status } from '~/components/status';

/** Checks the chain of all entries, and says where it is broken. */
export function VerifyDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('audit');
  const verdict = useQuery({
    queryKey: ['get', '/api/audit/verify'],
    queryFn: async ({ signal }) =>
      (await client.GET('/api/audit/verify', { signal })).data as components['schemas']['AuditVerdict'],
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, error, refetch } = verdict;
  return (
    <Dialog opened title={t('verify')} onClose={onClose} size="lg">
      <Stack gap="md">
        {!data && !error && (
          <div>
            <Text fz="sm" mb={4}>
              {t('verifying')}
            </Text>
            <Progress value={100} animated aria-label={t('verifying')} />
          </div>
        )}
        {error && !data && <Failure error={error} retry={refetch} />}
        <div role="status">
          {data && (
            <>
              <Status is={data.ok ? 'good' : 'bad'}>{data.ok ? t('whole') : t('broken')}</Status>
              <Text fz="sm" mt="sm">
                {t('checked', { count: data.entries })}
              </Text>
              {data.first_bad_seq !== null && <Text fz="sm">{t('firstBad', { seq: data.first_bad_seq })}</Text>}
              {data.reason && <Text fz="sm">{data.reason}</Text>}
            </>
          )}
        </div>
        {data?.checkpoint && (
          <Group gap="xs" wrap="nowrap" align="flex-start">
            <Text fz="sm" c="dimmed">
              {t('checkpoint')}
            </Text>
            <Copy text={JSON.stringify(data.checkpoint, null, 2)} label={t('copyCheckpoint')} />
          </Group>
        )}
        <Button ml="auto" variant="default" onClick={onClose}>
          {t('common:close')}
        </Button>
      </Stack>
    </Dialog>
  );
}
