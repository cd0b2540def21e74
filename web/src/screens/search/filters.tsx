import { NativeSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';
import { useTypedFilter } from '~/components/use-typed-filter';
import { Role, useMay } from '~/session/session';

const TYPING_MS = 300;

export interface Filters extends Record<string, string> {
  host: string;
  type: string;
  value: string;
  domain: string;
  account: string;
  enabled: string;
}
export const NO_FILTERS: Filters = { host: '', type: '', value: '', domain: '', account: '', enabled: '' };

interface Props {
  of: Filters;
  set: (change: Partial<Filters>) => void;
}

/** What is looked for, beside the words of the search. */
export function SearchFilters({ of, set }: Props) {
  const { t } = useTranslation(['search', 'common']);
  const mayAccounts = useMay(Role.Admin);
  return (
    <>
      {(['host', 'type', 'value', 'domain'] as const).map((key) => (
        <Typed key={key} label={t(`filter.${key}`)} value={of[key]} onChange={(text) => set({ [key]: text })} />
      ))}
      {mayAccounts && <AccountFilter value={of.account} onChange={(account) => set({ account })} />}
      <NativeSelect
        size="xs"
        aria-label={t('filter.enabled')}
        value={of.enabled}
        onChange={(event) => set({ enabled: event.currentTarget.value })}
        data={[
          { value: '', label: t('enabled.any') },
          { value: 'true', label: t('enabled.yes') },
          { value: 'false', label: t('enabled.no') },
        ]}
      />
    </>
  );
}

/** A filter that is typed: asks when the typing pauses. */
function Typed({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) {
  const [text, setText] = useTypedFilter(value, onChange);
  return (
    <TextInput
      size="xs"
      w={140}
      aria-label={label}
      placeholder={label}
      value={text}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

function AccountFilter({ value, onChange }: { value: string; onChange: (account: string) => void }) {
  const { t } = useTranslation(['search', 'common']);
  const [typed, setTyped] = useState('');
  const [keyword] = useDebouncedValue(typed, TYPING_MS);
  const query = useQuery(listOptions('/api/accounts', { query: { page: 1, limit: 20, keyword } }));
  const data = (query.data?.rows ?? []).map(({ id, name }) => ({ value: String(id), label: name }));
  // the chosen one may be on another page
  const known = !value || data.some((one) => one.value === value) ? data : [{ value, label: `#${value}` }, ...data];
  return (
    <Select
      size="xs"
      w={170}
      aria-label={t('filter.account')}
      placeholder={t('filter.account')}
      data={known}
      value={value || null}
      onChange={(account) => onChange(account ?? '')}
      searchable
      comboboxProps={{ withinPortal: false }}
      clearable
      clearButtonProps={{ 'aria-label': t('common:clear') }}
      onSearchChange={setTyped}
      filter={({ options }) => options}
      nothingFoundMessage={t('common:nothingFound')}
    />
  );
}
