import { useTranslation } from 'react-i18next';
import { type Meaning, Status } from '~/components/status';
import type { Rule } from './rule';

/** How a rule stands, the worst first. */
export function stateOf({ state, hold }: Rule): [key: string, is: Meaning] {
  if (state.failure) return ['failed', 'bad'];
  if (hold) return ['held', 'warn'];
  if (state.values.length && state.values.every(({ up }) => up === false)) return ['allDown', 'bad'];
  if (state.active === 'backup') return ['onBackup', 'warn'];
  if (state.values.some(({ up }) => up === false)) return ['someDown', 'warn'];
  if (state.values.some(({ up }) => up === null)) return ['unknown', 'busy'];
  return ['good', 'good'];
}

export function RuleStatus({ rule, enabled }: { rule: Rule; enabled: boolean }) {
  const { t } = useTranslation('failover');
  const [key, is] = enabled ? stateOf(rule) : ['off', 'off' as const];
  return <Status is={is}>{t(`state.${key}`)}</Status>;
}
