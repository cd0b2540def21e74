import { useState } from 'react';
import type { ListState } from '~/components/data-table';

const PAGE = 50;

/** The state of a list that is one of several on a screen, and so has no place in the address. */
export function useLocalList(sort: string): ListState {
  const [state, setState] = useState({ sort, keyword: '', page: '1' });
  const page = Number(state.page);
  return {
    ...state,
    page,
    limit: PAGE,
    set: (change) => setState((before) => ({ ...before, page: '1', ...change })),
    query: { page, limit: PAGE, sort: state.sort, keyword: state.keyword || undefined },
  };
}
