import { useUrlState } from '~/state/use-url-state';

const NONE = {
  user: '',
  action: '',
  domain: '',
  target: '',
  ip: '',
  result: '',
  start_date: '',
  end_date: '',
  keyword: '',
  until: '',
  page: '1',
};
export type Filters = typeof NONE;
/** Filters that narrow the log, and nothing but that. */
export const NARROWING = ['user', 'action', 'domain', 'target', 'ip', 'result', 'start_date', 'end_date'] as const;

/** The filters of the audit log, in the address. */
export const useFilters = () => useUrlState<Filters>(NONE);

/** The query of the API, without what is empty. */
export const queryOf = (filters: Partial<Filters>) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
