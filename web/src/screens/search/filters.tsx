import { NativeSelect, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AccountFilter } from '~/components/account-filter';
import { useTypedFilter } from '~/components/use-typed-filter';

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
  return (
    <>
      {(['host', 'type', 'value', 'domain'] as const).map((key) => (
        <Typed key={key} label={t(`filter.${key}`)} value={of[key]} onChange={(text) => set({ [key]: text })} />
      ))}
      <AccountFilter label={t('filter.account')} value={of.account} onChange={(account) => set({ account })} />
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
