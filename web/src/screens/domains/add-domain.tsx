import { Button, Checkbox, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { $api, invalidate, listOptions } from '~/api/query';
import { AppLink } from '~/components/app-link';
import { Dialog } from '~/components/dialog';
import { FormEnd, useApiForm } from '~/components/form';
import { RemoteSelect } from '~/components/remote-select';
import { Role, useMay } from '~/session/session';

/** Adds a zone of an account by its name. */
export function AddDomain({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('domains');
  const navigate = useNavigate();
  const isAdmin = useMay(Role.Admin);
  const [isContested, setContested] = useState(false);
  const save = async (force: boolean) => {
    const { name, account_id, remark, create } = form.getValues();
    try {
      const { data } = await client.POST('/api/domains', {
        params: { query: force ? { force } : {} },
        body: { name, account_id: account_id ?? 0, create, ...(remark && { remark }) },
      });
      await invalidate('/api/domains', '/api/dashboard', '/api/bootstrap');
      onClose();
      if (data) await navigate({ to: `/domains/${data.id}` as never });
    } catch (error) {
      setContested(isAdmin && error instanceof ApiError && /needs_force/.test(error.reason ?? ''));
      throw error;
    }
  };
  const { form, onSubmit, busy, problem, run } = useApiForm({
    initialValues: { name: '', account_id: null as number | null, remark: '', create: false },
    validate: { account_id: (id) => (id === null ? t('add.chooseAccount') : null) },
    save: () => save(false),
  });
  const account = {
    label: t('field.account'),
    value: form.values.account_id,
    onChange: (id: number | null) => form.setFieldValue('account_id', id),
    error: form.errors.account_id,
  };
  return (
    <Dialog opened onClose={onClose} title={t('add.title')}>
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="sm">
          <TextInput
            label={t('add.name')}
            description={t('add.nameHint')}
            placeholder="example.com"
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'zw-mono' }}
            {...form.getInputProps('name')}
          />
          {isAdmin ? <RemoteSelect of="/api/accounts" {...account} /> : <TeamAccount {...account} />}
          <Checkbox
            size="xs"
            label={t('add.create')}
            description={t('add.createHint')}
            {...form.getInputProps('create', { type: 'checkbox' })}
          />
          <TextInput label={t('optional', { label: t('field.remark') })} {...form.getInputProps('remark')} />
          {isAdmin && form.values.account_id !== null && (
            <Text fz="sm">
              {t('add.all')}{' '}
              <AppLink to={`/accounts/${form.values.account_id}`} fz="sm">
                {t('add.sync')}
              </AppLink>
            </Text>
          )}
        </Stack>
        <FormEnd busy={busy} problem={problem} verb={t('add.verb')}>
          {isContested && (
            <Button variant="default" loading={busy} onClick={() => void run(() => save(true))}>
              {t('add.force')}
            </Button>
          )}
        </FormEnd>
      </form>
    </Dialog>
  );
}

interface TeamAccountProps {
  label: string;
  value: number | null;
  onChange: (id: number | null) => void;
  error: React.ReactNode;
}

const TEAMS = 50;

/** An account of one's teams, for those who may not list all accounts. */
function TeamAccount({ value, onChange, ...rest }: TeamAccountProps) {
  const { t } = useTranslation('domains');
  const { data: teams } = useQuery(listOptions('/api/teams', { query: { limit: TEAMS, page: 1 } }));
  const details = useQueries({
    queries: (teams?.rows ?? []).map(({ id }) =>
      $api.queryOptions('get', '/api/teams/{id}', { params: { path: { id } } }),
    ),
  });
  const accounts = new Map(details.flatMap(({ data }) => data?.accounts ?? []).map(({ id, name }) => [id, name]));
  return (
    <Select
      {...rest}
      description={t('add.teamAccounts')}
      searchable
      data={[...accounts].map(([id, name]) => ({ value: String(id), label: name }))}
      value={value === null ? null : String(value)}
      onChange={(id) => onChange(id === null ? null : Number(id))}
    />
  );
}
