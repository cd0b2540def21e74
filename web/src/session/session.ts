import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { quietClient } from '~/api/client';
import { ApiError } from '~/api/errors';
import type { components } from '~/api/schema';
import { chosenLanguage, ready, showLanguage } from '~/i18n';
import { forgetChoices } from './choices';
import { lifetimeMs } from './lifetime';
import { openFor, tellPages } from './opened-for';

type Schemas = components['schemas'];
export type User = Schemas['UserView'];
export type SignedIn = Schemas['LoginResult'];

/** Ranks: each may do what those before it may. */
export const Role = { User: 1, Admin: 2, Super: 3 } as const;

/** What a page needs once somebody has signed in. */
export const bootstrapOptions = queryOptions({
  queryKey: ['get', '/api/bootstrap', {}],
  queryFn: async ({ signal }) => {
    const { data, response } = await quietClient.GET('/api/bootstrap', { signal });
    const bootstrap = data as Schemas['BootstrapView'];
    openFor(bootstrap.me.id);
    // each renewal is in the audit log: not at each opening
    renewIn(lifetimeMs(bootstrap.renew_at, response.headers.get('date')));
    return bootstrap;
  },
  staleTime: 60_000,
});

/** What is shown to strangers: name, language, ways to sign in. */
export const siteOptions = queryOptions({
  queryKey: ['get', '/api/site', {}],
  queryFn: async ({ signal }) => (await quietClient.GET('/api/site', { signal })).data as Schemas['SiteView'],
  staleTime: 60_000,
});

/** Who is signed in, and what everybody may know of the settings. Only below the shell. */
export const useBootstrap = () => useSuspenseQuery(bootstrapOptions).data;
export const useMe = (): User => useBootstrap().me;

/** Whether the user has at least this role. */
export const useMay = (role: number): boolean => useMe().role >= role;

let renewal: ReturnType<typeof setTimeout> | undefined;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function renewIn(ms: number): void {
  clearTimeout(renewal);
  renewal = setTimeout(() => void renew(), Math.min(LONGEST_TIMER_MS, ms));
}

/** Renews the cookie at half of the life that it has left, as long as the page is open. */
export function renewBefore(expiresAt: string | undefined, { headers }: Response): void {
  if (expiresAt) renewIn(Math.max(10_000, lifetimeMs(expiresAt, headers.get('date')) / 2));
}

/** Renews the cookie now. A failure is no matter: the next request tells of an ended session. */
async function renew(): Promise<void> {
  try {
    const { data, response } = await quietClient.POST('/api/auth/refresh');
    renewBefore(data?.expires_at, response);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) renewIn(60_000);
  }
}

/** The language of the profile, unless another one was chosen in this browser. It is not chosen here by that. */
export async function applyProfile({ profile }: Schemas['BootstrapView']): Promise<void> {
  await ready;
  if (chosenLanguage() === null) await showLanguage(profile.language);
}

/**
 * Ends the session, in all pages of this browser, and loads the sign-in: nothing of this page is left.
 * @throws ApiError, Unreachable: somebody is still signed in
 */
export async function signOut(): Promise<void> {
  await quietClient.POST('/api/auth/logout').catch((error) => {
    // there is none any more
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  });
  tellPages(null);
  forgetChoices();
  location.assign(new URL('sign-in', document.baseURI));
}
