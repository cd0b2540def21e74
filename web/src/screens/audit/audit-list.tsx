import { Button, Group, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { type Column, DataTable, type ListState } from '~/components/data-table';
import { Screen } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { Status } from '~/components/status';
import { Time } from '~/components/time';
import { AuditFilters } from './audit-filters';
import { ExportDialog } from './export-dialog';
import { queryOf, useFilters } from './use-filters';
import { VerifyDialog } from './verify-dialog';

type Entry = components['schemas']['AuditView'];
const PAGE = 50;

/** Who did it: a person, a token of a person, or the service itself. */
export function Actor({ actor }: { actor: Entry['actor'] }) {
  const { t } = useTranslation('audit');
  if (actor.type === 'system') return <>{t('system')}</>;
  const name = actor.username ?? t('stranger');
  return <>{actor.token_id ? t('byToken', { name, token: actor.token_name ?? `#${actor.token_id}` }) : name}</>;
}

export function AuditList() {
  const { t } = useTranslation('audit');
  const navigate = useNavigate();
  const [filters, set] = useFilters();
  const [open, setOpen] = useState<'verify' | 'export' | null>(null);
  const query = useQuery({
    queryKey: ['get', '/api/audit/logs', filters],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { ...queryOf(filters), page: Number(filters.page), limit: PAGE };
      const { data } = await client.GET('/api/audit/logs', { params: { query }, signal });
      const { list, ...rest } = data as components['schemas']['AuditList'];
      return { rows: list, ...rest };
    },
  });
  const list: ListState = {
    sort: '',
    keyword: filters.keyword,
    page: Number(filters.page),
    limit: PAGE,
    set: (change) => set(change as Partial<typeof filters>),
    query: { page: Number(filters.page), limit: PAGE, sort: undefined, keyword: undefined },
  };
  const columns: Column<Entry>[] = [
    {
      key: 'time',
      header: t('time'),
      lead: true,
      width: 190,
      cell: ({ id, created_at }) => (
        <AppLink to="/audit" search={{ entry: String(id) }} fz="sm">
          <Time iso={created_at} exact />
        </AppLink>
      ),
    },
    { key: 'who', header: t('who'), cell: ({ actor }) => <Actor actor={actor} /> },
    { key: 'what', header: t('what'), cell: ({ action }) => <span className="zw-mono">{action}</span> },
    {
      key: 'target',
      header: t('target'),
      cell: ({ target, domain }) =>
        target?.name ?? (target?.id ? `${target.type} ${target.id}` : (domain ?? target?.type ?? '–')),
    },
    { key: 'domain', header: t('domain'), cell: ({ domain }) => domain ?? '–' },
    {
      key: 'result',
      header: t('result'),
      cell: ({ result }) => <Status is={result === 'ok' ? 'good' : 'bad'}>{t(`results.${result}`)}</Status>,
    },
    {
      key: 'ip',
      header: t('ip'),
      width: 130,
      cell: ({ ip }) => (
        <span className="zw-mono" style={{ whiteSpace: 'nowrap' }}>
          {ip || '–'}
        </span>
      ),
    },
  ];
  const until = query.data?.next_until;
  return (
    <Screen
      title={t('title')}
      about={t('about')}
      actions={
        <>
          <Button variant="default" onClick={() => setOpen('export')}>
            {t('export')}
          </Button>
          <Button variant="default" onClick={() => setOpen('verify')}>
            {t('verify')}
          </Button>
        </>
      }
    >
      <DataTable
        label={t('title')}
        columns={columns}
        query={query}
        list={list}
        rowKey={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/audit', search: { entry: String(id) } as never })}
        searchLabel={t('search')}
        filters={<AuditFilters filters={filters} set={set} />}
        empty={<Empty title={t('title')} text={t('about')} />}
      />
      {(until || filters.until) && (
        <Group mt="md" gap="sm">
          <Text fz="sm" c="dimmed">
            {until ? t('further') : t('older')}
          </Text>
          {until && (
            <Button variant="default" onClick={() => set({ until })}>
              {t('goFurther')}
            </Button>
          )}
          {filters.until && (
            <Button variant="subtle" onClick={() => set({ until: '' })}>
              {t('newest')}
            </Button>
          )}
        </Group>
      )}
      {open === 'verify' && <VerifyDialog onClose={() => setOpen(null)} />}
      {open === 'export' && <ExportDialog filters={filters} onClose={() => setOpen(null)} />}
    </Screen>
  );
}
