import { useTranslation } from 'react-i18next';
import { type Meaning, Status } from '~/components/status';
import type { Account } from './providers';

export type AccountState = 'paused' | 'failed' | 'held' | 'never' | 'good';

const MEANINGS: Record<AccountState, Meaning> = {
  paused: 'warn',
  failed: 'bad',
  held: 'warn',
  never: 'off',
  good: 'good',
};

/** How an account stands, the worst first. */
export function stateOf({ paused_until, last_error, hold_reason, last_sync_at }: Account, now: number): AccountState {
  if (paused_until && Date.parse(paused_until) > now) return 'paused';
  if (last_error) return 'failed';
  if (hold_reason) return 'held';
  return last_sync_at ? 'good' : 'never';
}

export function AccountStatus({ account }: { account: Account }) {
  const { t } = useTranslation('accounts');
  const state = stateOf(account, Date.now());
  return <Status is={MEANINGS[state]}>{t(`state.${state}`)}</Status>;
}
