import { MultiSelect, type MultiSelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { listOptions } from '~/api/query';

/** `/api/domains` has all that one sees, `/api/tokens/domains` those that one may grant to a token. */
export type DomainSource = '/api/domains' | '/api/tokens/domains';

interface Named {
  id: number;
  name: string;
}

const FOUND = 50;
const TYPING_MS = 250;

/** The domains that fit a text, asked of the server, and those that are chosen already. */
function useFound(source: DomainSource, text: string, chosen: Named[]) {
  const [keyword] = useDebouncedValue(text, TYPING_MS);
  const { data } = useQuery({
    ...listOptions(source, { query: { keyword, limit: FOUND, sort: 'name' } }),
    placeholderData: keepPreviousData,
  });
  const rows = (data?.rows ?? []) as Named[];
  const all = new Map([...chosen, ...rows].map(({ id, name }) => [String(id), name]));
  return [...all].map(([value, label]) => ({ value, label }));
}

interface ManyProps extends Omit<MultiSelectProps, 'data' | 'value' | 'onChange'> {
  source: DomainSource;
  value: string[];
  onChange: (ids: string[]) => void;
  /** names of those that are chosen from the start */
  known?: Named[];
}

/** Domains, found by typing. Its values are ids. */
export function DomainsPicker({ source, value, onChange, known = [], ...rest }: ManyProps) {
  const { t } = useTranslation('common');
  const [text, setText] = useState('');
  const [seen, setSeen] = useState<Named[]>([]);
  const names = value.map(
    (id) => [...known, ...seen].find((domain) => String(domain.id) === id) ?? { id: Number(id), name: `#${id}` },
  );
  const data = useFound(source, text, names);
  return (
    <MultiSelect
      searchable
      data={data}
      value={value}
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      nothingFoundMessage={t('nothingFound')}
      hidePickedOptions
      onChange={(ids) => {
        setSeen(ids.map((id) => ({ id: Number(id), name: data.find((o) => o.value === id)?.label ?? `#${id}` })));
        onChange(ids);
      }}
      {...rest}
    />
  );
}
