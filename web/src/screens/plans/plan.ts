import { client } from '~/api/client';
import { $api, invalidate } from '~/api/query';
import type { components } from '~/api/schema';
import type { Meaning } from '~/components/status';

type Schemas = components['schemas'];
export type Plan = Schemas['PlanView'];
export type PlanGroup = Schemas['PlanGroupView'];
export type PlanInput = Schemas['PlanInput'];
export type PlanState = Plan['state'];

/** What each state of a plan means. */
export const STATES: Record<PlanState, Meaning> = {
  open: 'off',
  waiting: 'warn',
  approved: 'busy',
  applied: 'good',
  stale: 'bad',
  rejected: 'bad',
  discarded: 'off',
  expired: 'off',
};

/**
 * Where a plan came from, as the address of its screen has it, so that it can be worked out anew once it is stale:
 * `{version: '3'}`, `{undo: '12'}`, `{drift: '1', host, type}`.
 */
export type Origin = Record<string, string>;

/** The plan that leads there. @returns null where the address names no origin */
export function inputOf({ version, undo, drift, host, type }: Origin): PlanInput | null {
  if (version) return { version: Number(version) };
  if (undo) return { change_set_id: Number(undo) };
  if (drift) return { drift: true, ...(host && { hosts: [host] }), ...(type && { types: [type] }) };
  return null;
}

/** Has a plan worked out. Its `id` is null where nothing is to be done. */
export async function makePlan(domain: number, body: PlanInput): Promise<Plan> {
  const { data } = await client.POST('/api/domains/{domain_id}/plans', {
    params: { path: { domain_id: String(domain) } },
    body,
  });
  await invalidate('/api/domains/{domain_id}/plans');
  return data as Plan;
}

/** Whether the caller may write records of a domain, be it only some: what cannot be done is not offered. */
export const useMayWrite = (domain: number): boolean =>
  $api.useQuery('get', '/api/domains/{domain_id}', { params: { path: { domain_id: String(domain) } } }).data
    ?.permission === 'write';

/** All that shows records, plans or histories is read anew. */
export const recordsChanged = () =>
  invalidate('/api/plans', '/api/domains', '/api/records', '/api/changes', '/api/dashboard');

/** The same of a plan over many domains, or of one. */
export const isGroup = (plan: Plan | PlanGroup): plan is PlanGroup => 'plans' in plan;
