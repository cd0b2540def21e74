import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { map, mergeMap, type Observable } from 'rxjs';
import { AuditService } from '../audit/audit.service.js';
import type { ZoneRequest } from '../common/access.js';
import { errors } from '../common/errors.js';

const wrap = (data: unknown) => ({ code: 0, data: data ?? null, msg: 'success' });

const known = new WeakMap<object, boolean>();

/** Whether a handler declares a query; on those that do, the validation pipe refuses unknown fields. */
function takesQuery(handler: object, controller: object): boolean {
  let takes = known.get(handler);
  if (takes === undefined) {
    const name = (handler as { name: string }).name;
    const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {};
    takes = Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
    known.set(handler, takes);
  }
  return takes;
}

/** Every success is `{code: 0, data, msg}`. A changing route whose service wrote no audit entry of its own gets one here. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly audit: AuditService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    if (request.url.includes('?') && !takesQuery(context.getHandler(), context.getClass())) {
      const fields = Object.keys(request.query).map((path) => ({ path, message: 'is not a known field' }));
      if (fields.length) throw errors.validation(fields);
    }
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
