import { Body, Controller, Delete, Get, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Makes, Me, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { TeamDetail, TeamInput, TeamPatch, TeamView } from './team.dto.js';
import { TeamsService } from './teams.service.js';

@ApiTags('Teams')
@Access({})
@Controller('teams')
export class TeamsController {
  constructor(private readonly teams: TeamsService) {}

  /** The teams that the caller belongs to; administrators see all. */
  @Get()
  async list(
    @Query() query: PageQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TeamView[]> {
    const { total, list } = await this.teams.list(signedIn(me), query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** A new team. The caller is its owner. */
  @Post()
  @Audited('team.create')
  @Makes<TeamView>(({ id }) => id)
  create(@Body() body: TeamInput, @Me() me: Caller): Promise<TeamView> {
    return this.teams.create(me, body);
  }

  /** One team with its accounts: for its members, and administrators. */
  @Get(':id')
  get(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<TeamDetail> {
    return this.teams.get(signedIn(me), id);
  }

  /** Changes name or description. For owners and managers of the team, and administrators. */
  @Put(':id')
  @Audited('team.update')
  update(@Param('id', IdPipe) id: number, @Body() body: TeamPatch, @Me() me: Caller): Promise<TeamDetail> {
    return this.teams.update(me, id, body);
  }

  /**
   * Deletes a team with its members and permissions. Its accounts stay, without team. For its owners, and
   * administrators.
   */
  @Delete(':id')
  @Audited('team.delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.teams.remove(me, id);
  }
}
