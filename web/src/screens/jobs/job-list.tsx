import { Checkbox, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { useUrlState } from '~/state/use-url-state';
import { useJobName } from './job-name';

type Job = components['schemas']['JobView'];
const STATES = { running: 'busy', waiting: 'off', done: 'good', failed: 'bad' } as const;
const POLL_MS = 10_000;

/** The state of a job in a word; a failed last run of one that comes again is said, too. */
export function JobState({ job: { state, last_error } }: { job: Job }) {
  const { t } = useTranslation('jobs');
  if (state === 'waiting' && last_error) return <Status is="bad">{t('failedLast')}</Status>;
  return <Status is={STATES[state]}>{t(`common:job.${state}`)}</Status>;
}

export function JobList() {
  const { t } = useTranslation('jobs');
  const navigate = useNavigate();
  const nameOf = useJobName();
  const list = useListState();
  const [{ state, failing }, set] = useUrlState({ state: '', failing: '', page: '1' });
  const query = useQuery({
    ...listOptions('/api/system/jobs', {
      query: { ...list.query, state: state || undefined, failing: failing ? true : undefined },
    }),
    refetchInterval: POLL_MS,
  });
  const columns: Column<Job>[] = [
    {
      key: 'name',
      header: t('name'),
      lead: true,
      cell: ({ id, name }) => (
        <AppLink to="/jobs" search={{ job: String(id) }} fz="sm">
          {nameOf(name)}
        </AppLink>
      ),
    },
    { key: 'state', header: t('state'), cell: (job) => <JobState job={job} /> },
    { key: 'subject', header: t('subject'), cell: ({ subject }) => <span className="zw-mono">{subject ?? '–'}</span> },
    { key: 'last', header: t('lastRun'), cell: ({ last_run_at }) => <Time iso={last_run_at} /> },
    { key: 'next', header: t('nextRun'), cell: ({ next_run_at }) => <Time iso={next_run_at} /> },
    { key: 'runs', header: t('runs'), align: 'right', cell: ({ runs }) => runs },
  ];
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      query={query}
      list={list}
      rowKey={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: '/jobs', search: { job: String(id) } as never })}
      filters={
        <>
          <Select
            size="xs"
            w={130}
            aria-label={t('state')}
            data={[
              { value: '', label: t('anyState') },
              ...Object.keys(STATES).map((value) => ({ value, label: t(`common:job.${value}`) })),
            ]}
            allowDeselect={false}
            value={state}
            onChange={(value) => set({ state: value ?? '' })}
          />
          <Checkbox
            size="xs"
            label={t('failing')}
            checked={failing !== ''}
            onChange={(event) => set({ failing: event.currentTarget.checked ? '1' : '' })}
          />
        </>
      }
      empty={<Empty title={t('title')} text={t('about')} />}
    />
  );
}
