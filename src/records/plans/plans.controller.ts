import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, OnDomain } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { ApplyQuery } from '../../changes/gate/intent.dto.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { BatchResult } from '../batch/batch.dto.js';
import { statusOf } from '../batch/batch.service.js';
import { PlanGroupResult, PlanGroupView } from './group.dto.js';
import { PlanGroups } from './groups.service.js';
import { ApplyInput, PlanInput, PlanList, PlanQuery, PlanView } from './plan.dto.js';
import { markdown, planText } from './plan-text.js';
import { PlansService } from './plans.service.js';

@ApiTags('Plans')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/plans')
export class DomainPlansController {
  constructor(private readonly plans: PlansService) {}

  /**
   * Works out what would have to be changed, and changes nothing. The zone is read at the provider first. Each change
   * says whether the caller may make it (`allowed`); `guards` name what may be a mistake. A plan lives for 24 hours.
   * One with nothing to do is not stored (`id: null`). A plan that has expired is deleted a day later.
   *
   * The changes of a stored plan count toward the rate limit of the caller, apart from changes that are made. One user
   * can have 1,000 plans that are neither applied nor expired, with 200,000 changes in all; more
   * are 409001 (`plans_full`).
   */
  @Post()
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'suspicious', 'provider')
  @Makes<PlanView>(({ id }) => id, '/api/plans')
  @Audited('changes.plan')
  create(@OnDomain() domain: OpenDomain, @Body() body: PlanInput, @Me() me: Caller): Promise<PlanView> {
    return this.plans.create(me, domain, body);
  }

  /** The plans of a domain, newest first, those of the last week. */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  async list(
    @OnDomain() domain: OpenDomain,
    @Me() me: Caller,
    @Query() query: PlanQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PlanList> {
    const { total, list, page, limit } = await this.plans.list(me, domain, query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }
}

/** seconds that a plan over many domains is waited for, where nobody says otherwise */
const GROUP_WAIT_S = 20;

@ApiTags('Plans')
@Controller('plans')
export class PlansController {
  constructor(
    private readonly plans: PlansService,
    private readonly groups: PlanGroups,
  ) {}

  /**
   * A plan, with the changes of records that the caller may read: as `Accept: text/plain` a unified diff, as
   * `text/markdown` what a pull request shows. One over many domains has a plan for each, and once it is applied what
   * became of them.
   */
  @Get(':id')
  @Access({ narrowed: true, scope: 'records:read' })
  @ApiOkResponse({ type: PlanView, description: 'success; of one over many domains with a `PlanGroupView` as `data`' })
  async get(
    @Param('id', IdPipe) id: number,
    @Headers('accept') accept: string | undefined,
    @Me() me: Caller,
  ): Promise<PlanView | PlanGroupView | StreamableFile> {
    const group = await this.groups.find(id);
    const plan = group ? await this.groups.get(me, group) : await this.plans.get(me, id);
    const text = /^text\/(plain|markdown)\b/.exec(accept ?? '')?.[1];
    if (!text) return plan;
    const all = 'plans' in plan ? plan.plans : [plan];
    const words = all.map(text === 'plain' ? planText : markdown).join(text === 'plain' ? '' : '\n');
    return new StreamableFile(Buffer.from(words), { type: `text/${text}; charset=utf-8` });
  }

  /** Ends a plan that is not applied; one over many domains with all of its plans. 409001 for one that has an end. */
  @Delete(':id')
  @Access({ narrowed: true, scope: 'records:write' })
  @Fails('conflict')
  @Audited('changes.discard')
  async discard(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    const group = await this.groups.find(id);
    await (group ? this.groups.discard(me, group) : this.plans.discard(me, id));
  }

  /**
   * Makes the changes of a plan exactly as they were shown, or none: the zone is read again, and where something else
   * stands at a name concerned the plan is `stale` (412001 with `data.differences`). Rights are judged for who applies
   * it, for every change, before anything is done. Guards that are not named in `force` are 409003 with `data.guards`.
   * Answers as `POST …/records/batch` does. A plan is applied once: 409001 afterwards.
   *
   * One over many domains is applied domain by domain, each as its plan alone: rights and guards of all of them are
   * judged before anything is done, then what is stale, refused or fails in one domain is said of it, and the others
   * are applied. 200 when all are, 207 when some are not. It is waited for 20 seconds, or `wait`; then 202: it goes on,
   * also after a crash, and `GET /api/plans/:id` shows how far it is.
   */
  @Post(':id/apply')
  @HttpCode(200)
  @Access({ narrowed: true, scope: 'records:write' })
  @Fails('conflict', 'guarded', 'suspicious', 'precondition', 'unapplied', 'frozen', 'provider')
  @ApiOkResponse({
    type: BatchResult,
    description: 'success; of one over many domains with `domains` and `counts` of a `PlanGroupView` as `data`',
  })
  @ApiResponse({ status: 207, type: BatchResult, description: 'some changes were not applied' })
  @ApiAcceptedResponse({ type: BatchResult, description: 'the list goes on in the background' })
  @Audited('record.batch')
  async apply(
    @Param('id', IdPipe) id: number,
    @Body() body: ApplyInput,
    @Query() { wait }: ApplyQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResult | PlanGroupResult> {
    const group = await this.groups.find(id);
    if (group) {
      const result = await this.groups.apply(me, group, body, (wait ?? GROUP_WAIT_S) * 1000);
      const { applied, running, not_tried } = result.counts;
      response.status(running || not_tried ? 202 : applied === result.domains.length ? 200 : 207);
      if (response.statusCode === 202) response.setHeader('Location', `/api/plans/${id}`);
      return result;
    }
    return answered(response, await this.plans.apply(me, id, body, (wait ?? 0) * 1000));
  }
}

/** What became of a plan that was applied, as a batch says it. @throws AppError 422002 */
export function answered(response: Response, { domain_id, ...result }: Awaited<ReturnType<PlansService['apply']>>) {
  const status = statusOf(result, false);
  response.status(status);
  if (status === 202) response.setHeader('Location', `/api/domains/${domain_id}/changes/${result.change_set_id}`);
  return result;
}
