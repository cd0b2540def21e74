import { Button, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { ConfirmDestructive } from '~/components/confirm';
import { type Column, DataTable } from '~/components/data-table';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { mono } from '~/components/mono';
import { RemoteSelect } from '~/components/remote-select';
import { Section } from '~/components/screen';
import { Empty } from '~/components/state-block';
import { useLocalList } from './use-local-list';

type Permission = components['schemas']['PermissionView'];
type Right = Permission['permission'];

/** What a team may do, domain by domain. */
export function TeamPermissions({ id, mayManage }: { id: number; mayManage: boolean }) {
  const { t } = useTranslation('teams');
  const list = useLocalList('');
  const query = useQuery(
    listOptions('/api/teams/{id}/permissions', { path: { id }, query: { ...list.query, sort: undefined } }),
  );
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<Permission | null>(null);
  const columns: Column<Permission>[] = [
    {
      key: 'domain',
      header: t('domain'),
      lead: true,
      cell: ({ domain_id, domain_name }) => (
        <AppLink to={`/domains/${domain_id}`} ff="monospace" fz="sm">
          {domain_name}
        </AppLink>
      ),
    },
    { key: 'right', header: t('right'), cell: ({ permission }) => t(`rights.${permission}`) },
    {
      key: 'host',
      header: t('hosts'),
      cell: ({ host }) => (host ? <span className="zw-mono">{host}</span> : t('allHosts')),
    },
    {
      key: 'out',
      header: t('actions'),
      align: 'right',
      cell: (permission) =>
        mayManage && (
          <Button
            variant="subtle"
            aria-label={t('takeOne', { name: permission.domain_name })}
            onClick={() => setRemoved(permission)}
          >
            {t('take')}
          </Button>
        ),
    },
  ];
  const add = mayManage && (
    <Button variant="default" onClick={() => setNew(true)}>
      {t('giveRight')}
    </Button>
  );
  return (
    <Section title={t('permissions')} actions={add}>
      <DataTable
        label={t('permissions')}
        columns={columns}
        query={query}
        list={list}
        rowKey={(permission) => permission.id}
        empty={<Empty title={t('noRights')} text={t('noRightsText')} action={add} />}
      />
      {isNew && <NewPermission id={id} onClose={() => setNew(false)} />}
      <ConfirmDestructive
        opened={removed !== null}
        onClose={() => setRemoved(null)}
        title={t('takeAsk', { name: removed?.domain_name })}
        verb={t('take')}
        onConfirm={async () => {
          const permissionId = removed?.id as number;
          const params = { path: { id, permissionId } };
          await client.DELETE('/api/teams/{id}/permissions/{permissionId}', { params });
          await invalidate('/api/teams');
        }}
      >
        {t('takeText')}
      </ConfirmDestructive>
    </Section>
  );
}

function NewPermission({ id, onClose }: { id: number; onClose: () => void }) {
  const { t } = useTranslation('teams');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { domain_id: null as number | null, permission: 'read' as Right, host: '' },
    save: async ({ domain_id, permission, host }) => {
      const body = { domain_id: Number(domain_id), permission, ...(permission === 'write' && host && { host }) };
      await client.POST('/api/teams/{id}/permissions', { params: { path: { id } }, body });
      await invalidate('/api/teams');
      onClose();
    },
    validate: { domain_id: (chosen) => (chosen ? null : t('chooseDomain')) },
  });
  return (
    <Dialog opened title={t('giveRight')} onClose={onClose}>
      <form onSubmit={onSubmit}>
        <Stack gap="md">
          <RemoteSelect
            label={t('domain')}
            of="/api/domains"
            value={form.values.domain_id}
            onChange={(chosen) => form.setFieldValue('domain_id', chosen)}
            error={form.errors.domain_id}
            data-autofocus
          />
          <Select
            label={t('right')}
            data={(['read', 'write'] as const).map((value) => ({ value, label: t(`rights.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps('permission')}
          />
          {form.values.permission === 'write' && (
            <TextInput
              label={t('hostsOptional')}
              description={t('hostsHint')}
              styles={mono}
              spellCheck={false}
              {...form.getInputProps('host')}
            />
          )}
          <FormEnd busy={busy} problem={problem} verb={t('giveRight')} />
        </Stack>
      </form>
    </Dialog>
  );
}
