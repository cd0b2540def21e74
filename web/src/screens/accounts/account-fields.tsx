import { NativeSelect, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { RemoteSelect } from '~/components/remote-select';

export interface AccountValues {
  name: string;
  remark: string;
  team_id: number | null;
  sync_interval_minutes: number;
}

const INTERVALS = [0, 15, 60, 360, 1440];

/** What an account has besides its credentials. */
export function AccountFields<V extends AccountValues>({ form }: { form: UseFormReturnType<V> }) {
  const { t } = useTranslation('accounts');
  const { team_id, sync_interval_minutes: minutes } = form.values;
  const set = (path: string, value: unknown) => form.setFieldValue(path as never, value as never);
  const wordOf = (count: number) => {
    if (count === 0) return t('interval.none');
    return count % 60 === 0 ? t('interval.hours', { count: count / 60 }) : t('interval.minutes', { count });
  };
  const choices = [...new Set([...INTERVALS, minutes])].toSorted((a, b) => a - b);
  return (
    <>
      <TextInput label={t('field.name')} description={t('hint.name')} {...form.getInputProps('name')} />
      <TextInput label={t('optional', { label: t('field.remark') })} {...form.getInputProps('remark')} />
      <RemoteSelect
        of="/api/teams"
        label={t('optional', { label: t('field.team') })}
        description={t('hint.team')}
        clearable
        value={team_id}
        onChange={(id) => set('team_id', id)}
        error={form.errors.team_id}
      />
      <NativeSelect
        label={t('field.interval')}
        description={t('hint.interval')}
        data={choices.map((count) => ({ value: String(count), label: wordOf(count) }))}
        value={String(minutes)}
        onChange={(event) => set('sync_interval_minutes', Number(event.currentTarget.value))}
        error={form.errors.sync_interval_minutes}
      />
    </>
  );
}
