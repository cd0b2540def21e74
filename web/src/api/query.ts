import { keepPreviousData, QueryClient, queryOptions } from '@tanstack/react-query';
import createQueryHooks from 'openapi-react-query';
import type { PathsWithMethod } from 'openapi-typescript-helpers';
import { sessionHeaders } from '~/session/opened-for';
import { ask, BASE, client, failureOf, type paths } from './client';
import { ApiError, needsSetup } from './errors';
import { onComeBack } from './reachable';

/** `$api.useQuery('get', '/api/…')` and `$api.useMutation`: keys are `[method, path, init]`. */
export const $api = createQueryHooks(client);

const TRIES = 3;
/** Whether a failure may be over soon: not that nobody has set the service up. */
const passes = (error: unknown) => !(error instanceof ApiError) || (error.status >= 502 && !needsSetup(error));

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) => count < TRIES && passes(error),
      retryDelay: (count) => Math.min(8000, 500 * 2 ** count),
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
onComeBack(() => void queryClient.invalidateQueries());

/** A page of a list, with how many there are in all. */
export interface Page<T> {
  rows: T[];
  total: number;
}

type Lists = PathsWithMethod<paths, 'get'>;
type Ok<P extends Lists> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer D } } } };
}
  ? D
  : never;
export type Row<P extends Lists> = Ok<P> extends (infer T)[] ? T : Ok<P> extends { list: (infer T)[] } ? T : never;

interface ListInit {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined>;
}

/**
 * A list of the API, be it an array with its total in a header or `{total, list}`. Keeps what is shown while the next
 * page is on its way. Key: `['get', path, init, 'list']`.
 */
export const listOptions = <P extends Lists>(path: P, init: ListInit = {}) =>
  queryOptions<Page<Row<P>>>({
    queryKey: ['get', path, init, 'list'],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = Object.fromEntries(Object.entries(init.query ?? {}).filter(([, v]) => v !== undefined && v !== ''));
      const ask = client.GET as unknown as (
        path: string,
        init: object,
      ) => Promise<{ data: unknown; response: Response }>;
      const { data, response } = await ask(path, { params: { path: init.path, query }, signal });
      if (Array.isArray(data))
        return { rows: data, total: Number(response.headers.get('x-total-count') ?? data.length) };
      const { list, total } = data as { list: Row<P>[]; total: number };
      return { rows: list, total };
    },
  });

/** Reads anew all that was read at addresses that begin with this one, once they are shown. */
export const invalidate = (...prefixes: string[]): Promise<void> =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey: [, path] }) =>
      typeof path === 'string' && prefixes.some((prefix) => path.startsWith(prefix)),
  });

/** Saves an answer of the API that is a file, such as an export. */
export async function download(path: string, name: string): Promise<void> {
  const response = await ask(new Request(BASE + path, { headers: sessionHeaders() }));
  const failure = response.ok ? null : await failureOf(response);
  if (failure) throw failure;
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
