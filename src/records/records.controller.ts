import { Body, Controller, Delete, Get, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, Audited, type Caller, Me, OnDomain } from '../common/access.js';
import { pageHeaders } from '../common/paging.dto.js';
import { IdPipe } from '../common/validation.js';
import type { OpenDomain } from '../domains/domain-policy.js';
import { RecordId, RecordInput, RecordList, RecordPatch, RecordQuery, RecordView, StatusInput } from './record.dto.js';
import { RecordsService } from './records.service.js';

@ApiTags('Records')
@ApiParam({ name: 'id', type: 'integer', description: 'domain' })
@Controller('domains/:id/records')
export class RecordsController {
  constructor(private readonly records: RecordsService) {}

  /** Records of a domain from the cache. Without `limit` all of them, up to 10 000; beyond that a `page` is required. */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: RecordQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecordList> {
    const { total, list, page, limit } = await this.records.list(domain, query);
    pageHeaders(response, total, { page, limit });
    return { total, list };
  }

  /**
   * Creates a record at the provider, then here. 409001 when it exists, 400001 when the provider cannot hold it or a CNAME is in the way, 500002 when the
   * provider refuses. Where the TTL belongs to the record set, a TTL that is given changes that of the whole set.
   */
  @Post()
  @Access({ domain: 'records', scope: 'records:write' })
  @Audited('record.create')
  create(@OnDomain() domain: OpenDomain, @Body() body: RecordInput, @Me() me: Caller): Promise<RecordId> {
    return this.records.create(me, domain, body);
  }

  /** One record. */
  @Get(':recordId')
  @Access({ domain: 'read', scope: 'records:read' })
  get(@OnDomain() domain: OpenDomain, @Param('recordId', IdPipe) id: number): Promise<RecordView> {
    return this.records.get(domain, id);
  }

  /** Changes what is given; what is left out stays. The other values of the same name and type are kept. */
  @Put(':recordId')
  @Access({ domain: 'records', scope: 'records:write' })
  @Audited('record.update')
  update(
    @OnDomain() domain: OpenDomain,
    @Param('recordId', IdPipe) id: number,
    @Body() body: RecordPatch,
    @Me() me: Caller,
  ): Promise<RecordView> {
    return this.records.update(me, domain, id, body);
  }

  /** Deletes the record at the provider, then here; the other values of its name and type are kept. */
  @Delete(':recordId')
  @Access({ domain: 'records', scope: 'records:write' })
  @Audited('record.delete')
  remove(@OnDomain() domain: OpenDomain, @Param('recordId', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.records.remove(me, domain, id);
  }

  /** Takes a record out of DNS, or puts it back. Where the provider cannot disable records it is removed there, kept here, and created again. */
  @Patch(':recordId/status')
  @Access({ domain: 'records', scope: 'records:write' })
  @Audited('record.status')
  setEnabled(
    @OnDomain() domain: OpenDomain,
    @Param('recordId', IdPipe) id: number,
    @Body() { enabled }: StatusInput,
    @Me() me: Caller,
  ): Promise<RecordView> {
    return this.records.setEnabled(me, domain, id, enabled);
  }
}
