import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ZoneRequest } from '../../access/access.js';
import { errors } from '../../platform/common/errors.js';
import { currentProtocol, hasUnreadBody } from '../../platform/http/protocol.js';
import { reads } from './reads.js';

/** Refuses bodies that would be passed over: on routes that read none, and other types than JSON where one is read. */
@Injectable()
export class BodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!currentProtocol().strict) return true;
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const isUnread = hasUnreadBody(request);
    if (reads(RouteParamtypes.BODY, context.getHandler(), context.getClass())) {
      if (isUnread) throw errors.field('body', 'must be sent as application/json', 'format');
    } else if (isUnread || !isEmpty(request.body)) {
      throw errors.field('body', 'is not read here: leave it out', 'unknown');
    }
    return true;
  }
}

/** Whether a body says nothing: none, or an object without fields. */
const isEmpty = (body: unknown): boolean =>
  body === undefined ||
  (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0);
