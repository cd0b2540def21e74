import { Checkbox, MultiSelect, NativeSelect, Radio, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { changed } from '~/components/changed';
import { useApiForm } from '~/components/form';
import { notifyDone } from '~/components/notify';
import { RemoteSelect } from '~/components/remote-select';
import { Role, useMay } from '~/session/session';
import type { Base } from './base';
import { SectionForm } from './section-form';

const KINDS = ['none', 'guarded', 'all'] as const;
const ROLES = [Role.User, Role.Admin, Role.Super];
const SHOWN = 50;

/** Which changes wait for somebody, and for whom. */
export function ApprovalSection({ base, isOwner }: { base: Base; isOwner: boolean }) {
  const { t } = useTranslation('domains');
  const { approval, unicode_name: name } = base.domain;
  const { form, onSubmit, busy, problem } = useApiForm({
    initialValues: {
      for: approval.for,
      role: String(approval.by.role ?? ''),
      team_id: approval.by.team_id ?? null,
      user_ids: approval.by.user_ids ?? [],
      own: approval.own,
      by: null,
    },
    renamed: {
      'approval.by': 'role',
      'approval.by.role': 'role',
      'approval.by.team_id': 'team_id',
      'approval.by.user_ids': 'user_ids',
      'approval.for': 'for',
    },
    save: async (values, filled) => {
      const bodyOf = ({ for: which, role, team_id, user_ids, own }: typeof values) => {
        const by = {
          ...(role && { role: Number(role) }),
          ...(team_id !== null && { team_id }),
          ...(user_ids.length > 0 && { user_ids }),
        };
        return { approval: which === 'none' ? { for: which } : { for: which, by, own } };
      };
      await base.save(changed(bodyOf(values), bodyOf(filled)));
      notifyDone(t('settings.saved', { name }));
    },
  });
  const waits = form.values.for !== 'none';
  return (
    <SectionForm title={t('approval.title')} onSubmit={onSubmit} busy={busy} problem={problem} maySave={isOwner}>
      <Radio.Group label={t('approval.which')} {...form.getInputProps('for')}>
        <Stack gap={6} mt={4}>
          {KINDS.map((kind) => (
            <Radio key={kind} size="xs" value={kind} label={t(`approval.${kind}`)} />
          ))}
        </Stack>
      </Radio.Group>
      {waits && (
        <>
          <NativeSelect
            label={t('optional', { label: t('approval.role') })}
            description={t('approval.byHint')}
            data={[
              { value: '', label: t('approval.noRole') },
              ...ROLES.map((role) => ({ value: String(role), label: t(`common:role.${role}`) })),
            ]}
            {...form.getInputProps('role')}
          />
          <RemoteSelect
            of="/api/teams"
            label={t('optional', { label: t('approval.team') })}
            clearable
            value={form.values.team_id}
            onChange={(id) => form.setFieldValue('team_id', id)}
            error={form.errors.team_id}
          />
          <People
            value={form.values.user_ids}
            onChange={(ids) => form.setFieldValue('user_ids', ids)}
            error={form.errors.user_ids}
          />
          <Checkbox
            size="xs"
            label={t('approval.own')}
            description={t('approval.ownHint')}
            {...form.getInputProps('own', { type: 'checkbox' })}
          />
        </>
      )}
    </SectionForm>
  );
}

interface PeopleProps {
  value: number[];
  onChange: (ids: number[]) => void;
  error: React.ReactNode;
}

/** People by name; who may not list users sees those that are chosen by their ids. */
function People({ value, onChange, error }: PeopleProps) {
  const { t } = useTranslation('domains');
  const mayList = useMay(Role.Admin);
  const [keyword, setKeyword] = useState('');
  const { data } = useQuery({
    ...listOptions('/api/users', { query: { keyword, limit: SHOWN, page: 1 } }),
    enabled: mayList,
  });
  const names = new Map((data?.rows ?? []).map(({ id, username }) => [id, username]));
  const ids = [...new Set([...value, ...names.keys()])];
  return (
    <MultiSelect
      label={t('optional', { label: t('approval.people') })}
      searchable
      data={ids.map((id) => ({ value: String(id), label: names.get(id) ?? `#${id}` }))}
      value={value.map(String)}
      onChange={(chosen) => onChange(chosen.map(Number))}
      searchValue={keyword}
      onSearchChange={setKeyword}
      error={error}
    />
  );
}
