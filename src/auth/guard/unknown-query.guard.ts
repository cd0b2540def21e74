import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ZoneRequest } from '../../access/access.js';
import { errors } from '../../platform/common/errors.js';
import { unknownField } from '../../platform/common/validation.js';
import { currentProtocol } from '../../platform/http/protocol.js';
import { reads } from './reads.js';

/** Refuses query fields on routes without a query, which no pipe checks. */
@Injectable()
export class UnknownQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { url, query } = context.switchToHttp().getRequest<ZoneRequest>();
    if (!url.includes('?') || !currentProtocol().strict) return true;
    if (reads(RouteParamtypes.QUERY, context.getHandler(), context.getClass())) return true;
    const fields = Object.keys(query).map(unknownField);
    if (fields.length) throw errors.validation(fields);
    return true;
  }
}
