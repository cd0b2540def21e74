import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listOptions } from '~/api/query';

interface Named {
  id: number;
  name: string;
}

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'searchable'> {
  /** a list whose entries have `id` and `name` */
  of: '/api/teams' | '/api/accounts';
  value: number | null;
  onChange: (id: number | null) => void;
  /** how the chosen one is called, where it may be none of the first page */
  known?: Named | undefined;
}

const SHOWN = 50;
const TYPING_MS = 200;

/** One entry of a list of the API, found by typing: the server searches. */
export function RemoteSelect({ of, value, onChange, known, ...rest }: Props) {
  const [text, setText] = useState('');
  const [keyword] = useDebouncedValue(text, TYPING_MS);
  const [chosen, setChosen] = useState<Named | undefined>(known);
  // once one is chosen the field holds its name, which is no search
  const search = keyword === chosen?.name ? undefined : keyword;
  const { data } = useQuery(listOptions(of, { query: { keyword: search, limit: SHOWN, page: 1 } }));
  const rows: Named[] = (data?.rows ?? []).map(({ id, name }) => ({ id, name }));
  const here = [known, chosen].find((one) => one?.id === value);
  if (here && !rows.some(({ id }) => id === here.id)) rows.unshift(here);
  return (
    <Select
      {...rest}
      searchable
      data={rows.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value === null ? null : String(value)}
      onChange={(id) => {
        setChosen(rows.find((one) => String(one.id) === id));
        onChange(id === null ? null : Number(id));
      }}
      onSearchChange={setText}
      filter={({ options }) => options}
      clearButtonProps={{ 'aria-label': rest['aria-label'] ? `× ${rest['aria-label']}` : '×' }}
    />
  );
}
