import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, Role } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { pageHeaders, pageOf } from '../../platform/common/paging.dto.js';
import { IdPipe } from '../../platform/common/validation.js';
import { UserView } from '../../users/user.dto.js';
import { UserAdministration } from './user-administration.service.js';
import { Revoked, RevokeInput, UserInput, UserPatch, UserQuery, UserUpdated } from './users.dto.js';

@ApiTags('Users')
@Controller('users')
export class UsersController {
  constructor(private readonly users: UserAdministration) {}

  /** All users; `keyword` looks in user name, nickname and e-mail. */
  @Get()
  @Access({ role: Role.Admin })
  async list(@Query() query: UserQuery, @Res({ passthrough: true }) response: Response): Promise<UserView[]> {
    const { total, list } = await this.users.list(query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** A new user with a password. 409001 when the name or the address belongs to somebody, in any case. */
  @Post()
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('user.create')
  @Makes<UserView>(({ id }) => id)
  create(@Body() body: UserInput, @Me() me: Caller): Promise<UserView> {
    return this.users.create(me, body);
  }

  /** One user. */
  @Get(':id')
  @Access({ role: Role.Admin })
  get(@Param('id', IdPipe) id: number): Promise<UserView> {
    return this.users.get(id);
  }

  /**
   * Changes what is given. With a new password the answer lists in `holds` what else opens the account. 409001 for what
   * would leave no active super administrator.
   */
  @Put(':id')
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('user.update')
  update(@Param('id', IdPipe) id: number, @Body() body: UserPatch, @Me() me: Caller): Promise<UserUpdated> {
    return this.users.update(me, id, body);
  }

  /**
   * Takes away everything that opens an account besides its password: ends all sessions and what was begun (mailed
   * links, sign-ins that wait for a code), deletes API tokens and passkeys, unbinds sign-ins at providers. Answers
   * 409001 when no active super administrator would have a way to sign in.
   */
  @Post(':id/revoke-all')
  @HttpCode(200)
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('user.revoke_all')
  revokeAll(@Param('id', IdPipe) id: number, @Body() body: RevokeInput, @Me() me: Caller): Promise<Revoked> {
    return this.users.revokeAll(me, id, body);
  }

  /**
   * Deletes a user with its sessions and API tokens. Its domains stay, without owner; 409001 for the last active super
   * administrator.
   */
  @Delete(':id')
  @Access({ role: Role.Super, noTokens: true })
  @Fails('conflict')
  @Audited('user.delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.users.remove(me, id);
  }
}
