import { useQuery } from '@tanstack/react-query';
import { client } from '~/api/client';
import { ApiError } from '~/api/errors';
import { invalidate } from '~/api/query';
import type { components } from '~/api/schema';

type Schemas = components['schemas'];
export type Rule = Schemas['RuleView'];
export type RuleInput = Schemas['FailoverRuleInput'];
export type Failover = Schemas['FailoverView'];

const PATH = '/api/domains/{domain_id}/failover';
/** ms: what checks find is some seconds old anyway */
const POLL_MS = 5000;

/** The rules of a domain, with what names them as they were read. */
export const useFailover = (domain: number) =>
  useQuery({
    queryKey: ['get', PATH, { domain }],
    queryFn: async ({ signal }) => {
      const { data, response } = await client.GET(PATH, { params: { path: { domain_id: String(domain) } }, signal });
      return { ...(data as Failover), etag: response.headers.get('etag') ?? '' };
    },
    refetchInterval: ({ state }) => (state.data?.enabled && state.data.rules.length ? POLL_MS : false),
  });

/** A rule as it may be sent back. */
export const inputOf = ({ state: _, ...rule }: Rule): RuleInput => rule as RuleInput;

/**
 * Stores all rules, unless somebody else has changed them since they were read.
 * @param at the place of the rule that is edited: errors of its fields lose the way to it
 */
export async function saveRules(
  domain: number,
  { enabled, rules, etag }: { enabled: boolean; rules: RuleInput[]; etag: string },
  at = -1,
): Promise<void> {
  try {
    await client.POST(PATH, {
      params: { path: { domain_id: String(domain) } },
      headers: etag ? { 'If-Match': etag } : {},
      body: { enabled, rules },
    });
  } catch (error) {
    if (error instanceof ApiError && at >= 0) throw ofRule(error, at);
    throw error;
  } finally {
    await invalidate(PATH, '/api/domains/{domain_id}', '/api/dashboard');
  }
}

/** The same failure with fields as the form of the rule has them. */
function ofRule(error: ApiError, at: number): ApiError {
  const errors = error.fields.map((one) => ({
    ...one,
    path: one.path.replace(`rules.${at}.`, '').replace(/^(primary|backup)\.\d+$/, '$1'),
  }));
  return new ApiError(error.status, error.code, error.message, { ...error.data, errors }, error.requestId);
}

/** The side that a rule does not serve. */
export const otherSide = ({ state }: Rule): 'primary' | 'backup' => (state.active === 'primary' ? 'backup' : 'primary');
