import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ZoneRequest } from '../../access/access.js';
import { errors, fieldError } from '../../platform/common/errors.js';
import { CONDITIONS, passedOver } from '../../platform/http/conditions.js';
import { currentProtocol } from '../../platform/http/protocol.js';

/** Refuses conditional headers on routes that do not honour them: who sends one relies on it. */
@Injectable()
export class ConditionsGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (!currentProtocol().strict) return true;
    const honoured = this.reflector.get<string[] | undefined>(CONDITIONS, context.getHandler()) ?? [];
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const wrong = passedOver(request, honoured).map((name) =>
      fieldError(name, 'is not honoured here: leave it out', 'unknown'),
    );
    // a write that must find nothing: there is no tag of nothing
    if (honoured.includes('If-None-Match') && (request.headers['if-none-match'] ?? '*').trim() !== '*')
      wrong.push(
        fieldError('If-None-Match', 'must be "*" here: no other tag is honoured', 'choice', { values: ['*'] }),
      );
    if (wrong.length) throw errors.validation(wrong);
    return true;
  }
}
