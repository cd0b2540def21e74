import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, signedIn } from '../../access/access.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { FoundRecordList, SearchQuery } from './search.dto.js';
import { RecordSearch } from './search.service.js';

@ApiTags('Records')
@Controller('records')
export class SearchController {
  constructor(private readonly search: RecordSearch) {}

  /**
   * The records of all domains that the caller may read, from the cache: what `GET /api/domains/:id/records` shows, of
   * each of them, with its domain.
   */
  @Get()
  @Access({ narrowed: true, scope: 'records:read' })
  async list(
    @Query() query: SearchQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FoundRecordList> {
    const { total, list, page, limit } = await this.search.list(signedIn(me), query, () => response.destroyed);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }
}
