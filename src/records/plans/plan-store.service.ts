import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import type { Draft } from '../../changes/plans/plan-builder.service.js';
import { type NewPlan, PlansRepository } from '../../changes/plans/plans.repository.js';
import { now } from '../../platform/common/clock.js';
import { errors } from '../../platform/common/errors.js';
import { Db } from '../../platform/database/db.js';
import { RateCounts } from '../../platform/rates/rate-counts.js';

/** Plans of one user that are open, or were discarded and have not expired, and the changes in all of them. */
const MAX_PLANS = 1000;
const MAX_CHANGES = 200_000;

/** Stores plans, and limits how many of them one user stores. */
@Injectable()
export class PlanStore {
  constructor(
    private readonly db: Db,
    private readonly plans: PlansRepository,
    private readonly rates: RateCounts,
  ) {}

  /**
   * Counts plans that will be stored, and their changes. These have a rate of their own, so that a long plan can be
   * applied at once.
   * @throws AppError 429001 for too many changes per minute; 409001 for too many plans
   */
  async admit(me: Caller, drafts: readonly Pick<Draft, 'changes'>[]): Promise<void> {
    const sizes = drafts.map((draft) => draft.changes.length).filter(Boolean);
    const changes = sizes.reduce((sum, size) => sum + size, 0);
    if (!changes) return;
    const { userId, token, ratePerMinute } = signedIn(me);
    const known = await this.plans.countUnapplied(userId, now(), MAX_CHANGES);
    if (known.plans + sizes.length > MAX_PLANS || known.changes + changes > MAX_CHANGES)
      throw errors.conflict('plans_full', { plans: MAX_PLANS, changes: MAX_CHANGES });
    if (!ratePerMinute) return;
    const key = `${token ? 'token' : 'user'}|${token?.id ?? userId}|plans`;
    const { refused, seconds } = await this.rates.ofChanges(key, ratePerMinute, changes);
    if (refused) throw errors.tooMany(refused, seconds);
  }

  /** @returns the id of the plan; null when it has nothing to do and is not stored */
  insert(plan: NewPlan, changes: Draft['changes']): Promise<number | null> {
    if (!changes.length) return Promise.resolve(null);
    return this.db.transaction((manager) => this.plans.insert(plan, changes, manager));
  }
}
