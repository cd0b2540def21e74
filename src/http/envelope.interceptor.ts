import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { map, mergeMap, type Observable } from 'rxjs';
import { AuditService } from '../audit/audit.service.js';
import { StrangersLog } from '../audit/strangers-log.service.js';
import { type Caller, LOCATION, type ZoneRequest } from '../common/access.js';
import { errors } from '../common/errors.js';
import { unknownField } from '../common/validation.js';
import type { Config } from '../config/config.js';
import { CONFIG } from '../config/config.module.js';

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
  constructor(
    private readonly audit: AuditService,
    private readonly strangers: StrangersLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    if (request.url.includes('?') && !takesQuery(context.getHandler(), context.getClass())) {
      const fields = Object.keys(request.query).map(unknownField);
      if (fields.length) throw errors.validation(fields);
    }
    const action = request.auditAction;
    if (!action) return next.handle().pipe(map(wrap));
    return next.handle().pipe(
      mergeMap(async (data) => {
        if (!request.caller.audited) await this.entry(request.caller, action);
        this.locate(context, data);
        return wrap(data);
      }),
    );
  }

  private entry(caller: Caller, action: string): Promise<void> {
    return caller.principal ? this.audit.append(caller, { action }) : this.strangers.append(caller, { action });
  }

  /** Where it is that a route made. */
  private locate(context: ExecutionContext, made: unknown): void {
    const id = Reflect.getMetadata(LOCATION, context.getHandler()) as ((made: unknown) => number) | undefined;
    const { path, res } = context.switchToHttp().getRequest<ZoneRequest>();
    if (!id || res?.statusCode !== 201) return;
    res.setHeader('Location', `${this.config.basePath}${path.replace(/\/$/, '')}/${id(made)}`);
  }
}
