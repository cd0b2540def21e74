import { Role } from '../../access/access.js';
import type { Actor } from '../../audit/audit.service.js';
import type { ChangeRules } from '../../domains/change-rules/change-rules.js';
import { type Closed, closedAt } from '../../domains/change-rules/windows.js';
import { timeMs } from '../../platform/common/clock.js';
import { type AppError, errors } from '../../platform/common/errors.js';
import type { Net } from '../edits/working-copy.js';

/** Records before and after changes. */
type States = readonly { [K in 'before' | 'after']: Pick<NonNullable<Net[K]>, 'host' | 'type'> | null }[];
type Times = Pick<ChangeRules, 'freeze' | 'windows'>;

/** Whether all of some changes are of answers to ACME challenges. */
const areAcme = (changes: States): boolean =>
  changes.every(({ before, after }) =>
    [before, after].every((state) => !state || (state.type === 'TXT' && /^_acme-challenge(\.|$)/.test(state.host))),
  );

/** Why these changes have to wait, by a freeze or the windows of their domain; null: they have not. */
export const closedFor = (rules: Times, changes: States): Closed | null =>
  closedAt(rules, timeMs(), changes.length > 0 && areAcme(changes));

/** The error of changes that have to wait: 423002. */
export function frozen({ until, why }: Closed): AppError {
  const seconds = Math.max(1, Math.ceil((Date.parse(until) - timeMs()) / 1000));
  if (why === null) return errors.frozen('outside_windows', seconds, { until }, { until });
  return errors.frozen('changes_frozen', seconds, { until, why }, { until });
}

/**
 * The reason for which an actor means to change records in spite of a freeze, or outside of the windows.
 * @throws AppError 403001 for all but those of role 3; a token has the role that it counts as
 */
export function overrideOf(actor: Actor): string | undefined {
  const override = actor === 'system' ? undefined : actor.intent?.override;
  if (override === undefined) return undefined;
  const { role = Role.User } = (actor !== 'system' && actor.principal) || {};
  if (role < Role.Super) throw errors.forbidden('override_needs_super', {}, { required: 'role:3' });
  return override;
}
