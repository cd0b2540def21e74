import { Injectable } from '@nestjs/common';
import { type Caller, signedIn } from '../../access/access.js';
import { AuditService } from '../../audit/audit.service.js';
import { errors } from '../../platform/common/errors.js';
import { Db } from '../../platform/database/db.js';
import { SettingsService } from '../../settings/settings.service.js';
import type { EndedSessions, SessionView } from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

/** The sessions of the caller. */
@Injectable()
export class OwnSessions {
  constructor(
    private readonly db: Db,
    private readonly sessions: SessionsService,
    private readonly settings: SettingsService,
    private readonly audit: AuditService,
  ) {}

  async list(caller: Caller): Promise<SessionView[]> {
    const { userId, sessionId, role } = signedIn(caller);
    const { session } = await this.settings.securityFor(role);
    const rows = await this.sessions.list(userId, session);
    return rows.map((row) => ({ ...row, current: row.id === sessionId }));
  }

  /** Ends all sessions but that of the request. */
  endOthers(caller: Caller): Promise<EndedSessions> {
    const { userId, sessionId, username } = signedIn(caller);
    return this.db.transaction(async (manager) => {
      const ended = await this.sessions.endAll(manager, userId, sessionId);
      const target = { type: 'user', id: userId, name: username };
      await this.audit.write(manager, caller, { action: 'session.delete', target, after: { ended } });
      return { ended };
    });
  }

  /** @throws AppError 404001 */
  async end(caller: Caller, id: number): Promise<void> {
    const { userId } = signedIn(caller);
    await this.db.transaction(async (manager) => {
      if (!(await this.sessions.end(manager, userId, id))) throw errors.notFound('session');
      const target = { type: 'session', id, name: null };
      await this.audit.write(manager, caller, { action: 'session.delete', target });
    });
  }
}
