import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { catchError, from, type Observable, throwError } from 'rxjs';
import type { ZoneRequest } from '../../access/access.js';
import { Waits } from '../../changes/gate/waits.js';
import { isForeign } from '../../platform/http/protocol.js';
import { PlansService } from './plans.service.js';

/**
 * Puts on the caller why a write is made in spite of a freeze, and answers one that waits for an approval: 202 with its
 * plan. Outside of what reads the answers of handlers.
 */
@Injectable()
export class WaitsInterceptor implements NestInterceptor {
  constructor(private readonly plans: PlansService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { method, caller, query } = context.switchToHttp().getRequest<ZoneRequest>();
    // the answers of other protocols have no plans, and their queries say nothing of a freeze
    if (method === 'GET' || isForeign()) return next.handle();
    const response = context.switchToHttp().getResponse<Response>();
    // where a route does not take it, or it is none, that is refused before the handler runs
    if (typeof query.override === 'string')
      caller.intent = { dryRun: false, force: [], ...caller.intent, override: query.override };
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (!(error instanceof Waits)) return throwError(() => error);
        response.status(202).setHeader('Location', `/api/plans/${error.planId}`);
        return from(this.plans.get(caller, error.planId));
      }),
    );
  }
}
