import { Body, Controller, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { ApplyQuery } from '../../changes/gate/intent.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { BatchResult } from '../batch/batch.dto.js';
import { ApprovalsService } from './approvals.service.js';
import { DecisionInput, PlanView } from './plan.dto.js';
import { answered } from './plans.controller.js';

@ApiTags('Plans')
@Controller('plans')
export class ApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  /**
   * Approves a plan that waits: it is applied now, in the name of who asked and with their rights of this moment. For
   * those whom `approval.by` of the domain names, if they may read all of its records; not for who asked, unless
   * `approval.own` is set; never for tokens. Where something else stands there by now the plan is `stale` (412001);
   * where who asked may not make its changes any more it is `rejected` (403001); in a freeze it goes on waiting
   * (423002).
   */
  @Post(':id/approve')
  @HttpCode(200)
  @Access({ noTokens: true })
  @Fails('conflict', 'guarded', 'suspicious', 'precondition', 'unapplied', 'frozen', 'provider')
  @ApiOkResponse({ type: BatchResult })
  @ApiResponse({ status: 207, type: BatchResult, description: 'some changes were not applied' })
  @ApiAcceptedResponse({ type: BatchResult, description: 'the list goes on in the background' })
  @Audited('changes.approve')
  async approve(
    @Param('id', IdPipe) id: number,
    @Body() { comment }: DecisionInput,
    @Query() { wait }: ApplyQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResult> {
    return answered(response, await this.approvals.approve(me, id, comment ?? '', (wait ?? 0) * 1000));
  }

  /** Rejects a plan that waits, for those who could approve it. 409001 for one that does not wait. */
  @Post(':id/reject')
  @HttpCode(200)
  @Access({ noTokens: true })
  @Fails('conflict')
  @Audited('changes.reject')
  reject(@Param('id', IdPipe) id: number, @Body() { comment }: DecisionInput, @Me() me: Caller): Promise<PlanView> {
    return this.approvals.reject(me, id, comment ?? '');
  }
}
