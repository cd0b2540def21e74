import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { mergeMap, type Observable } from 'rxjs';
import type { Caller, ZoneRequest } from '../access/access.js';
import type { AuditAction } from '../access/audit-actions.js';
import { AuditService } from './audit.service.js';
import { outcomeOf } from './outcome.js';
import { StrangersLog } from './strangers-log.service.js';

/** Writes the entry of a changing route whose service wrote none. `FailedChanges` handles failures. */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly audit: AuditService,
    private readonly strangers: StrangersLog,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { auditAction: action, caller } = context.switchToHttp().getRequest<ZoneRequest>();
    return next.handle().pipe(
      mergeMap(async (data) => {
        if (action && !outcomeOf(caller)) await this.append(caller, action);
        return data;
      }),
    );
  }

  private append(caller: Caller, action: AuditAction): Promise<void> {
    return caller.principal ? this.audit.append(caller, { action }) : this.strangers.append(caller, { action });
  }
}
