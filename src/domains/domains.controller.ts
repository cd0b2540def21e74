import { Body, Controller, Get, Post, Put, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, OnDomain, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { answerShort } from '../platform/common/short-lists.js';
import { type Conditions, Given, Tagged } from '../platform/http/conditions.js';
import {
  DomainCreateQuery,
  DomainDetail,
  DomainInput,
  DomainPatch,
  DomainQuery,
  DomainView,
  domainTag,
  IfMatchDomain,
  LineView,
} from './domain.dto.js';
import { DomainChanges } from './domain-changes.service.js';
import type { OpenDomain } from './domain-policy.js';
import { DomainsService } from './domains.service.js';
import { ZoneFacts } from './zone-facts.service.js';

@ApiTags('Domains')
@Controller('domains')
export class DomainsController {
  constructor(
    private readonly domains: DomainsService,
    private readonly changes: DomainChanges,
    private readonly facts: ZoneFacts,
  ) {}

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

  /**
   * Adds a public zone of an account; it must exist at the provider (404001), unless `create` makes it there (501001
   * where the provider cannot). Its records are read at once. Answers 409001 when it is here already, or only a
   * private zone has the name, 500002 when the provider fails. One that has the name of somebody else's domain, or
   * lies below or above it, is for administrators (403001), and asks them for `force=true` (409001); so is a public
   * suffix such as `co.uk`. A zone of the same server that another account has here already is 409001, and
   * `force=true` of an administrator adds it all the same; one's own name at another provider is no conflict.
   */
  @Post()
  @Access({})
  @Fails('notFound', 'conflict', 'provider', 'unsupported')
  @Audited('domain.create')
  @Makes<DomainDetail>(({ id }) => id)
  create(@Body() body: DomainInput, @Query() { force }: DomainCreateQuery, @Me() me: Caller): Promise<DomainDetail> {
    return this.changes.create(me, body, force ?? false);
  }

  /** One domain. The header `ETag` names its state, for `If-Match`. */
  @Get(':domain_id')
  @Tagged(domainTag)
  @Access({ domain: 'read', scope: 'domains:read' })
  @ApiParam({ name: 'domain_id', type: 'integer' })
  get(@OnDomain() domain: OpenDomain, @Me() me: Caller): DomainDetail {
    return this.domains.detail(signedIn(me), domain);
  }

  /** The routing lines that its records can have: `line` of a record is such an id. All unless a page is asked for. */
  @Get(':domain_id/lines')
  @Access({ domain: 'read', scope: 'domains:read' })
  @ApiParam({ name: 'domain_id', type: 'integer' })
  async lines(
    @OnDomain() domain: OpenDomain,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LineView[]> {
    return answerShort(response, await this.facts.lines(domain), query, {
      sorts: { id: (line) => line.id, name: (line) => line.name },
      search: (line) => [line.id, line.name],
    });
  }

  /**
   * Changes the remark, the expiry, whether certificates are watched (409001 for a private zone), and the rules for
   * changes of records. Only the owner and administrators change rules, and only in a session; tokens get 403001. While
   * an approval is required, only approvers may loosen a rule.
   */
  @Put(':domain_id')
  @Access({ domain: 'write' })
  @Fails('conflict', 'precondition')
  @IfMatchDomain()
  @Tagged(domainTag)
  @Audited('domain.update')
  @ApiParam({ name: 'domain_id', type: 'integer' })
  update(
    @OnDomain() domain: OpenDomain,
    @Body() body: DomainPatch,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<DomainDetail> {
    return this.changes.update(me, domain, body, conditions);
  }
}
