import { Controller, Delete, Get, Param, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { PageQuery } from '../../platform/common/paging.dto.js';
import { answerShort } from '../../platform/common/short-lists.js';
import { IdPipe } from '../../platform/common/validation.js';
import { OwnSessions } from './own-sessions.service.js';
import { EndedSessions, SessionView } from './sessions.dto.js';

@ApiTags('Authentication')
@Controller('auth/sessions')
export class SessionsController {
  constructor(private readonly sessions: OwnSessions) {}

  /**
   * One's own live sessions, the newest first; all unless a page is asked for. A `keyword` is part of `ip` or agent.
   */
  @Get()
  @Access({ noTokens: true })
  async list(
    @Me() me: Caller,
    @Query() query: PageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionView[]> {
    return answerShort(response, await this.sessions.list(me), query, {
      sorts: {
        id: (s) => s.id,
        created_at: (s) => s.created_at,
        last_active_at: (s) => s.last_active_at,
        expires_at: (s) => s.expires_at,
      },
      search: (s) => [s.ip, s.user_agent],
    });
  }

  /** Ends all of one's own sessions but this one. */
  @Delete('others')
  @Access({ noTokens: true })
  @Audited('session.delete')
  others(@Me() me: Caller): Promise<EndedSessions> {
    return this.sessions.endOthers(me);
  }

  /** Ends one of one's own sessions; its JWT is refused from the next request on. */
  @Delete(':id')
  @Access({ noTokens: true })
  @Audited('session.delete')
  end(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    return this.sessions.end(me, id);
  }
}
