import type { components } from '~/api/schema';
import type { Meaning } from '~/components/status';

type Schemas = components['schemas'];
export type Domain = Schemas['DomainView'];
export type DomainDetail = Schemas['DomainDetail'];

const DAY_MS = 86_400_000;

/** How soon a registration ends: within a week, within a month, or later. */
export function urgency(ends: string, now: number): Meaning | null {
  const days = (Date.parse(ends) - now) / DAY_MS;
  if (days < 7) return 'bad';
  return days < 30 ? 'warn' : null;
}

/** How a zone is read. */
export function stateOf({
  status,
  synced_at,
}: Pick<Domain, 'status' | 'synced_at'>): ['missing' | 'never' | 'good', Meaning] {
  if (status === 'missing') return ['missing', 'bad'];
  return synced_at ? ['good', 'good'] : ['never', 'off'];
}
