import { Body, Controller, Delete, Get, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { MembersService } from './members.service.js';
import { MemberInput, MemberRole, MemberView } from './team.dto.js';

@ApiTags('Teams')
@Access({})
@Controller('teams/:id/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  /** The members of a team. */
  @Get()
  async list(
    @Param('id', IdPipe) id: number,
    @Query() query: PageQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MemberView[]> {
    const { total, list } = await this.members.list(signedIn(me), id, query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /**
   * Takes a user into the team, by `user_id` or `username`. For its owners and managers, who may try 30 times an hour
   * (429001 then), and administrators; 409001 for who is a member already.
   */
  @Post()
  @Fails('conflict')
  @Audited('member.create')
  @Makes<MemberView>(({ user_id }) => user_id)
  create(@Param('id', IdPipe) id: number, @Body() body: MemberInput, @Me() me: Caller): Promise<MemberView> {
    return this.members.add(me, id, body);
  }

  /** One member of a team: for its members, and administrators. */
  @Get(':userId')
  get(@Param('id', IdPipe) id: number, @Param('userId', IdPipe) userId: number, @Me() me: Caller): Promise<MemberView> {
    return this.members.get(signedIn(me), id, userId);
  }

  /** Gives a member another role. For owners of the team, and administrators; 409001 for the last owner. */
  @Put(':userId')
  @Fails('conflict')
  @Audited('member.update')
  update(
    @Param('id', IdPipe) id: number,
    @Param('userId', IdPipe) userId: number,
    @Body() body: MemberRole,
    @Me() me: Caller,
  ): Promise<MemberView> {
    return this.members.setRole(me, id, userId, body);
  }

  /** Removes a member, or leaves the team. Managers remove ordinary members only; 409001 for the last owner. */
  @Delete(':userId')
  @Fails('conflict')
  @Audited('member.delete')
  remove(@Param('id', IdPipe) id: number, @Param('userId', IdPipe) userId: number, @Me() me: Caller): Promise<void> {
    return this.members.remove(me, id, userId);
  }
}
