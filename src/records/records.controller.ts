import { Body, Controller, Delete, Get, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, OnDomain } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { RecordInput, RecordPatch, RecordView, recordTag } from '../changes/edits/record.dto.js';
import { WriteQuery } from '../changes/gate/intent.dto.js';
import { type OpenDomain, revisionTag } from '../domains/domain-policy.js';
import { pageHeaders } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { Conditional, type Conditions, Given, Tagged } from '../platform/http/conditions.js';
import { Bounded } from '../platform/http/wait.dto.js';
import { RecordId, RecordList, RecordQuery, StatusInput } from './records.dto.js';
import { RecordsService } from './records.service.js';

const IfMatch = () =>
  Conditional({
    'If-Match': 'the `ETag` of the record as it was read: 412001 with the record found when it is another one by now',
  });

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Controller('domains/:domain_id/records')
export class RecordsController {
  constructor(private readonly records: RecordsService) {}

  /**
   * Records of a domain from the cache. Without `limit` all of them, up to 10 000; beyond that a `page` is required.
   * With `refresh=true` the provider is read first (500002 when it fails); a list that lacks more than half of twenty
   * or more known records changes nothing and is 409002 with what would go. `confirm=true` accepts it, and needs write
   * permission on the whole domain (API tokens: no rules, and the scope `records:write`).
   */
  @Get()
  @Access({ domain: 'read', scope: 'records:read' })
  @Fails('suspicious', 'provider')
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: RecordQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecordList> {
    const { total, list, asked, revision } = await this.records.list(me, domain, query, () => response.destroyed);
    pageHeaders(response, total, asked);
    response.setHeader('ETag', revisionTag(revision));
    return { total, list };
  }

  /**
   * Creates a record at the provider, then here. 409001 when it exists, 400001 when the provider cannot hold it or a
   * CNAME is in the way, 500002 when the provider refuses. Where the TTL belongs to the record set, a TTL that is given
   * changes that of the whole set. A record as `GET` shows it is a legal body, here and in other domains: its read-only
   * fields are left aside.
   */
  @Post()
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'provider')
  @Conditional({
    'If-None-Match':
      '`*`: 412001 with the set found when something of that name and type is there, also where it was made at the provider',
  })
  @Audited('record.create')
  @Makes<RecordId>(({ id }) => id)
  create(
    @OnDomain() domain: OpenDomain,
    @Body() body: RecordInput,
    @Bounded() _: WriteQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<RecordId> {
    return this.records.create(me, domain, body, conditions);
  }

  /** One record. The header `ETag` names its state, for `If-Match`. */
  @Get(':record_id')
  @Tagged(recordTag)
  @Access({ domain: 'read', scope: 'records:read' })
  get(@OnDomain() domain: OpenDomain, @Param('record_id', IdPipe) id: number): Promise<RecordView> {
    return this.records.get(domain, id);
  }

  /**
   * Changes what is given; what is left out stays. The other values of the same name and type are kept. Failures as of
   * `POST`: 409001, 500002.
   */
  @Put(':record_id')
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'unconditional', 'provider')
  @IfMatch()
  @Tagged(recordTag)
  @Audited('record.update')
  update(
    @OnDomain() domain: OpenDomain,
    @Param('record_id', IdPipe) id: number,
    @Body() body: RecordPatch,
    @Bounded() _: WriteQuery,
    @Me() me: Caller,
    @Given() { ifMatch }: Conditions,
  ): Promise<RecordView> {
    return this.records.update(me, domain, id, body, ifMatch);
  }

  /**
   * Deletes the record at the provider, then here; one that is gone at the provider is a success, unless `If-Match` is
   * sent: then, and when it is gone here, 412001. The other values of its name and type are kept; 409001 while others
   * change them, 500002 when the provider fails.
   */
  @Delete(':record_id')
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'unconditional', 'provider')
  @IfMatch()
  @Audited('record.delete')
  remove(
    @OnDomain() domain: OpenDomain,
    @Param('record_id', IdPipe) id: number,
    @Bounded() _: WriteQuery,
    @Me() me: Caller,
    @Given() { ifMatch }: Conditions,
  ): Promise<void> {
    return this.records.remove(me, domain, id, ifMatch);
  }

  /**
   * Takes a record out of DNS, or puts it back. Where the provider cannot disable records it is removed there, kept
   * here, and created again. Failures: 409001, 500002.
   */
  @Patch(':record_id/status')
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'precondition', 'unconditional', 'provider')
  @IfMatch()
  @Tagged(recordTag)
  @Audited('record.status')
  setEnabled(
    @OnDomain() domain: OpenDomain,
    @Param('record_id', IdPipe) id: number,
    @Body() { enabled }: StatusInput,
    @Bounded() _: WriteQuery,
    @Me() me: Caller,
    @Given() { ifMatch }: Conditions,
  ): Promise<RecordView> {
    return this.records.setEnabled(me, domain, id, enabled, ifMatch);
  }
}
