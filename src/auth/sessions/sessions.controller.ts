import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuditService } from '../../audit/audit.service.js';
import { Audited } from '../../audit/audited.js';
import { Access, type Caller, Me, signedIn } from '../../common/access.js';
import { errors } from '../../common/errors.js';
import { IdPipe } from '../../common/validation.js';
import { Db } from '../../database/db.js';
import { SettingsService } from '../../settings/settings.service.js';
import { EndedSessions, SessionView } from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Authentication')
@Controller('auth/sessions')
export class SessionsController {
  constructor(
    private readonly db: Db,
    private readonly sessions: SessionsService,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  /** One's own live sessions, the newest first. */
  @Get()
  @Access({ noTokens: true })
  async list(@Me() me: Caller): Promise<SessionView[]> {
    const { userId, sessionId, role } = signedIn(me);
    const { session } = await this.settings.securityFor(role);
    const rows = await this.sessions.list(userId, session);
    return rows.map((row) => ({ ...row, current: row.id === sessionId }));
  }

  /** Ends all of one's own sessions but this one. */
  @Delete('others')
  @Access({ noTokens: true })
  @Audited('session.delete')
  others(@Me() me: Caller): Promise<EndedSessions> {
    const { userId, sessionId, username } = signedIn(me);
    return this.db.transaction(async (manager) => {
      const ended = await this.sessions.endAll(manager, userId, sessionId);
      const target = { type: 'user', id: userId, name: username };
      await this.audit.write(manager, me, { action: 'session.delete', target, after: { ended } });
      return { ended };
    });
  }

  /** Ends one of one's own sessions; its JWT is refused from the next request on. */
  @Delete(':id')
  @Access({ noTokens: true })
  @Audited('session.delete')
  async end(@Param('id', IdPipe) id: number, @Me() me: Caller): Promise<void> {
    const { userId } = signedIn(me);
    await this.db.transaction(async (manager) => {
      if (!(await this.sessions.end(manager, userId, id))) throw errors.notFound('The session');
      await this.audit.write(manager, me, { action: 'session.delete', target: { type: 'session', id, name: null } });
    });
  }
}
