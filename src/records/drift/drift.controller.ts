import { Controller, Delete, Get, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, OnDomain } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { pageHeaders } from '../../platform/common/paging.dto.js';
import { Accepted, AcceptQuery, DriftQuery, DriftView } from './drift.dto.js';
import { DriftService } from './drift.service.js';

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/drift')
export class DriftController {
  constructor(private readonly drift: DriftService) {}

  /**
   * The record sets that somebody changed at the provider, with what was here before and what is there now, as of the
   * last synchronisation. None while `drift.mode` of the domain is `adopt`, which takes such changes as they are.
   */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: DriftQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DriftView> {
    const { asked, ...view } = await this.drift.list(me, domain, query);
    pageHeaders(response, view.total, asked);
    return view;
  }

  /**
   * Accepts what was found: from now on it is what is wanted. For who may write the records concerned; of all
   * differences that the caller may read, or of those that the query names.
   */
  @Delete()
  @Access({ domain: 'records', scope: 'records:write' })
  @Audited('changes.accept')
  accept(@OnDomain() domain: OpenDomain, @Query() query: AcceptQuery, @Me() me: Caller): Promise<Accepted> {
    return this.drift.accept(me, domain, query);
  }
}
