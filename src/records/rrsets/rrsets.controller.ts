import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Fails, Me, OnDomain } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import type { OpenDomain } from '../../domains/domain-policy.js';
import { RrsetInput, RrsetQuery, RrsetResult, RrsetView } from './rrset.dto.js';
import { RrsetsService } from './rrsets.service.js';

@ApiTags('Records')
@ApiParam({ name: 'id', type: 'integer', description: 'domain' })
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
@Controller('domains/:id/rrsets/:host/:type')
export class RrsetsController {
  constructor(private readonly rrsets: RrsetsService) {}

  /** A record set: all values of a name and type, from the cache. */
  @Get()
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
   * lacks too much, 500002 when the provider fails.
   */
  @Put()
  @HttpCode(200)
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'suspicious', 'provider')
  @Audited('record.batch')
  put(
    @OnDomain() domain: OpenDomain,
    @Param('host') host: string,
    @Param('type') type: string,
    @Body() body: RrsetInput,
    @Me() me: Caller,
  ): Promise<RrsetResult> {
    return this.rrsets.put(me, domain, host, type, body);
  }

  /**
   * Deletes all values of a name and type at the provider, also those made past the service (`replaced`); `changed` is
   * false when there were none.
   */
  @Delete()
  @Access({ domain: 'records', scope: 'records:write' })
  @Fails('conflict', 'suspicious', 'provider')
  @Audited('record.batch')
  remove(
    @OnDomain() domain: OpenDomain,
    @Param('host') host: string,
    @Param('type') type: string,
    @Query() { line }: RrsetQuery,
    @Me() me: Caller,
  ): Promise<RrsetResult> {
    return this.rrsets.remove(me, domain, host, type, line);
  }
}
