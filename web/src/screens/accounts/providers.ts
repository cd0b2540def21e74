import { $api } from '~/api/query';
import type { components } from '~/api/schema';

type Schemas = components['schemas'];
export type Provider = Schemas['ProviderView'];
export type Field = Schemas['CredentialFieldView'];
export type Account = Schemas['AccountView'];

/** All kinds of providers, which change with the version of the service only. */
export const useProviders = () => $api.useQuery('get', '/api/providers', {}, { staleTime: Number.POSITIVE_INFINITY });

/** How a kind is called. */
export function useProviderLabel(): (kind: string) => string {
  const { data } = useProviders();
  return (kind) => data?.find((one) => one.kind === kind)?.label ?? kind;
}

/** The kinds whose name has all these words, those that begin so first. */
export function found(providers: readonly Provider[], text: string): Provider[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const nameOf = ({ kind, label }: Provider) => `${label} ${kind}`.toLowerCase();
  const begins = (one: Provider) => (words[0] && nameOf(one).startsWith(words[0]) ? 0 : 1);
  return providers
    .filter((one) => words.every((word) => nameOf(one).includes(word)))
    .toSorted((a, b) => begins(a) - begins(b) || a.label.localeCompare(b.label));
}

/** The alternative that stored credentials are of: the first whose required fields are all there. */
export function alternativeOf({ alternatives }: Provider, has: (key: string) => boolean): number {
  const fits = alternatives.map(({ required }) => required.every(has));
  return Math.max(0, fits.indexOf(true));
}
