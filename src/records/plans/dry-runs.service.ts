import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/access.js';
import type { DryRun } from '../../changes/dry-run.js';
import { PlanBuilder } from '../../changes/plans/plan-builder.service.js';
import { resultOf } from '../../changes/results.js';
import { revisionTag } from '../../domains/domain-policy.js';
import { assertConditions } from '../../platform/http/conditions.js';
import { batchResult, statusOf } from '../batch/batch.service.js';
import type { PlanView } from './plan.dto.js';
import { numbered, planRow, planView } from './plan-view.js';

/** What a write would do, by what the provider holds now, as a plan that is not stored. */
@Injectable()
export class DryRuns {
  constructor(private readonly builder: PlanBuilder) {}

  /** @throws what the write would be refused with, but for guards; AppError 409002, ProviderError of the reading */
  async view(me: Caller, { domain: opened, edits, options }: DryRun): Promise<PlanView> {
    const zone = await this.builder.read(me, opened);
    const { domain } = zone;
    const { ifMatch, comment } = options;
    assertConditions({ ifMatch }, revisionTag(domain.revision), { revision: domain.revision });
    const draft = await this.builder.build(me, zone, { edits, warnings: [], unchanged: 0 }, options);
    const { planned } = draft;
    const lost = planned.filter(({ error }) => error);
    // a list of which nothing fits is no success
    if (lost.length && lost.length === planned.length)
      statusOf(
        batchResult(
          me,
          null,
          planned.map((one) => resultOf(one, undefined)),
          null,
        ),
        false,
      );
    const failures = lost.flatMap(({ position, error }) => {
      if (!error) return [];
      const { code, message: msg, data } = error;
      return [{ path: `changes.${position}`, code, msg, ...(data !== undefined && { data: data as object }) }];
    });
    const view = planView(me, domain, { ...planRow(me, domain, draft, comment), id: null }, numbered(draft), 'direct');
    return failures.length ? { ...view, failures } : view;
  }
}
