import { Controller, Delete, Get, Param, Query, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me, OnDomain } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import type { OpenDomain } from './domain-policy.js';
import { DomainPermissionView } from './permission.dto.js';
import { PermissionsService } from './permissions.service.js';

@ApiTags('Domains')
@ApiParam({ name: 'domain_id', type: 'integer' })
@Access({ domain: 'own' })
@Controller('domains/:domain_id/permissions')
export class DomainPermissionsController {
  constructor(private readonly permissions: PermissionsService) {}

  /**
   * Every right on a domain, whichever team it was given to: for its owner and for administrators. The total is in
   * `X-Total-Count`.
   */
  @Get()
  async list(
    @OnDomain() domain: OpenDomain,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DomainPermissionView[]> {
    const { total, list } = await this.permissions.ofDomain(domain.id, query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** One right on the domain, whichever team it was given to. */
  @Get(':permissionId')
  get(
    @OnDomain() domain: OpenDomain,
    @Param('permissionId', IdPipe) permissionId: number,
  ): Promise<DomainPermissionView> {
    return this.permissions.getOnDomain(domain.id, permissionId);
  }

  /** Takes a right on the domain back, whoever manages the team. It counts from the members' next request on. */
  @Delete(':permissionId')
  @Audited('permission.delete')
  remove(
    @OnDomain() domain: OpenDomain,
    @Param('permissionId', IdPipe) permissionId: number,
    @Me() me: Caller,
  ): Promise<void> {
    return this.permissions.takeBack(me, domain.id, permissionId);
  }
}
