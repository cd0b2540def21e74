import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { PermissionInput, PermissionView } from './permission.dto.js';
import { PermissionsService } from './permissions.service.js';

@ApiTags('Teams')
@Access({})
@Controller('teams/:id/permissions')
export class PermissionsController {
  constructor(private readonly permissions: PermissionsService) {}

  /** What the team may do with domains. */
  @Get()
  async list(
    @Param('id', IdPipe) id: number,
    @Query() query: PageQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PermissionView[]> {
    const { total, list } = await this.permissions.list(signedIn(me), id, query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /**
   * Gives the team a right on a domain. For its owners and managers who own the domain, and for administrators; 409001
   * when the team has it.
   */
  @Post()
  @Fails('conflict')
  @Audited('permission.create')
  @Makes<PermissionView>(({ id }) => id)
  create(@Param('id', IdPipe) id: number, @Body() body: PermissionInput, @Me() me: Caller): Promise<PermissionView> {
    return this.permissions.create(me, id, body);
  }

  /** One right of the team: for its members, and administrators. */
  @Get(':permissionId')
  get(
    @Param('id', IdPipe) id: number,
    @Param('permissionId', IdPipe) permissionId: number,
    @Me() me: Caller,
  ): Promise<PermissionView> {
    return this.permissions.get(signedIn(me), id, permissionId);
  }

  /** Takes a right away. It counts from the members' next request on. */
  @Delete(':permissionId')
  @Audited('permission.delete')
  remove(
    @Param('id', IdPipe) id: number,
    @Param('permissionId', IdPipe) permissionId: number,
    @Me() me: Caller,
  ): Promise<void> {
    return this.permissions.remove(me, id, permissionId);
  }
}
