import { Injectable } from '@nestjs/common';
import type { Caller, ZoneRequest } from '../access/access.js';
import { Logger } from '../platform/common/logger.js';
import { DatabaseService } from '../platform/database/database.service.js';
import { whyUnwritable } from '../platform/database/db.js';
import { type AuditEntry, AuditService } from './audit.service.js';
import { outcomeOf } from './outcome.js';

/** Logs failed changes, too; those of anonymous callers are left out, since anybody could fill the log. */
@Injectable()
export class FailedChanges {
  constructor(
    private readonly audit: AuditService,
    private readonly database: DatabaseService,
    private readonly logger: Logger,
  ) {}

  /** Writes the entry of a failed request, where it needs one and has none. Never throws: the failure is answered. */
  async record(request: ZoneRequest, reason: string): Promise<void> {
    const { auditAction: action, caller } = request;
    if (!action) return;
    const domain = (request.domain as AuditEntry['domain']) ?? caller.asked?.domain;
    const [type, verb] = action.split('.') as [string, string];
    // a thing that was not created has no id: the ids in the path are those of its parents; in that of a door, its own
    const isNamed = !caller.door && !verb.endsWith('create');
    const last = isNamed ? Object.values(request.params as Record<string, string>).at(-1) : undefined;
    const id = last && /^\d{1,10}$/.test(last) ? Number(last) : (last ?? null);
    const target = { type, id, name: caller.asked?.name ?? null };
    await this.note(caller, { action, domain, target }, reason);
  }

  /** Writes the entry of what failed, where the caller is known and it has none. Never throws. */
  async note(caller: Caller, entry: Pick<AuditEntry, 'action' | 'domain' | 'target'>, reason: string): Promise<void> {
    if (outcomeOf(caller) === 'failed' || !caller.principal || !this.database.open) return;
    try {
      await this.audit.append(caller, { ...entry, result: 'failed', error: reason });
    } catch (error) {
      const err = whyUnwritable(error) ?? error;
      this.logger.error({ requestId: caller.requestId, err }, 'a failed change could not be logged');
    }
  }
}
