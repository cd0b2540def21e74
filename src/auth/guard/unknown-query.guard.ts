import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ZoneRequest } from '../../access/access.js';
import { errors } from '../../platform/common/errors.js';
import { unknownField } from '../../platform/common/validation.js';
import { currentProtocol } from '../../platform/http/protocol.js';

const known = new WeakMap<object, boolean>();

/** Whether a handler declares a query, whose unknown fields the validation pipe refuses. */
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

/** Refuses query fields on routes without a query, which no pipe checks. */
@Injectable()
export class UnknownQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { url, query } = context.switchToHttp().getRequest<ZoneRequest>();
    if (!url.includes('?') || !currentProtocol().strict || takesQuery(context.getHandler(), context.getClass()))
      return true;
    const fields = Object.keys(query).map(unknownField);
    if (fields.length) throw errors.validation(fields);
    return true;
  }
}
