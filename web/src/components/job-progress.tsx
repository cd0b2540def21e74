import { Progress, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEvent } from '~/api/events';
import { $api } from '~/api/query';
import { Failure } from './state-block';
import { Status } from './status';

interface Props {
  id: number;
  /** what it does, in words */
  label: string;
  /** once, when it has ended */
  onEnd?: (failed: boolean) => void;
}

const STATES = { done: 'good', failed: 'bad', running: 'busy', waiting: 'busy' } as const;

/** The progress of a job that goes on by itself: told by the event stream, read anew now and then. */
export function JobProgress({ id, label, onEnd }: Props) {
  const { t } = useTranslation('common');
  const params = { params: { path: { id } } };
  const job = $api.useQuery('get', '/api/system/jobs/{id}', params, {
    refetchInterval: ({ state }) => (['done', 'failed'].includes(state.data?.state ?? '') ? false : 3000),
  });
  const [told, setTold] = useState<Record<string, unknown> | null>(null);
  useEvent('job.progress', ({ job_id, progress }) => {
    if (job_id === id) setTold(progress as Record<string, unknown> | null);
  });
  const state = job.data?.state;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each state
  useEffect(() => {
    if (state === 'done' || state === 'failed') onEnd?.(state === 'failed');
  }, [state]);
  if (!job.data) return job.error ? <Failure error={job.error} retry={job.refetch} /> : null;
  const progress = (told ?? job.data.progress ?? {}) as { done?: number; total?: number };
  const part = progress.total ? Math.round((100 * (progress.done ?? 0)) / progress.total) : null;
  return (
    <div>
      <Text fz="sm" component="div">
        {label} <Status is={STATES[job.data.state]}>{t(`job.${job.data.state}`)}</Status>
        {part !== null && ` ${t('job.of', { done: progress.done ?? 0, total: progress.total })}`}
      </Text>
      {(job.data.state === 'running' || job.data.state === 'waiting') && (
        <Progress value={part ?? 100} animated={part === null} aria-label={label} mt={4} />
      )}
      {job.data.last_error && (
        <Text fz="sm" c="var(--mantine-color-error)">
          {job.data.last_error}
        </Text>
      )}
    </div>
  );
}
