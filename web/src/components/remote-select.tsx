import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions, type Row } from '~/api/query';

/** Lists of the API that are searched by `keyword` and whose entries have an `id`. */
type Searched =
  | '/api/teams'
  | '/api/accounts'
  | '/api/domains'
  | '/api/tokens/domains'
  | '/api/domains/{domain_id}/records';

interface Props<P extends Searched> extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'searchable'> {
  of: P;
  /** of the address of the list */
  path?: Record<string, string>;
  /** an entry in words; its name, where it has one */
  labelOf?: (row: Row<P>) => string;
  value: number | null;
  onChange: (id: number | null) => void;
  /** how the chosen one is called, where it may be none of the first page */
  known?: { id: number; name: string } | undefined;
}

const SHOWN = 50;
const TYPING_MS = 250;

/** One entry of a list of the API, found by typing: the server searches. */
export function RemoteSelect<P extends Searched>(props: Props<P>) {
  const {
    of,
    path,
    labelOf = (row) => (row as { name: string }).name,
    value,
    onChange,
    known,
    'aria-label': label,
    ...rest
  } = props;
  const { t } = useTranslation('common');
  const [text, setText] = useState('');
  const [keyword] = useDebouncedValue(text, TYPING_MS);
  // all that were seen, so that the chosen one keeps its label while others are looked for
  const [seen] = useState(() => new Map<number, string>());
  if (known) seen.set(known.id, known.name);
  const chosen = value === null ? undefined : (seen.get(value) ?? `#${value}`);
  // once one is chosen the field holds its label, which is no search
  const search = keyword === chosen || text === chosen ? undefined : keyword;
  const { data } = useQuery(
    listOptions(of, { ...(path && { path }), query: { keyword: search, limit: SHOWN, page: 1 } }),
  );
  const rows = (data?.rows ?? []).map((row) => ({ id: (row as { id: number }).id, label: labelOf(row) }));
  for (const { id, label } of rows) seen.set(id, label);
  if (value !== null && data && !rows.some(({ id }) => id === value))
    rows.unshift({ id: value, label: seen.get(value) ?? `#${value}` });
  return (
    <Select
      nothingFoundMessage={t('nothingFound')}
      {...rest}
      aria-label={label}
      searchable
      data={rows.map(({ id, label }) => ({ value: String(id), label }))}
      value={value === null ? null : String(value)}
      onChange={(id) => onChange(id === null ? null : Number(id))}
      onSearchChange={setText}
      filter={({ options }) => options}
      clearButtonProps={{ 'aria-label': label ? `× ${label}` : '×' }}
    />
  );
}
