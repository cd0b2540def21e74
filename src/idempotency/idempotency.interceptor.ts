import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { mergeMap, type Observable, of } from 'rxjs';
import type { ZoneRequest } from '../access/access.js';
import { giveAgain, JSON_TYPE, KeptAnswers } from './kept-answers.service.js';

/**
 * Carries out a request with an `Idempotency-Key` once, and gives its answer again. The outermost interceptor: it gets
 * answers as they are sent; those of failures are kept by the error filter.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly answers: KeptAnswers) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.headers['idempotency-key'] === undefined) return next.handle();
    const replay = await this.answers.begin(request);
    if (replay) {
      giveAgain(replay, response);
      return of(replay.body);
    }
    if (!this.answers.isUnderKey(request)) return next.handle();
    return next.handle().pipe(
      mergeMap(async (answer) => {
        const body = JSON.stringify(answer);
        response.setHeader('Content-Type', JSON_TYPE);
        await this.answers.keep(request, response, body);
        return body;
      }),
    );
  }
}
