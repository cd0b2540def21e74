import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';
import { useDomainId } from '~/screens/domains/domain-frame';
import { CountsText } from '~/screens/plans/changes';
import { useDoor, Who } from '~/screens/plans/who';
import classes from './history.module.css';
import type { Version } from './version';

/** All versions, newest first; two of them can be compared. */
export function Versions() {
  const { t } = useTranslation('history');
  const domain = useDomainId();
  const navigate = useNavigate();
  const door = useDoor();
  const list = useListState('', 50);
  const [chosen, setChosen] = useState<Set<number | string>>(new Set());
  const path = { domain_id: String(domain) };
  const query = useQuery(
    listOptions('/api/domains/{domain_id}/versions', { path, query: { page: list.page, limit: list.limit } }),
  );
  const to = `/domains/${domain}/history`;
  const columns: Column<Version>[] = [
    {
      key: 'version',
      header: t('column.version'),
      width: 80,
      cell: ({ version }) => (
        <AppLink to={to} search={{ version: String(version) }} className={classes.number ?? ''}>
          {t('version', { version })}
        </AppLink>
      ),
    },
    {
      key: 'what',
      header: t('column.what'),
      cell: ({ comment, inherited, version }) => comment || (version === 1 || inherited ? t('first') : '–'),
    },
    { key: 'by', header: t('column.by'), cell: ({ actor }) => <Who of={actor} /> },
    { key: 'door', header: t('column.door'), cell: (row) => door(row.door) },
    {
      key: 'counts',
      header: t('column.counts'),
      cell: ({ counts }) => (counts ? <CountsText counts={counts} /> : '–'),
    },
    { key: 'at', header: t('column.at'), cell: ({ created_at: at }) => <Time iso={at} /> },
  ];
  const [from = 0, until = 0] = [...chosen].map(Number).toSorted((a, b) => a - b);
  return (
    <Section title={t('versions')}>
      <DataTable
        label={t('versions')}
        columns={columns}
        query={query}
        rowKey={({ version }) => version}
        onOpen={({ version }) => void navigate({ to: to as never, search: { version: String(version) } as never })}
        list={list}
        searchable={false}
        selection={{ chosen, onChange: (next) => setChosen(new Set([...next].slice(-2))) }}
        bulk={
          <Button
            disabled={chosen.size !== 2}
            onClick={() =>
              void navigate({ to: to as never, search: { from: String(from), to: String(until) } as never })
            }
          >
            {chosen.size === 2 ? t('compare', { from, to: until }) : t('chooseTwo')}
          </Button>
        }
        empty={<Empty title={t('empty.title')} text={t('empty.text')} />}
      />
    </Section>
  );
}
