import { Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { pageHeaders } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { DeliveryList, DeliveryQuery, DeliveryView } from './deliveries.dto.js';
import { Deliveries } from './deliveries.service.js';

@ApiTags('System')
@Controller('system/notifications')
export class DeliveriesController {
  constructor(private readonly deliveries: Deliveries) {}

  /**
   * What became of notices: one entry for each notice and channel, newest first, 20 a page. `?state=dead` are those
   * that nobody tries any more. Kept for 30 days.
   */
  @Get()
  @Access({ role: Role.Super })
  async list(@Query() query: DeliveryQuery, @Res({ passthrough: true }) response: Response): Promise<DeliveryList> {
    const { total, list, page } = await this.deliveries.list(query);
    pageHeaders(response, total, page);
    return { total, list };
  }

  /** Tries a dead delivery again, before what waits for its channel. It keeps the id that receivers know it by. */
  @Post(':id/retry')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('notification.retry')
  retry(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<DeliveryView> {
    return this.deliveries.retry(me, id);
  }
}
