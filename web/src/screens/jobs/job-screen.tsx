import { Button, Code } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import { ErrorText } from '~/components/error-text';
import { JobProgress } from '~/components/job-progress';
import { Facts } from '~/components/rows';
import { Screen, Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';
import { JobState } from './job-list';
import { useJobName } from './job-name';

/** One job: how far it is, what came of it, and running it now. */
export function JobScreen({ id }: { id: number }) {
  const { t } = useTranslation('jobs');
  const nameOf = useJobName();
  const params = { params: { path: { id } } };
  const job = $api.useQuery('get', '/api/system/jobs/{id}', params);
  const mayRun = useMay(Role.Super);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setProblem(null);
    await client
      .POST('/api/system/jobs/{id}/retry', params)
      .catch(setProblem)
      .finally(() => setBusy(false));
    await invalidate('/api/system/jobs');
  };
  const { data } = job;
  const canRun = mayRun && data && (data.state === 'failed' || data.state === 'waiting');
  return (
    <Screen
      title={data ? nameOf(data.name) : t('one')}
      crumbs={[{ label: t('title'), to: '/jobs' }]}
      actions={
        canRun && (
          <Button loading={busy} onClick={() => void run()}>
            {data.state === 'failed' ? t('tryAgain') : t('runNow')}
          </Button>
        )
      }
    >
      <ErrorText error={problem} />
      <Loaded query={job}>
        {(data) => (
          <>
            {data.state === 'running' && <JobProgress id={id} label={nameOf(data.name)} />}
            <Section title={t('state')}>
              <Facts
                of={[
                  [t('state'), <JobState key="state" job={data} />],
                  [t('kind'), data.every_seconds ? t('every', { count: data.every_seconds }) : t('once')],
                  [t('subject'), data.subject],
                  [t('lastRun'), data.last_run_at && <Time iso={data.last_run_at} exact />],
                  [t('ended'), data.ended_at && <Time iso={data.ended_at} exact />],
                  [t('nextRun'), data.next_run_at && <Time iso={data.next_run_at} exact />],
                  [t('runs'), data.runs],
                  [t('error'), data.last_error],
                  [t('replica'), data.replica && `${data.replica} (${data.pid})`],
                ]}
              />
            </Section>
            {[[t('progress'), data.progress] as const, [t('result'), data.result] as const].map(
              ([title, value]) =>
                value && (
                  <Section key={title} title={title}>
                    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                      {JSON.stringify(value, null, 2)}
                    </Code>
                  </Section>
                ),
            )}
          </>
        )}
      </Loaded>
    </Screen>
  );
}
