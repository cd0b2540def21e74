import { Injectable } from '@nestjs/common';
import { type Actor, AuditService } from '../audit/audit.service.js';
import { errors } from '../platform/common/errors.js';
import { Installation } from '../platform/database/installation.js';
import type { Resumed } from './system.dto.js';

/** Ends the pause in which a copy of a database starts. */
@Injectable()
export class PauseService {
  constructor(
    private readonly installation: Installation,
    private readonly audit: AuditService,
  ) {}

  /** @throws AppError 409001 when it is not paused */
  async resume(actor: Actor): Promise<Resumed> {
    const paused = await this.installation.resume();
    if (!paused) throw errors.conflict('not_paused');
    await this.audit.append(actor, { action: 'system.resume', before: { paused }, after: { paused: null } });
    return { resumed: true };
  }
}
