import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { nearness } from './expiry';

type Schemas = components['schemas'];
type Row = Schemas['CertificateView'];

/** The certificates of the hosts of a domain, where they are watched; those that end first come first. */
export function Certificates({ domain }: { domain: Schemas['DomainDetail'] }) {
  const { t } = useTranslation('health');
  return (
    <Section title={t('certificates.title')}>
      {domain.watch_certificates ? (
        <Watched domain={domain.id} />
      ) : (
        <Text fz="sm">
          {t('certificates.off')} <AppLink to={`/domains/${domain.id}/settings`}>{t('certificates.settings')}</AppLink>
        </Text>
      )}
    </Section>
  );
}

function Watched({ domain }: { domain: number }) {
  const { t } = useTranslation('health');
  const list = useListState('valid_to', 50);
  const query = useQuery(
    listOptions('/api/domains/{domain_id}/certificates', { path: { domain_id: String(domain) }, query: list.query }),
  );
  const columns: Column<Row>[] = [
    { key: 'host', header: t('certificates.host'), sort: 'host', lead: true, cell: ({ host }) => host },
    {
      key: 'ends',
      header: t('certificates.ends'),
      sort: 'valid_to',
      cell: ({ valid_to: end, error }) =>
        end ? (
          <Status is={error ? 'bad' : nearness(end)}>
            <Time iso={end} />
          </Status>
        ) : (
          <Status is={error ? 'bad' : 'off'}>{t('certificates.none')}</Status>
        ),
    },
    { key: 'issuer', header: t('certificates.issuer'), cell: ({ issuer }) => issuer ?? '–' },
    { key: 'error', header: t('certificates.error'), cell: ({ error }) => error ?? '–' },
    {
      key: 'checked',
      header: t('certificates.checked'),
      cell: ({ checked_at: at }) => (at ? <Time iso={at} /> : '–'),
    },
  ];
  return (
    <DataTable
      label={t('certificates.title')}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      list={list}
      empty={<Empty title={t('certificates.empty')} text={t('certificates.emptyText')} />}
    />
  );
}
