import { Button, NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '~/api/query';
import { AccountFilter } from '~/components/account-filter';
import { RemoteSelect } from '~/components/remote-select';
import { useUrlState } from '~/state/use-url-state';

export const NO_FILTERS = { account_id: '', team_id: '', provider: '', status: '' };
type Filters = typeof NO_FILTERS;

/** The filters of the domains, in the address. */
export function useDomainFilters() {
  const [state, set] = useUrlState({ ...NO_FILTERS, page: '1' });
  const { page: _, ...filters } = state;
  const isNarrowed = Object.values(filters).some(Boolean);
  return { filters, isNarrowed, query: filters, set: (change: Partial<Filters>) => set(change) };
}

/** What the server can narrow the list by. */
export function DomainFilters({ filters, isNarrowed, set }: ReturnType<typeof useDomainFilters>) {
  const { t } = useTranslation('domains');
  const { data: providers } = $api.useQuery('get', '/api/providers', {}, { staleTime: Number.POSITIVE_INFINITY });
  return (
    <>
      <AccountFilter
        label={t('filter.account')}
        value={filters.account_id}
        onChange={(account_id) => set({ account_id })}
      />
      <NativeSelect
        size="xs"
        w={150}
        aria-label={t('filter.provider')}
        data={[
          { value: '', label: t('filter.anyProvider') },
          ...(providers ?? []).map(({ kind, label }) => ({ value: kind, label })),
        ]}
        value={filters.provider}
        onChange={(event) => set({ provider: event.currentTarget.value })}
      />
      <NativeSelect
        size="xs"
        w={140}
        aria-label={t('filter.status')}
        data={[
          { value: '', label: t('filter.anyStatus') },
          { value: 'active', label: t('filter.active') },
          { value: 'missing', label: t('state.missing') },
        ]}
        value={filters.status}
        onChange={(event) => set({ status: event.currentTarget.value })}
      />
      <RemoteSelect
        of="/api/teams"
        size="xs"
        w={130}
        aria-label={t('filter.team')}
        placeholder={t('filter.team')}
        clearable
        value={Number(filters.team_id) || null}
        onChange={(id) => set({ team_id: id === null ? '' : String(id) })}
      />
      {isNarrowed && (
        <Button variant="subtle" onClick={() => set(NO_FILTERS)}>
          {t('filter.clear')}
        </Button>
      )}
    </>
  );
}
