import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import type { Response } from 'express';
import { catchError, from, type Observable, tap, throwError } from 'rxjs';
import type { ZoneRequest } from '../../access/access.js';
import { DryRun } from '../../changes/dry-run.js';
import { IntentQuery } from '../../changes/gate/intent.dto.js';
import { isForeign } from '../../platform/http/protocol.js';
import { DryRuns } from './dry-runs.service.js';

/**
 * Of writes of records: puts what the query says of them on the caller, answers a dry run with its plan, and names the
 * guards that a write has met in `Warning-Guard`.
 */
@Injectable()
export class WriteInterceptor implements NestInterceptor {
  constructor(private readonly dryRuns: DryRuns) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    const { method, caller, query } = request;
    // clients of other protocols may write by GET
    if (method === 'GET' && !isForeign()) return next.handle();
    if (('dry_run' in query || 'force' in query) && takesIntent(context)) {
      // the pipe refuses what is wrong in it before the handler runs
      const { dry_run: dryRun, force } = plainToInstance(IntentQuery, query);
      caller.intent = { ...caller.intent, dryRun: dryRun === true, force: force ?? [] };
      if (dryRun === true) request.auditAction = undefined;
    }
    return next.handle().pipe(
      tap(() => {
        if (caller.warnings?.size) response.setHeader('Warning-Guard', [...caller.warnings].join(', '));
      }),
      catchError((error: unknown) => {
        if (!(error instanceof DryRun)) return throwError(() => error);
        response.status(200);
        return from(this.dryRuns.view(caller, error));
      }),
    );
  }
}

/** Whether the query of a route has these fields, and they are not others of the same names. */
function takesIntent(context: ExecutionContext): boolean {
  const parameters = Reflect.getMetadata('design:paramtypes', context.getClass().prototype, context.getHandler().name);
  return ((parameters ?? []) as (new () => object)[]).some((type) =>
    getMetadataStorage()
      .getTargetValidationMetadatas(type, '', false, false)
      .some(({ propertyName }) => propertyName === 'dry_run'),
  );
}
