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
    const over = passedOver(context.switchToHttp().getRequest<ZoneRequest>(), honoured);
    if (!over.length) return true;
    throw errors.validation(over.map((name) => fieldError(name, 'is not honoured here: leave it out', 'unknown')));
  }
}
