import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me, OnDomain } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { Conditional, type Conditions, Given, Tagged } from '../../platform/http/conditions.js';
import { Bounded } from '../../platform/http/wait.dto.js';
import { RrsetInput, RrsetQuery, RrsetResult, RrsetView, RrsetWriteQuery } from './rrset.dto.js';
import { RrsetsService } from './rrsets.service.js';

const IF_MATCH =
  'the `ETag` of the set as it was read, or `*`: 412001 with the set found when it is another one by now, also where it was changed at the provider, or none';

@ApiTags('Records')
@ApiParam({ name: 'domain_id', type: 'integer' })
@ApiParam({
  name: 'host',
  description: 'name of the set, as of a record: `@`, `www`, `*.a`',
  schema: { type: 'string', pattern: '^[^/]{1,300}$' },
})
@ApiParam({
  name: 'type',
  description: 'record type, any case',
  schema: { type: 'string', pattern: '^[A-Za-z0-9]{1,16}$' },
})
@Controller('domains/:domain_id/rrsets/:host/:type')
export class RrsetsController {
  constructor(private readonly rrsets: RrsetsService) {}

  /** A record set: all values of a name and type, from the cache. The header `ETag` names its state, for `If-Match`. */
  @Get()
  @Tagged()
  @Access({ domain: 'read', scope: 'records:read' })
  get(
    @OnDomain() domain: OpenDomain,
    @Param('host') host: string,
    @Param('type') type: string,
    @Query() { line }: RrsetQuery,
  ): Promise<RrsetView> {
    return this.rrsets.get(domain, host, type, line);
  }

  /**
   * Makes a record set at the provider what the body says, however often it is sent: what is missing is created, what
   * differs is changed, what is not named goes. The provider is asked what it holds before: values that somebody made
   * there past the service go, too, and are named in `replaced`. `changed` is false when nothing was to do. All or
   * nothing as far as it can be judged here; 409001 while others change it, 409002 when the zone has to be read and
   * lacks too much, 500002 when the provider fails. What `GET` answers is a legal body: ids are left aside, and 400001
   * where host, type or line are not those of the address.
   */
  @Put()
  @HttpCode(200)
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'suspicious', 'precondition', 'unconditional', 'provider')
  @Conditional({ 'If-Match': IF_MATCH, 'If-None-Match': '`*`: 412001 when there is such a set' })
  @Audited('record.batch')
  put(
    @OnDomain() domain: OpenDomain,
    @Param('host') host: string,
    @Param('type') type: string,
    @Bounded() { line }: RrsetWriteQuery,
    @Body() body: RrsetInput,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<RrsetResult> {
    return this.rrsets.put(me, domain, { host, type, line }, body, conditions);
  }

  /**
   * Deletes all values of a name and type at the provider, also those made past the service (`replaced`); `changed` is
   * false when there were none.
   */
  @Delete()
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'guarded', 'frozen', 'suspicious', 'precondition', 'unconditional', 'provider')
  @Conditional({ 'If-Match': IF_MATCH })
  @Audited('record.batch')
  remove(
    @OnDomain() domain: OpenDomain,
    @Param('host') host: string,
    @Param('type') type: string,
    @Bounded() { line }: RrsetWriteQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<RrsetResult> {
    return this.rrsets.remove(me, domain, host, type, conditions, line);
  }
}
