import { Button, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { ErrorText } from '~/components/error-text';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { useUrlState } from '~/state/use-url-state';

type Delivery = components['schemas']['DeliveryView'];
const STATES = { waiting: 'busy', sent: 'good', dead: 'bad' } as const;

/** What became of notices, channel by channel. */
export function Deliveries() {
  const { t } = useTranslation('settings');
  const list = useListState();
  const [{ state }, set] = useUrlState({ state: '', page: '1' });
  const query = useQuery(
    listOptions('/api/system/notifications', { query: { ...list.query, state: state || undefined } }),
  );
  const [problem, setProblem] = useState<unknown>(null);
  const retry = async (id: number) => {
    setProblem(null);
    await client.POST('/api/system/notifications/{id}/retry', { params: { path: { id } } }).catch(setProblem);
    await invalidate('/api/system/notifications');
  };
  const columns: Column<Delivery>[] = [
    { key: 'time', header: t('deliveries.time'), lead: true, cell: ({ created_at }) => <Time iso={created_at} /> },
    { key: 'channel', header: t('deliveries.channel'), cell: ({ channel }) => channel },
    { key: 'event', header: t('deliveries.event'), cell: ({ event }) => t(`event.${event}`) },
    { key: 'text', header: t('deliveries.text'), cell: ({ text }) => text },
    {
      key: 'state',
      header: t('deliveries.state'),
      cell: ({ id, state, error, tries }) => (
        <>
          <Status is={STATES[state]}>{t(`deliveries.states.${state}`)}</Status>
          {error && (
            <Text fz="xs" c="dimmed">
              {t('deliveries.tried', { count: tries })} {error}
            </Text>
          )}
          {state === 'dead' && (
            <Button variant="subtle" size="compact-xs" onClick={() => void retry(id)}>
              {t('deliveries.retry')}
            </Button>
          )}
        </>
      ),
    },
  ];
  return (
    <Section title={t('deliveries.title')}>
      <ErrorText error={problem} />
      <DataTable
        label={t('deliveries.title')}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        filters={
          Boolean(query.data?.total || state) && (
            <Select
              size="xs"
              w={130}
              aria-label={t('deliveries.state')}
              data={[
                { value: '', label: t('deliveries.any') },
                ...Object.keys(STATES).map((value) => ({ value, label: t(`deliveries.states.${value}`) })),
              ]}
              allowDeselect={false}
              value={state}
              onChange={(value) => set({ state: value ?? '' })}
            />
          )
        }
        empty={<Empty title={t('deliveries.empty')} />}
      />
    </Section>
  );
}
