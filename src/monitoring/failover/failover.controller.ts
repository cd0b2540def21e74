import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, OnDomain } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { Conditional, type Conditions, Given, Tagged } from '../../platform/http/conditions.js';
import { Bounded, BoundQuery } from '../../platform/http/wait.dto.js';
import { ChangeSetList, HistoryQuery } from '../../records/history/change.dto.js';
import { FailoverInput, FailoverView, SwitchInput, SwitchQuery, SwitchResult } from './failover.dto.js';
import { FailoverService, failoverTag } from './failover.service.js';

const IfMatch = () =>
  Conditional({
    'If-Match':
      'the `ETag` of the rules as they were read: 412001 with what there is (`failover`) when they are others by now',
  });

@ApiTags('Failover')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/failover')
export class FailoverController {
  constructor(private readonly failover: FailoverService) {}

  /** The rules of failover of a domain, and how each stands. The header `ETag` names them, for `If-Match`. */
  @Get()
  @Tagged(failoverTag)
  @Access({ domain: 'read', scope: 'records:read' })
  get(@OnDomain() domain: OpenDomain): Promise<FailoverView> {
    return this.failover.get(domain);
  }

  /**
   * Makes the rules what the body says: a rule with an `id` stays the same one, others are new, and what is not named
   * goes. What a GET answered may be sent back. Each value is checked every `interval_s`; the record set holds the
   * primary values that work, or where none does the backup values that work, and stays as it is where nothing works.
   * Rules act within two seconds from then on. 409001 while one of them is being
   * switched, 500002 when that does not end within `wait` seconds.
   */
  @Post()
  @HttpCode(200)
  @Access({ domain: 'write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'provider')
  @IfMatch()
  @Tagged(failoverTag)
  @Audited('failover.update')
  put(
    @OnDomain() domain: OpenDomain,
    @Body() body: FailoverInput,
    @Bounded() _: BoundQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<FailoverView> {
    return this.failover.put(me, domain, body, conditions);
  }

  /**
   * Forgets all rules of a domain. The records stay as they are. 409001 while one of them is being switched;
   * 500002 when that does not end within `wait` seconds.
   */
  @Delete()
  @Access({ domain: 'write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'provider')
  @IfMatch()
  @Audited('failover.delete')
  remove(
    @OnDomain() domain: OpenDomain,
    @Bounded() _: BoundQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<void> {
    return this.failover.remove(me, domain, conditions);
  }

  /** The lists of changes that rules of the domain made, or somebody by a switch by hand, newest first. */
  @Get('history')
  @Access({ domain: 'read', scope: 'records:read' })
  async history(
    @OnDomain() domain: OpenDomain,
    @Query() query: HistoryQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChangeSetList> {
    const { total, list, page, limit } = await this.failover.history(domain, query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }

  /**
   * Switches a rule by hand: to those values of the side that work, or to all of them where none does. Where the rule
   * would switch again at once it goes on hold, unless `hold` says otherwise. 409001 when the record set is not as the
   * rule left it, or the rule is being switched. With `dryRun=true` it only tells what would be done.
   */
  @Post(':ruleId/switch')
  @HttpCode(200)
  @Access({ domain: 'write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'suspicious', 'provider')
  @Audited('failover.switch')
  switch(
    @OnDomain() domain: OpenDomain,
    @Param('ruleId', IdPipe) ruleId: number,
    @Body() body: SwitchInput,
    @Bounded() { dryRun }: SwitchQuery,
    @Me() me: Caller,
  ): Promise<SwitchResult> {
    return this.failover.switch(me, domain, ruleId, body, dryRun ?? false);
  }
}
