import { useNavigate, useSearch } from '@tanstack/react-router';

/**
 * State that belongs to the address, such as filters, the order and the page: it survives reload, and links share it.
 * Values are texts; what is as by default is left out of the address.
 * @returns the state, and what changes some of it; any change but of `page` itself goes back to the first page
 */
export function useUrlState<S extends Record<string, string>>(defaults: S): [S, (change: Partial<S>) => void] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const state = Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, search[key] ?? value])) as S;
  const set = (change: Partial<S>) =>
    void navigate({
      to: '.',
      replace: true,
      search: ((before: Record<string, string | undefined>) => {
        const reset = 'page' in defaults && !('page' in change) ? { page: defaults.page } : {};
        const after: Record<string, string | undefined> = { ...before, ...reset, ...change };
        for (const [key, value] of Object.entries(defaults)) if (after[key] === value) delete after[key];
        return after;
      }) as never,
    });
  return [state, set];
}
