import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, GoesOn, Me, OnDomain } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { CancelService } from '../../changes/cancel.service.js';
import { HeldLists } from '../../changes/held.service.js';
import { ResumeService } from '../../changes/resume.service.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { Conditional, type Conditions, Given } from '../../platform/http/conditions.js';
import { BatchInput, BatchQuery, BatchResult } from '../batch/batch.dto.js';
import { BatchService, statusOf } from '../batch/batch.service.js';
import { ChangeQuery, ChangeSetDetail, ChangeSetList } from './change.dto.js';
import { ChangeReader } from './change-reader.service.js';

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id')
export class ChangesController {
  constructor(
    private readonly batches: BatchService,
    private readonly reader: ChangeReader,
    private readonly held: HeldLists,
    private readonly resume: ResumeService,
    private readonly cancels: CancelService,
  ) {}

  /**
   * Up to 5 000 changes as one list. Each is judged like a single one, against what those before it have made; one that
   * does not fit fails by itself, unless the list is `atomic`. Sets that an `upsert` is of are read at the provider
   * before. Answers with one outcome for each change: 200 when all were applied, 207 when some were not, 422002 with
   * the same `data` when all failed, or any with `fail=any`. More than 200 changes go on in the background (202),
   * unless they end within `wait` seconds: `GET /api/domains/:domain_id/changes/:changeSetId`, which `Location` names,
   * shows how far they are. Rights are judged when the list is accepted, and once more before each piece of it: where
   * they ended the rest is held. While the provider is away such a list pauses (`paused_until`), and goes on by
   * itself for a day; other writers of the domain are let in between its pieces. An atomic one is carried out in one
   * go, and ends with the first failure.
   */
  @Post('records/batch')
  @HttpCode(200)
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'suspicious', 'precondition', 'unconditional', 'unapplied', 'provider')
  @Conditional({
    'If-Match':
      'the `ETag` of `GET …/records`: 412001 with the `revision` when any record of the domain has changed since',
  })
  @ApiOkResponse({ type: BatchResult })
  @ApiResponse({ status: 207, type: BatchResult, description: 'some changes were not applied' })
  @ApiAcceptedResponse({ type: BatchResult, description: 'the list goes on in the background' })
  @GoesOn<BatchResult>(({ change_set_id: set }, { domain_id: id }) =>
    set === null ? null : `/api/domains/${id}/changes/${set}`,
  )
  @Audited('record.batch')
  async batch(
    @OnDomain() domain: OpenDomain,
    @Body() body: BatchInput,
    @Query() { wait, fail }: BatchQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
    @Res({ passthrough: true }) response: Response,
  ): Promise<BatchResult> {
    const result = await this.batches.run(me, domain, body, wait ?? 0, conditions);
    response.status(statusOf(result, fail === 'any'));
    return result;
  }

  /** The lists of changes of a domain, newest first. */
  @Get('changes')
  @Access({ domain: 'read', scope: 'records:read' })
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: ChangeQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChangeSetList> {
    const { total, list, page, limit } = await this.reader.list(domain, query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }

  /**
   * Ends a list: what is not begun becomes `not_tried`, what is on its way gets its end. For who made it, who may write
   * the whole domain, and administrators. Once more changes nothing; 409001 when it has come to its end by itself.
   */
  @Post('changes/:changeSetId/cancel')
  @HttpCode(200)
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict')
  @Audited('record.cancel')
  async cancel(
    @OnDomain() domain: OpenDomain,
    @Param('changeSetId', IdPipe) id: number,
    @Me() me: Caller,
  ): Promise<ChangeSetDetail> {
    await this.cancels.cancel(me, domain, id);
    return this.reader.get(domain, id);
  }

  /** One list, with what became of each change so far. */
  @Get('changes/:changeSetId')
  @Access({ domain: 'read', scope: 'records:read' })
  get(@OnDomain() domain: OpenDomain, @Param('changeSetId', IdPipe) id: number): Promise<ChangeSetDetail> {
    return this.reader.get(domain, id);
  }

  /**
   * Goes on with a long list that is held, since the right of who asked for it ended: what is left of it is made with
   * the right of who confirms it. 403001 for who may not make all of that, 409001 where it is not held.
   */
  @Post('changes/:changeSetId/confirm')
  @HttpCode(200)
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict')
  @Audited('changes.confirm')
  async confirm(
    @OnDomain() domain: OpenDomain,
    @Param('changeSetId', IdPipe) id: number,
    @Me() me: Caller,
  ): Promise<void> {
    await this.held.confirm(me, domain, id);
    this.resume.wake();
  }
}
