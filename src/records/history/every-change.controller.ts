import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, signedIn } from '../../access/access.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { ChangeQuery, ChangeSetList } from './change.dto.js';
import { ChangeReader } from './change-reader.service.js';

@ApiTags('Records')
@Controller('changes')
export class EveryChangeController {
  constructor(private readonly reader: ChangeReader) {}

  /**
   * The lists of changes of all domains that the caller may read, newest first: what `GET /api/domains/:id/changes`
   * shows, of each of them. Lists of domains that are not here any more are in the audit log only.
   */
  @Get()
  @Access({ narrowed: true, scope: 'records:read' })
  async list(
    @Query() query: ChangeQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChangeSetList> {
    const { total, list, page, limit } = await this.reader.listAll(signedIn(me), query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }
}
