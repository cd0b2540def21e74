import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, Audited, type Caller, Me, signedIn } from '../common/access.js';
import { PageQuery, pageHeaders, pageOf } from '../common/paging.dto.js';
import { IdPipe } from '../common/validation.js';
import { GrantableDomain, TokenCreated, TokenInput, TokenStatus, TokenView } from './token.dto.js';
import { TokensService } from './tokens.service.js';

@ApiTags('API tokens')
@Access({ noTokens: true })
@Controller('tokens')
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  /** The caller's tokens, without their plaintext. */
  @Get()
  async list(
    @Query() query: PageQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TokenView[]> {
    const { total, list } = await this.tokens.list(signedIn(me), query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** A new token. `data.token` is shown this once. */
  @Post()
  @Audited('token.create')
  create(@Body() body: TokenInput, @Me() me: Caller): Promise<TokenCreated> {
    return this.tokens.create(me, body);
  }

  /** Domains that the caller may grant to a token. */
  @Get('domains')
  async domains(
    @Query() query: PageQuery,
    @Me() me: Caller,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GrantableDomain[]> {
    const { total, list } = await this.tokens.grantable(signedIn(me), query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /** The token is refused from the very next request on. */
  @Delete(':id')
  @Audited('token.delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.tokens.remove(me, id);
  }

  /** Disables a token, or enables it again. */
  @Patch(':id/status')
  @HttpCode(200)
  @Audited('token.status')
  setActive(@Param('id', IdPipe) id: number, @Body() { is_active }: TokenStatus, @Me() me: Caller): Promise<TokenView> {
    return this.tokens.setActive(me, id, is_active);
  }
}
