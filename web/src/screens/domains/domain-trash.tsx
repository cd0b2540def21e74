import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { ConfirmDestructive } from '~/components/confirm';
import { type Column, DataTable, useListState } from '~/components/data-table';
import { ErrorText } from '~/components/error-text';
import { notifyDone } from '~/components/notify';
import { Empty } from '~/components/state-block';
import { Time } from '~/components/time';
import { Role, useMay } from '~/session/session';

type Trashed = components['schemas']['TrashedView'];

/** Deleted domains, which can be brought back. */
export function DomainTrash() {
  const { t } = useTranslation('domains');
  const list = useListState();
  const query = useQuery(listOptions('/api/trash/domains', { query: list.query }));
  const columns: Column<Trashed>[] = [
    { key: 'name', header: t('field.name'), lead: true, cell: ({ name }) => <span className="zw-mono">{name}</span> },
    { key: 'account', header: t('field.account'), cell: ({ account_name }) => account_name },
    { key: 'deleted', header: t('trash.deleted'), cell: ({ deleted_at }) => <Time iso={deleted_at} /> },
    { key: 'by', header: t('trash.by'), cell: ({ deleted_by }) => deleted_by.username ?? '–' },
    { key: 'until', header: t('trash.until'), cell: ({ purged_at }) => <Time iso={purged_at} /> },
    { key: 'actions', header: t('trash.actions'), lead: true, cell: (row) => <Actions trashed={row} /> },
  ];
  return (
    <DataTable
      label={t('trash.title')}
      columns={columns}
      query={query}
      rowKey={({ id }) => id}
      list={list}
      searchLabel={t('search')}
      empty={
        <Empty
          title={t('trash.empty')}
          text={t('trash.emptyText')}
          action={
            <AppLink to="/domains" fz="sm">
              {t('trash.back')}
            </AppLink>
          }
        />
      }
    />
  );
}

function Actions({ trashed: { id, name } }: { trashed: Trashed }) {
  const { t } = useTranslation('domains');
  const mayPurge = useMay(Role.Super);
  const mayForce = useMay(Role.Admin);
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const isContested = mayForce && problem instanceof ApiError && /needs_force/.test(problem.reason ?? '');
  const restore = async (force: boolean) => {
    setBusy(true);
    setProblem(null);
    try {
      const params = { path: { id }, query: force ? { force } : {} };
      await client.POST('/api/trash/domains/{id}/restore', { params });
      await invalidate('/api/trash', '/api/domains', '/api/dashboard', '/api/bootstrap');
      notifyDone(t('trash.restored', { name }));
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <Button
          variant="default"
          size="compact-sm"
          loading={busy}
          aria-label={t('trash.restoreName', { name })}
          onClick={() => restore(isContested)}
        >
          {isContested ? t('trash.force') : t('trash.restore')}
        </Button>
        {mayPurge && (
          <Button
            variant="subtle"
            size="compact-sm"
            c="var(--mantine-color-error)"
            aria-label={t('trash.purgeName', { name })}
            onClick={() => setAsks(true)}
          >
            {t('trash.purge')}
          </Button>
        )}
      </Group>
      <ErrorText error={problem} />
      <ConfirmDestructive
        opened={asks}
        onClose={() => setAsks(false)}
        title={t('trash.purgeTitle', { name })}
        verb={t('trash.purge')}
        typed={name}
        onConfirm={async () => {
          await client.DELETE('/api/trash/domains/{id}', { params: { path: { id } } });
          await invalidate('/api/trash');
          notifyDone(t('trash.purged', { name }));
        }}
      >
        {t('trash.purgeText')}
      </ConfirmDestructive>
    </>
  );
}
