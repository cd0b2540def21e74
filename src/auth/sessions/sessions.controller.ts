import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Access, type Caller, Me } from '../../access/access.js';
import { Audited } from '../../audit/audited.js';
import { IdPipe } from '../../platform/common/validation.js';
import { OwnSessions } from './own-sessions.service.js';
import { EndedSessions, SessionView } from './sessions.dto.js';

@ApiTags('Authentication')
@Controller('auth/sessions')
export class SessionsController {
  constructor(private readonly sessions: OwnSessions) {}

  /** One's own live sessions, the newest first. */
  @Get()
  @Access({ noTokens: true })
  list(@Me() me: Caller): Promise<SessionView[]> {
    return this.sessions.list(me);
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
