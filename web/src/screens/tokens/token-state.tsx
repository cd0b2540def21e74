import { useTranslation } from 'react-i18next';
import { type Meaning, Status } from '~/components/status';
import type { Token } from './token-draft';

type State = 'active' | 'disabled' | 'ended' | 'notYet';

const MEANS: Record<State, Meaning> = { active: 'good', disabled: 'off', ended: 'bad', notYet: 'off' };

function stateOf({ is_active, start_time, end_time }: Token): State {
  if (!is_active) return 'disabled';
  if (end_time && Date.parse(end_time) < Date.now()) return 'ended';
  return start_time && Date.parse(start_time) > Date.now() ? 'notYet' : 'active';
}

/** Whether a token works, in a word. */
export function TokenState({ token }: { token: Token }) {
  const { t } = useTranslation('tokens');
  const state = stateOf(token);
  return <Status is={MEANS[state]}>{t(`state.${state}`)}</Status>;
}
