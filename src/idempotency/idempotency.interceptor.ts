import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { mergeMap, type Observable, of } from 'rxjs';
import type { ZoneRequest } from '../access/access.js';
import { monotonicMs, sleep } from '../platform/common/clock.js';
import { requestDeadline } from '../platform/common/deadline.js';
import { AppError } from '../platform/common/errors.js';
import { CODES } from '../platform/common/words/codes.js';
import { currentProtocol, isForeign } from '../platform/http/protocol.js';
import { giveAgain, JSON_TYPE, KeptAnswers, type Replay } from './kept-answers.service.js';

/** ms between two looks for the answer of a request that is under way */
const TICK_MS = 100;

/**
 * Carries out a request with an `Idempotency-Key` once, and gives its answer again. The outermost interceptor: it gets
 * answers as they are sent; those of failures are kept by the error filter.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly answers: KeptAnswers) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<ZoneRequest>();
    const isKeyed = isForeign() ? currentProtocol().repeats : request.headers['idempotency-key'] !== undefined;
    return isKeyed ? this.once(request, context.switchToHttp().getResponse<Response>(), next) : next.handle();
  }

  private async once(request: ZoneRequest, response: Response, next: CallHandler): Promise<Observable<unknown>> {
    const replay = await this.begin(request);
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

  /** Begins a request. Clients of other protocols do not know of one that is under way: they wait for its answer. */
  private async begin(request: ZoneRequest): Promise<Replay | null> {
    for (;;) {
      try {
        return await this.answers.begin(request);
      } catch (error) {
        const isRunning = error instanceof AppError && error.code === CODES.running.code;
        if (!isForeign() || !isRunning || monotonicMs() + TICK_MS > requestDeadline().work) throw error;
      }
      await sleep(TICK_MS);
    }
  }
}
