import type { GuardKey } from '../../domains/change-rules/change-rules.js';
import { AppError, errors } from '../../platform/common/errors.js';
import type { PlannedChange } from './planned.js';

/** A change of a list, as its plan shows it. */
export type WantedChange = PlannedChange & { guards: GuardKey[] };

/** A list needs somebody's approval: nothing of it is stored or sent yet. */
export class NeedsApproval extends Error {
  constructor(readonly changes: readonly WantedChange[]) {
    super('a list needs an approval');
  }
}

/** A list waits for somebody's approval as a plan: to whoever came by a route that is 202, to everybody else 409001. */
export class Waits extends AppError {
  constructor(readonly planId: number) {
    const { status, code, message, data } = errors.conflict(
      'waits_for_approval',
      { plan: planId },
      { plan_id: planId },
    );
    super(status, code, message, data);
  }
}
