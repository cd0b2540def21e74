import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';
import { useDomainId } from '~/screens/domains/domain-frame';
import { ChangeSetStatus } from '~/screens/plans/change-set';
import { Who } from '~/screens/plans/who';

type Row = components['schemas']['ChangeSetView'];

/** What rules switched, and what was switched by hand, newest first. */
export function Timeline() {
  const { t } = useTranslation('failover');
  const domain = useDomainId();
  const navigate = useNavigate();
  const list = useListState('', 20);
  const query = useQuery(
    listOptions('/api/domains/{domain_id}/failover/history', {
      path: { domain_id: String(domain) },
      query: { page: list.page, limit: list.limit },
    }),
  );
  const to = `/domains/${domain}/history`;
  const columns: Column<Row>[] = [
    {
      key: 'what',
      header: t('timeline.what'),
      lead: true,
      cell: ({ id, comment }) => (
        <AppLink to={to} search={{ set: String(id) }}>
          {comment || t('timeline.set', { id })}
        </AppLink>
      ),
    },
    { key: 'state', header: t('timeline.state'), cell: (row) => <ChangeSetStatus of={row} /> },
    { key: 'by', header: t('timeline.by'), cell: ({ actor }) => <Who of={actor} /> },
    { key: 'at', header: t('timeline.at'), cell: ({ created_at: at }) => <Time iso={at} /> },
  ];
  return (
    <Section title={t('timeline.title')}>
      <DataTable
        label={t('timeline.title')}
        columns={columns}
        query={query}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: to as never, search: { set: String(id) } as never })}
        list={list}
        searchable={false}
        empty={<Empty title={t('timeline.empty')} text={t('timeline.emptyText')} />}
      />
    </Section>
  );
}
