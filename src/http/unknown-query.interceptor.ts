import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Observable } from 'rxjs';
import type { ZoneRequest } from '../common/access.js';
import { errors } from '../common/errors.js';
import { unknownField } from '../common/validation.js';

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

/** Refuses query fields on routes that have none, where no pipe does. Guards come first: who may, and how often. */
@Injectable()
export class UnknownQueryInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { url, query } = context.switchToHttp().getRequest<ZoneRequest>();
    if (url.includes('?') && !takesQuery(context.getHandler(), context.getClass())) {
      const fields = Object.keys(query).map(unknownField);
      if (fields.length) throw errors.validation(fields);
    }
    return next.handle();
  }
}
