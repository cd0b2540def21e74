import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { answerShort } from '../platform/common/short-lists.js';
import { IdPipe } from '../platform/common/validation.js';
import { ExplainService } from './explain.service.js';
import {
  ExplainInput,
  Explanation,
  GrantableDomain,
  RotateInput,
  TokenCreated,
  TokenInput,
  TokenSelf,
  TokenStatus,
  TokenUseView,
  TokenView,
} from './token.dto.js';
import { TokensService } from './tokens.service.js';

@ApiTags('API tokens')
@Access({ noTokens: true })
@Controller('tokens')
export class TokensController {
  constructor(
    private readonly tokens: TokensService,
    private readonly explanations: ExplainService,
  ) {}

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

  /** A new token. `data.token` is shown this once. Answers 409001 when one has 100. */
  @Post()
  @Fails('conflict')
  @Audited('token.create')
  @Makes<TokenCreated>(({ tokenData }) => tokenData.id)
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

  /** What the API token of this very request may do. */
  @Get('self')
  @Access({ scope: null, narrowed: true })
  self(@Me() me: Caller): Promise<TokenSelf> {
    return this.tokens.self(me);
  }

  /** One of the caller's tokens, without its plaintext. That of another user is 404001, for administrators, too. */
  @Get(':id')
  get(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<TokenView> {
    return this.tokens.get(me, id);
  }

  /**
   * How often a token was used, by day and network, in the last 90 days; the newest first, 1000 entries at most. All of
   * them unless a page is asked for; a `keyword` is part of `network`.
   */
  @Get(':id/uses')
  async uses(
    @Param('id', IdPipe) id: number,
    @Me() me: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<TokenUseView[]> {
    return answerShort(response, await this.tokens.usesOf(me, id), query, {
      sorts: { day: (u) => u.day, network: (u) => u.network, count: (u) => u.count },
      search: (u) => [u.network],
    });
  }

  /**
   * A new secret, shown this once. The old one works for `overlap_minutes` more (default 0); 409001 when it was rotated
   * just now.
   */
  @Post(':id/rotate')
  @HttpCode(200)
  @Fails('conflict')
  @Audited('token.rotate')
  rotate(@Param('id', IdPipe) id: number, @Body() body: RotateInput, @Me() me: Caller): Promise<TokenCreated> {
    return this.tokens.rotate(me, id, body.overlap_minutes ?? 0);
  }

  /** Whether a token may do something with a record, and which limit or rule decides. Nothing is done. */
  @Post(':id/explain')
  @HttpCode(200)
  @Audited('token.explain')
  explain(@Param('id', IdPipe) id: number, @Body() body: ExplainInput, @Me() me: Caller): Promise<Explanation> {
    return this.explanations.ofToken(me, id, body);
  }

  /** The token is refused from the very next request on. */
  @Delete(':id')
  @Audited('token.delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.tokens.remove(me, id);
  }

  /** Disables a token, or enables it again; 409001 when all of its domains are gone. */
  @Patch(':id/status')
  @HttpCode(200)
  @Fails('conflict')
  @Audited('token.status')
  setActive(@Param('id', IdPipe) id: number, @Body() { is_active }: TokenStatus, @Me() me: Caller): Promise<TokenView> {
    return this.tokens.setActive(me, id, is_active);
  }
}
