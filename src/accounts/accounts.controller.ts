import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { AccountInput, AccountPatch, AccountView, CheckQuery, ForceQuery } from './account.dto.js';
import { AccountsService } from './accounts.service.js';

@ApiTags('Accounts')
@Access({ role: Role.Admin })
@Controller('accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  /** DNS accounts, all of them unless a page is asked for; secrets are never shown. */
  @Get()
  @Access({ role: Role.Admin, scope: 'accounts:read' })
  async list(@Query() query: PageQuery, @Res({ passthrough: true }) response: Response): Promise<AccountView[]> {
    const { total, list } = await this.accounts.list(query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** Stores an account after trying its credentials at the provider (500002 when it refuses them). */
  @Post()
  @Fails('provider')
  @Audited('account.create')
  @Makes<AccountView>(({ id }) => id)
  create(@Body() body: AccountInput, @Query() { check }: CheckQuery, @Me() me: Caller): Promise<AccountView> {
    return this.accounts.create(me, body, check ?? true);
  }

  /** One DNS account. */
  @Get(':id')
  @Access({ role: Role.Admin, scope: 'accounts:read' })
  get(@Param('id', IdPipe) id: number): Promise<AccountView> {
    return this.accounts.get(id);
  }

  /**
   * Changes what is given. Credential fields left out keep their value, null clears one; changed credentials are tried
   * first (500002). When an address among them changes, all secrets must be sent again: 400001 naming each, and nothing
   * is sent anywhere.
   */
  @Put(':id')
  @Fails('conflict', 'provider')
  @Audited('account.update')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: AccountPatch,
    @Query() { check }: CheckQuery,
    @Me() me: Caller,
  ): Promise<AccountView> {
    return this.accounts.update(me, id, body, check ?? true);
  }

  /**
   * Lets calls of a paused account begin again at once, at all replicas: when the provider was asked to. Where it still
   * wants none, the account is paused anew with the next call. Of an account that is not paused it changes nothing.
   */
  @Post(':id/resume')
  @HttpCode(200)
  @Audited('account.resume')
  resume(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<AccountView> {
    return this.accounts.resume(me, id);
  }

  /**
   * Forgets an account. With domains or tunnels: 409001 unless `force=true`, which cancels and settles lists of changes
   * first. Nothing is touched at the provider, so it may be done in a copy that is paused.
   */
  @Delete(':id')
  @Access({ role: Role.Admin, inCopy: true })
  @Fails('conflict')
  @Audited('account.delete')
  remove(@Param('id', IdPipe) id: number, @Query() { force }: ForceQuery, @Me() me: Caller): Promise<void> {
    return this.accounts.remove(me, id, force ?? false);
  }
}
