import { Body, Controller, Delete, Get, Post, Put, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, Audited, type Caller, Me, OnDomain, signedIn } from '../common/access.js';
import { pageHeaders, pageOf } from '../common/paging.dto.js';
import { WRITE } from './access-rights.js';
import { DomainInput, DomainPatch, DomainQuery, DomainView } from './domain.dto.js';
import type { OpenDomain } from './domain-policy.js';
import { DomainsService, domainView } from './domains.service.js';

@ApiTags('Domains')
@Controller('domains')
export class DomainsController {
  constructor(private readonly domains: DomainsService) {}

  /** The domains that the caller may read; all of them unless `limit` is given. The total is in `X-Total-Count`. */
  @Get()
  @Access({ narrowed: true, scope: 'domains:read' })
  async list(
    @Query() query: DomainQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DomainView[]> {
    const { total, list } = await this.domains.list(signedIn(me), query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** Adds a zone of an account; it must exist at the provider (404001), unless `create` makes it there. Its records are read at once. */
  @Post()
  @Access({})
  @Audited('domain.create')
  async create(@Body() body: DomainInput, @Me() me: Caller): Promise<DomainView> {
    return domainView(await this.domains.create(me, body), WRITE);
  }

  /** One domain. */
  @Get(':id')
  @Access({ domain: 'read', scope: 'domains:read' })
  @ApiParam({ name: 'id', type: 'integer' })
  get(@OnDomain() domain: OpenDomain): DomainView {
    return domainView(domain, domain.access.level);
  }

  /** Changes remark or expiry. */
  @Put(':id')
  @Access({ domain: 'write' })
  @Audited('domain.update')
  @ApiParam({ name: 'id', type: 'integer' })
  async update(@OnDomain() domain: OpenDomain, @Body() body: DomainPatch, @Me() me: Caller): Promise<DomainView> {
    return domainView(await this.domains.update(me, domain, body), WRITE);
  }

  /** Forgets a domain here. Nothing is touched at the provider. */
  @Delete(':id')
  @Access({ domain: 'write' })
  @Audited('domain.delete')
  @ApiParam({ name: 'id', type: 'integer' })
  remove(@OnDomain() domain: OpenDomain, @Me() me: Caller): Promise<void> {
    return this.domains.remove(me, domain);
  }
}
