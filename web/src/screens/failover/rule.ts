import { useQuery } from '@tanstack/react-query';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import { useTagged } from '~/api/tagged';

type Schemas = components['schemas'];
export type Rule = Schemas['RuleView'];
export type RuleInput = Schemas['FailoverRuleInput'];
export type Failover = Schemas['FailoverView'];

const PATH = '/api/domains/{domain_id}/failover';
/** ms: what checks find is some seconds old anyway */
const POLL_MS = 5000;

const read = (domain: number, signal: AbortSignal) =>
  client.GET(PATH, { params: { path: { domain_id: String(domain) } }, signal });

/** The rules of a domain, with what names them as they were read. */
export const useFailover = (domain: number) =>
  useQuery({
    queryKey: ['get', PATH, { domain }],
    queryFn: async ({ signal }) => {
      const { data, response } = await read(domain, signal);
      return { ...(data as Failover), etag: response.headers.get('etag') ?? '' };
    },
    refetchInterval: ({ state }) => (state.data?.enabled && state.data.rules.length ? POLL_MS : false),
  });

/** The same for the editor, which goes on from what it was opened with. */
export const useTaggedFailover = (domain: number) =>
  useTagged<Failover>(['get', PATH, { domain }, 'tagged'], (signal) => read(domain, signal));

/** A rule as it may be sent back. */
export const inputOf = ({ state: _, ...rule }: Rule): RuleInput => rule as RuleInput;

/** Stores all rules. @param headers the condition that nobody else has changed them since they were read */
export const putRules = (
  domain: number,
  body: { enabled: boolean; rules: RuleInput[] },
  headers: Record<string, string>,
) => client.POST(PATH, { params: { path: { domain_id: String(domain) } }, headers, body });

/** All that shows rules is read anew. */
export const rulesChanged = () => invalidate(PATH, '/api/domains/{domain_id}', '/api/dashboard');

/** Stores all rules, unless somebody else has changed them since they were read. */
export async function saveRules(
  domain: number,
  { enabled, rules, etag }: { enabled: boolean; rules: RuleInput[]; etag: string },
): Promise<void> {
  try {
    await putRules(domain, { enabled, rules }, etag ? { 'If-Match': etag } : {});
  } finally {
    await rulesChanged();
  }
}

/** A failure with fields as the form of a rule has them. @param at its place: errors of its fields lose the way to it */
export function ofRule(error: unknown, at: number): unknown {
  if (!(error instanceof ApiError)) return error;
  const errors = error.fields.map((one) => ({
    ...one,
    path: one.path.replace(`rules.${at}.`, '').replace(/^(primary|backup)\.\d+$/, '$1'),
  }));
  return new ApiError(error.status, error.code, error.message, { ...error.data, errors }, error.requestId);
}

/** The side that a rule does not serve. */
export const otherSide = ({ state }: Rule): 'primary' | 'backup' => (state.active === 'primary' ? 'backup' : 'primary');
