import { Autocomplete, Button, Select, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { useTypedFilter } from '~/components/use-typed-filter';
import { type Filters, NARROWING } from './use-filters';

interface Props {
  filters: Filters;
  set: (change: Partial<Filters>) => void;
}

function TextFilter({ of, filters, set, width = 130 }: Props & { of: 'user' | 'domain' | 'ip'; width?: number }) {
  const { t } = useTranslation('audit');
  const [text, setText] = useTypedFilter(filters[of], (value) => set({ [of]: value, until: '' }));
  return (
    <TextInput
      size="xs"
      w={width}
      aria-label={t(`filter.${of}`)}
      placeholder={t(`filter.${of}`)}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      spellCheck={false}
    />
  );
}

/** Who, what, which domain, when, with what result. */
export function AuditFilters({ filters, set }: Props) {
  const { t } = useTranslation('audit');
  const meta = $api.useQuery('get', '/api/meta', {}, { staleTime: Number.POSITIVE_INFINITY });
  const [action, setAction] = useTypedFilter(filters.action, (value) => set({ action: value, until: '' }));
  const isNarrowed = NARROWING.some((name) => filters[name] !== '');
  const day = (name: 'start_date' | 'end_date') => (
    <TextInput
      size="xs"
      type="date"
      w={140}
      aria-label={t(`filter.${name}`)}
      title={t(`filter.${name}`)}
      value={filters[name]}
      onChange={(event) => set({ [name]: event.currentTarget.value, until: '' })}
    />
  );
  return (
    <>
      <TextFilter of="user" filters={filters} set={set} />
      <Autocomplete
        size="xs"
        w={150}
        aria-label={t('filter.action')}
        placeholder={t('filter.action')}
        data={meta.data?.audit_nouns.map((noun) => `${noun}.*`) ?? []}
        limit={40}
        value={action}
        onChange={setAction}
      />
      <TextFilter of="domain" filters={filters} set={set} width={150} />
      <TextFilter of="ip" filters={filters} set={set} width={120} />
      {day('start_date')}
      {day('end_date')}
      <Select
        size="xs"
        w={120}
        aria-label={t('result')}
        data={[
          { value: '', label: t('results.any') },
          { value: 'ok', label: t('results.ok') },
          { value: 'failed', label: t('results.failed') },
        ]}
        allowDeselect={false}
        value={filters.result}
        onChange={(result) => set({ result: result ?? '', until: '' })}
      />
      {isNarrowed && (
        <Button
          variant="subtle"
          onClick={() => set({ ...Object.fromEntries(NARROWING.map((name) => [name, ''])), until: '' })}
        >
          {t('allEntries')}
        </Button>
      )}
    </>
  );
}
