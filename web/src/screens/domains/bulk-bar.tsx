import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { invalidate } from '~/api/query';
import { RemoteSelect } from '~/components/remote-select';
import { BulkDialog } from './bulk-dialog';
import type { Domain } from './domains';
import { type GuardKey, type GuardMode, modesOf, useGuards } from './guards';

type Action = 'refresh' | 'guard' | 'permission' | 'remove';

interface Props {
  domains: readonly Domain[];
  onClear: () => void;
}

/** What can be done with the domains that are chosen. */
export function BulkBar({ domains, onClear }: Props) {
  const { t } = useTranslation('domains');
  const [action, setAction] = useState<Action | null>(null);
  const close = () => setAction(null);
  const shared = {
    domains,
    onClose: close,
    onEnd: () => invalidate('/api/domains', '/api/dashboard', '/api/trash', '/api/teams'),
  };
  return (
    <>
      {(['refresh', 'guard', 'permission', 'remove'] as const).map((key) => (
        <Button
          key={key}
          variant="default"
          size="compact-sm"
          {...(key === 'remove' && { c: 'var(--mantine-color-error)' })}
          onClick={() => setAction(key)}
        >
          {t(`bulk.${key}`)}
        </Button>
      ))}
      <Button variant="subtle" size="compact-sm" onClick={onClear}>
        {t('bulk.clear')}
      </Button>
      {action === 'refresh' && <Refresh {...shared} />}
      {action === 'guard' && <SetGuard {...shared} />}
      {action === 'permission' && <Permit {...shared} />}
      {action === 'remove' && (
        <Remove
          {...shared}
          onEnd={async () => {
            await shared.onEnd();
            onClear();
          }}
        />
      )}
    </>
  );
}

interface DialogProps {
  domains: readonly Domain[];
  onClose: () => void;
  onEnd: () => Promise<unknown>;
}

const pathOf = ({ id }: Domain) => ({ domain_id: String(id) });

function Refresh(props: DialogProps) {
  const { t } = useTranslation('domains');
  return (
    <BulkDialog
      {...props}
      title={t('bulk.refreshTitle', { count: props.domains.length })}
      verb={t('bulk.refresh')}
      work={(domain) =>
        client.GET('/api/domains/{domain_id}/records', {
          params: { path: pathOf(domain), query: { refresh: true, limit: 1 } },
        })
      }
    >
      <Text fz="sm">{t('bulk.refreshText')}</Text>
    </BulkDialog>
  );
}

function SetGuard(props: DialogProps) {
  const { t } = useTranslation('domains');
  const known = useGuards().data;
  const [guard, setGuard] = useState<GuardKey>('last_mx');
  const [mode, setMode] = useState<GuardMode>('force');
  const work = async (domain: Domain) => {
    const params = { path: pathOf(domain) };
    const { data, response } = await client.GET('/api/domains/{domain_id}', { params });
    const { [guard]: _, ...others } = data?.guards ?? {};
    const guards = mode ? { ...others, [guard]: mode } : others;
    const etag = response.headers.get('etag');
    await client.PUT('/api/domains/{domain_id}', {
      params: { ...params, ...(etag && { header: { 'If-Match': etag } }) },
      body: { guards },
    });
  };
  return (
    <BulkDialog
      {...props}
      title={t('bulk.guardTitle', { count: props.domains.length })}
      verb={t('bulk.guardVerb')}
      work={work}
    >
      <NativeSelect
        label={t('guards.one')}
        data={known?.guards.map(({ key, label }) => ({ value: key, label })) ?? []}
        value={guard}
        onChange={(event) => setGuard(event.currentTarget.value as GuardKey)}
      />
      <NativeSelect
        label={t('guards.mode')}
        data={modesOf(guard, known?.modes ?? [])}
        value={mode}
        onChange={(event) => setMode(event.currentTarget.value as GuardMode)}
      />
    </BulkDialog>
  );
}

function Permit(props: DialogProps) {
  const { t } = useTranslation('domains');
  const [team, setTeam] = useState<number | null>(null);
  const [permission, setPermission] = useState<'read' | 'write'>('read');
  const [host, setHost] = useState('');
  return (
    <BulkDialog
      {...props}
      title={t('bulk.permissionTitle', { count: props.domains.length })}
      verb={t('permissions.give')}
      isReady={team !== null}
      work={({ id }) =>
        client.POST('/api/teams/{id}/permissions', {
          params: { path: { id: team ?? 0 } },
          body: { domain_id: id, permission, host: permission === 'write' && host ? host : null },
        })
      }
    >
      <RemoteSelect of="/api/teams" label={t('permissions.team')} value={team} onChange={setTeam} data-autofocus />
      <NativeSelect
        label={t('permissions.right')}
        data={(['read', 'write'] as const).map((key) => ({ value: key, label: t(`permissions.${key}`) }))}
        value={permission}
        onChange={(event) => setPermission(event.currentTarget.value as 'read' | 'write')}
      />
      {permission === 'write' && (
        <TextInput
          label={t('permissions.host')}
          description={t('permissions.hostHint')}
          classNames={{ input: 'zw-mono' }}
          value={host}
          onChange={(event) => setHost(event.currentTarget.value)}
        />
      )}
    </BulkDialog>
  );
}

function Remove(props: DialogProps) {
  const { t } = useTranslation('domains');
  const { domains } = props;
  return (
    <BulkDialog
      {...props}
      destroys
      title={t('bulk.removeTitle', { count: domains.length })}
      verb={t('bulk.remove')}
      work={(domain) => client.DELETE('/api/domains/{domain_id}', { params: { path: pathOf(domain) } })}
    >
      <Text fz="sm" className="zw-mono" style={{ overflowWrap: 'anywhere' }}>
        {domains.map(({ unicode_name }) => unicode_name).join(', ')}
      </Text>
      <Text fz="sm">{t('delete.text')}</Text>
    </BulkDialog>
  );
}
