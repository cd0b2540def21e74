import { Body, Controller, Delete, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Fails, Makes, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { answerShort } from '../../platform/common/short-lists.js';
import { IdPipe } from '../../platform/common/validation.js';
import { HooksService } from './hooks.service.js';
import { HookCreated, HookInput, HookView } from './webhook.dto.js';

@ApiTags('API tokens')
@Access({ noTokens: true })
@Controller('tokens/:id/hooks')
export class HooksController {
  constructor(private readonly hooks: HooksService) {}

  /** The hooks of one of the caller's tokens, without their secrets. All of them unless a page is asked for. */
  @Get()
  async list(
    @Param('id', IdPipe) id: number,
    @Me() me: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<HookView[]> {
    return answerShort(response, await this.hooks.list(me, id), query, {
      sorts: { id: (h) => h.id, name: (h) => h.name, host: (h) => h.host, type: (h) => h.type },
      search: (h) => [h.name, h.host],
    });
  }

  /**
   * An address that sets one record set of a domain when it is called with a signature: docs/doors/webhook.md. It can
   * do what its token may, and ends with it. `data.secret` is shown this once. Answers 409001 when a token has 100.
   */
  @Post()
  @Fails('conflict')
  @Audited('door.hook_create')
  @Makes<HookCreated>(({ id }) => id)
  create(@Param('id', IdPipe) id: number, @Body() body: HookInput, @Me() me: Caller): Promise<HookCreated> {
    return this.hooks.create(me, id, body);
  }

  /** The hook is refused from the very next delivery on. */
  @Delete(':hook_id')
  @Audited('door.hook_delete')
  remove(@Param('id', IdPipe) id: number, @Param('hook_id', IdPipe) hookId: number, @Me() me: Caller): Promise<void> {
    return this.hooks.remove(me, id, hookId);
  }
}
