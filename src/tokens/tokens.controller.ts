import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, signedIn } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { PageQuery, pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { answerShort } from '../platform/common/short-lists.js';
import { IdPipe } from '../platform/common/validation.js';
import { Conditional, type Conditions, Given, Tagged } from '../platform/http/conditions.js';
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
import { TokenChanges } from './token-changes.service.js';
import { TokenPatch } from './token-patch.dto.js';
import { tokenTag } from './token-view.js';
import { TokensService } from './tokens.service.js';

const IfMatch = () =>
  Conditional({ 'If-Match': 'the `ETag` of the token as it was read: 412001 with the `token` when it is another one' });

@ApiTags('API tokens')
@Access({ noTokens: true })
@Controller('tokens')
export class TokensController {
  constructor(
    private readonly tokens: TokensService,
    private readonly changes: TokenChanges,
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

  /**
   * One of the caller's tokens, without its plaintext. That of another user is 404001, for administrators, too. The
   * header `ETag` names its state, for `If-Match`.
   */
  @Get(':id')
  @Tagged(tokenTag)
  get(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<TokenView> {
    return this.tokens.get(me, id);
  }

  /**
   * Changes what is given of one of the caller's tokens; it acts on the very next request, the secret stays. Narrowing
   * and renaming are free. What lets the token do more (more domains, scopes or networks, a longer window, `max_role`
   * up, rules that cannot be shown to allow less) asks what creating asks: all of its domains are such that the caller
   * may grant. Of patterns nothing can be shown. 409001 to enable a token whose domains were all deleted.
   */
  @Put(':id')
  @Fails('conflict', 'precondition')
  @IfMatch()
  @Tagged(tokenTag)
  @Audited('token.update')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: TokenPatch,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<TokenView> {
    return this.changes.update(me, id, body, conditions);
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
  @Fails('conflict')
  @Audited('token.explain')
  explain(@Param('id', IdPipe) id: number, @Body() body: ExplainInput, @Me() me: Caller): Promise<Explanation> {
    return this.explanations.ofToken(me, id, body);
  }

  /** The token is refused from the very next request on. */
  @Delete(':id')
  @Fails('precondition')
  @IfMatch()
  @Audited('token.delete')
  remove(@Param('id', IdPipe) id: number, @Me() me: Caller, @Given() conditions: Conditions): Promise<void> {
    return this.tokens.remove(me, id, conditions);
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
