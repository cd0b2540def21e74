import { Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate, listOptions } from '~/api/query';
import type { components } from '~/api/schema';
import { AppLink } from '~/components/app-link';
import { ConfirmDestructive } from '~/components/confirm';
import { FormEnd, useApiForm } from '~/components/form';
import { RemoteSelect } from '~/components/remote-select';
import { Section } from '~/components/screen';
import { Loaded } from '~/components/state-block';
import type { DomainDetail } from '../domains';
import classes from '../domains.module.css';

type Permission = components['schemas']['DomainPermissionView'];

/** Which teams may read or change the domain. */
export function PermissionsSection({ domain }: { domain: DomainDetail }) {
  const { t } = useTranslation('domains');
  const [isAdding, setAdding] = useState(false);
  const [leaving, setLeaving] = useState<Permission | null>(null);
  const path = { domain_id: domain.id };
  const rights = useQuery(
    listOptions('/api/domains/{domain_id}/permissions', { path, query: { page: 1, limit: 500 } }),
  );
  return (
    <Section
      title={t('permissions.title')}
      actions={
        <Button variant="default" onClick={() => setAdding(true)}>
          {t('permissions.add')}
        </Button>
      }
    >
      {isAdding && <Give domain={domain} onDone={() => setAdding(false)} />}
      <Loaded query={rights} lines={2}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Text fz="sm" c="dimmed">
              {t('permissions.none')}
            </Text>
          ) : (
            <ul className={classes.list} aria-label={t('permissions.title')}>
              {rows.map((right) => (
                <li key={right.id}>
                  <Group gap="sm" justify="space-between">
                    <span>
                      <AppLink to={`/teams/${right.team_id}`} fz="sm" underline="always">
                        {right.team_name}
                      </AppLink>{' '}
                      {t(`permissions.${right.permission}`)}{' '}
                      {right.host && <code className="zw-mono">{right.host}</code>}
                    </span>
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      aria-label={t('permissions.takeName', { team: right.team_name })}
                      onClick={() => setLeaving(right)}
                    >
                      {t('permissions.take')}
                    </Button>
                  </Group>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <ConfirmDestructive
        opened={leaving !== null}
        onClose={() => setLeaving(null)}
        title={t('permissions.takeTitle', { team: leaving?.team_name, name: domain.unicode_name })}
        verb={t('permissions.take')}
        onConfirm={async () => {
          const params = { path: { domain_id: String(domain.id), permissionId: leaving?.id ?? 0 } };
          await client.DELETE('/api/domains/{domain_id}/permissions/{permissionId}', { params });
          await invalidate('/api/domains', '/api/teams');
        }}
      >
        {t('permissions.takeText')}
      </ConfirmDestructive>
    </Section>
  );
}

function Give({ domain, onDone }: { domain: DomainDetail; onDone: () => void }) {
  const { t } = useTranslation('domains');
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: { team: null as number | null, permission: 'read' as 'read' | 'write', host: '' },
    validate: { team: (id) => (id === null ? t('permissions.chooseTeam') : null) },
    save: async ({ team, permission, host }) => {
      await client.POST('/api/teams/{id}/permissions', {
        params: { path: { id: team ?? 0 } },
        body: { domain_id: domain.id, permission, host: permission === 'write' && host ? host : null },
      });
      await invalidate('/api/domains', '/api/teams');
      onDone();
    },
  });
  return (
    <form onSubmit={onSubmit} aria-label={t('permissions.add')} noValidate className="zw-notice">
      <Stack gap="sm">
        <RemoteSelect
          of="/api/teams"
          label={t('permissions.team')}
          value={form.values.team}
          onChange={(id) => form.setFieldValue('team', id)}
          error={form.errors.team}
        />
        <NativeSelect
          label={t('permissions.right')}
          data={(['read', 'write'] as const).map((key) => ({ value: key, label: t(`permissions.${key}`) }))}
          {...form.getInputProps('permission')}
        />
        {form.values.permission === 'write' && (
          <TextInput
            label={t('permissions.host')}
            description={t('permissions.hostHint')}
            classNames={{ input: 'zw-mono' }}
            {...form.getInputProps('host')}
          />
        )}
      </Stack>
      <FormEnd busy={busy} problem={problem} verb={t('permissions.give')}>
        <Button variant="default" onClick={onDone}>
          {t('common:cancel')}
        </Button>
      </FormEnd>
    </form>
  );
}
