import { Progress, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useEvent } from '~/api/events';
import { $api } from '~/api/query';
import type { components } from '~/api/schema';
import { Failure, Loading } from '~/components/state-block';
import { Status } from '~/components/status';
import classes from './accounts.module.css';

type SyncResult = components['schemas']['SyncResult'];

/** How far a synchronisation is. */
interface Zones {
  zones: number;
  done: number;
  failed: number;
  reading: string[];
  errors: { domain: string; error: string }[];
}

const READING = 5;

/** A synchronisation as it goes on: told by the event stream, read anew now and then. */
export function SyncProgress({ job, onEnd }: { job: number; onEnd: () => void }) {
  const { t } = useTranslation('accounts');
  const query = $api.useQuery(
    'get',
    '/api/system/jobs/{id}',
    { params: { path: { id: job } } },
    { refetchInterval: ({ state }) => (['done', 'failed'].includes(state.data?.state ?? '') ? false : 2000) },
  );
  const [told, setTold] = useState<Zones | null>(null);
  useEvent('job.progress', ({ job_id, progress }) => {
    if (job_id === job) setTold(progress as unknown as Zones);
  });
  const again = ({ job_id }: { job_id: number }) => job_id === job && void query.refetch();
  useEvent('job.done', again);
  useEvent('job.failed', again);
  const { data } = query;
  const ended = data?.state === 'done' || data?.state === 'failed';
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it has ended
  useEffect(() => {
    if (ended) onEnd();
  }, [ended]);
  if (!data) return query.error ? <Failure error={query.error} retry={query.refetch} /> : <Loading lines={2} />;
  const progress = (ended ? data.progress : (told ?? data.progress)) as unknown as Zones | null;
  if (ended)
    return (
      <>
        {data.result ? <SyncOutcome result={data.result as unknown as SyncResult} /> : null}
        {!data.result && data.last_error && (
          <div className="zw-notice" data-is="bad" role="status">
            <Status is="bad">{t('sync.failed')}</Status> {data.last_error}
          </div>
        )}
        <Failures zones={progress} />
      </>
    );
  const part = progress?.zones ? Math.round((100 * progress.done) / progress.zones) : null;
  const reading = progress?.reading ?? [];
  return (
    <div className="zw-notice" data-is="busy" role="status">
      <Status is="busy">
        {progress ? t('sync.zones', { done: progress.done, zones: progress.zones }) : t('sync.listing')}
      </Status>
      <Progress value={part ?? 100} animated={part === null} aria-label={t('sync.title')} mt={6} />
      {reading.length > 0 && (
        <Text fz="xs" c="dimmed" mt={4}>
          {t('sync.reading', { names: reading.slice(0, READING).join(', ') })}
        </Text>
      )}
      <Failures zones={progress} />
    </div>
  );
}

function Failures({ zones }: { zones: Zones | null }) {
  const { t } = useTranslation('accounts');
  if (!zones?.errors.length) return null;
  return (
    <ul className={classes.lines} aria-label={t('sync.errors')}>
      {zones.errors.map(({ domain, error }) => (
        <li key={domain}>
          <span className="zw-mono">{domain}</span>: {error}
        </li>
      ))}
    </ul>
  );
}

/** What a synchronisation found. */
export function SyncOutcome({ result }: { result: SyncResult }) {
  const { t } = useTranslation('accounts');
  const { added, updated, missing, failed, conflicts, rebound } = result;
  const counts = Object.entries({ added, updated, missing, failed }).filter(([key, n]) => n > 0 || key === 'updated');
  const names = (['left_out', 'shared', 'became_private', 'became_public'] as const).filter(
    (key) => result[key]?.length,
  );
  return (
    <div className="zw-notice" data-is={failed || missing ? 'warn' : 'good'} role="status">
      <Status is={failed || missing ? 'warn' : 'good'}>{t('sync.done')}</Status>{' '}
      {counts.map(([key, count]) => t(`sync.count.${key}`, { count })).join(', ')}
      {(names.length > 0 || conflicts || rebound) && (
        <ul className={classes.lines}>
          {names.map((key) => (
            <li key={key}>
              {t(`sync.found.${key}`)} <span className="zw-mono">{result[key]?.join(', ')}</span>
            </li>
          ))}
          {conflicts?.map(({ name, kept, others }) => (
            <li key={name}>{t('sync.found.conflict', { name, kept, others: others.join(', ') })}</li>
          ))}
          {rebound?.map(({ name, from, to }) => (
            <li key={name}>{t('sync.found.rebound', { name, from, to })}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
