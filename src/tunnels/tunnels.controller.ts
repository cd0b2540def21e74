import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me, Role } from '../access/access.js';
import { Audited } from '../audit/audited.js';
import { pageHeaders, pageOf } from '../platform/common/paging.dto.js';
import { IdPipe } from '../platform/common/validation.js';
import { Conditional, type Conditions, Given, Tagged } from '../platform/http/conditions.js';
import { Bounded, BoundQuery } from '../platform/http/wait.dto.js';
import { Creation } from './creation.service.js';
import {
  TunnelCreated,
  TunnelForceQuery,
  TunnelInput,
  TunnelPatch,
  TunnelQuery,
  TunnelToken,
  TunnelView,
} from './tunnel.dto.js';
import { tunnelTag } from './tunnel-view.js';
import { TunnelsService } from './tunnels.service.js';

const IfMatch = () =>
  Conditional({
    'If-Match':
      'the `ETag` of the tunnel as it was read: 412001 with the `tunnel` when its configuration is another one by now',
  });

@ApiTags('Tunnels')
@Access({ role: Role.Admin })
@Controller('tunnels')
export class TunnelsController {
  constructor(
    private readonly tunnels: TunnelsService,
    private readonly creation: Creation,
  ) {}

  /** Tunnels as they were seen last, all of them unless a page is asked for. */
  @Get()
  async list(@Query() query: TunnelQuery, @Res({ passthrough: true }) response: Response): Promise<TunnelView[]> {
    const { total, list } = await this.tunnels.list(query);
    pageHeaders(response, total, pageOf(query));
    return list;
  }

  /**
   * Makes a tunnel with its rules and CNAMEs, and shows its run token this once; what fails half-way leaves nothing
   * behind. A live tunnel of this name that the provider has and nobody here is adopted as it is, without a token, when
   * no `ingress` is given. 409001 when the name is taken, or a hostname has a record of other content: nothing is
   * changed then.
   */
  @Post()
  @Fails('conflict', 'guarded', 'frozen', 'provider', 'notFound', 'suspicious')
  @Audited('tunnel.create')
  @Makes<TunnelCreated>(({ id }) => id)
  create(@Body() body: TunnelInput, @Bounded() _: BoundQuery, @Me() me: Caller): Promise<TunnelCreated> {
    return this.creation.create(me, body);
  }

  /**
   * One tunnel as the provider has it now; when it does not tell within 5 s, as it was seen last. The header `ETag`
   * names its configuration, for `If-Match`.
   */
  @Get(':id')
  @Tagged(tunnelTag)
  get(@Param('id', IdPipe) id: number): Promise<TunnelView> {
    return this.tunnels.get(id);
  }

  /**
   * Changes what is given. CNAMEs follow the rules where `dns_managed`: new hostnames get one, and of those that go it
   * is taken away if it still leads to this tunnel. 409001 when somebody else has changed the configuration since, a
   * new hostname has a record of other content, or the name is taken.
   */
  @Put(':id')
  @Fails('conflict', 'guarded', 'frozen', 'provider', 'suspicious', 'precondition')
  @IfMatch()
  @Tagged(tunnelTag)
  @Audited('tunnel.update')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: TunnelPatch,
    @Bounded() _: BoundQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<TunnelView> {
    return this.tunnels.update(me, id, body, conditions);
  }

  /** Deletes a tunnel and its CNAMEs at the provider. 409001 while connectors run it, unless `force=true`. */
  @Delete(':id')
  @Fails('conflict', 'guarded', 'frozen', 'provider', 'suspicious', 'precondition')
  @IfMatch()
  @Audited('tunnel.delete')
  remove(
    @Param('id', IdPipe) id: number,
    @Bounded() { force }: TunnelForceQuery,
    @Me() me: Caller,
    @Given() conditions: Conditions,
  ): Promise<void> {
    return this.tunnels.remove(me, id, force ?? false, conditions);
  }

  /** Another run token, shown this once. Connectors with the old one run on until they are started anew. */
  @Post(':id/rotate-token')
  @HttpCode(200)
  @Fails('conflict', 'provider')
  @Audited('tunnel.rotate')
  rotate(@Param('id', IdPipe) id: number, @Bounded() _: BoundQuery, @Me() me: Caller): Promise<TunnelToken> {
    return this.tunnels.rotate(me, id);
  }
}
