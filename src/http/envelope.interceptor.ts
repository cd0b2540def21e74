import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { map, mergeMap, type Observable } from 'rxjs';
import { AuditService } from '../audit/audit.service.js';
import type { ZoneRequest } from '../common/access.js';

const wrap = (data: unknown) => ({ code: 0, data: data ?? null, msg: 'success' });

/** Every success is `{code: 0, data, msg}`. A changing route whose service wrote no audit entry of its own gets one here. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly audit: AuditService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const action = request.auditAction;
    if (!action) return next.handle().pipe(map(wrap));
    return next.handle().pipe(
      mergeMap(async (data) => {
        if (!request.caller.audited) await this.audit.append(request.caller, { action });
        return wrap(data);
      }),
    );
  }
}
