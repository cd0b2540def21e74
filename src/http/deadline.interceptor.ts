import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Observable } from 'rxjs';
import { FAILS } from '../access/access.js';
import { after, type Cancel, monotonicMs, timeMs } from '../platform/common/clock.js';
import { Deadline, LEAST_MS, requestDeadline, underDeadline } from '../platform/common/deadline.js';
import { SOON_S } from '../platform/common/errors.js';
import { type ErrorKind } from '../platform/common/words/codes.js';
import { OutboundError } from '../platform/outbound/outbound-error.js';

/** Starts the deadline of a request when it arrives; work that continues after the answer is not bound by it. */
export function deadlines(ms: number) {
  return (_request: Request, response: Response, next: NextFunction): void => {
    const deadline = new Deadline(ms);
    // lifted by the answer only: a client that disconnected does not extend it
    response.once('finish', () => deadline.lift());
    underDeadline(deadline, next);
  };
}

/**
 * Answers a request that calls a provider when its deadline is over; what still runs continues after the answer, under
 * its locks. A failure at the deadline says when to retry.
 */
@Injectable()
export class DeadlineInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const kinds = Reflect.getMetadata(FAILS, context.getHandler()) as ErrorKind[] | undefined;
    const deadline = requestDeadline();
    if (!kinds?.includes('provider') || !Number.isFinite(deadline.answer)) return next.handle();
    const reading = context.switchToHttp().getRequest<Request>().method === 'GET';
    return inTime(next.handle(), deadline, reading);
  }
}

/** Fails at the deadline, unless the work got a limit of its own meanwhile. */
const inTime = <T>(work: Observable<T>, deadline: Deadline, reading: boolean): Observable<T> =>
  new Observable((waiting) => {
    const fail = (error: unknown) => {
      const late = monotonicMs() >= deadline.work - LEAST_MS && error instanceof OutboundError && error.data.retryable;
      waiting.error(late && !error.data.retry_at ? error.retryAt(timeMs() + SOON_S * 1000) : error);
    };
    const end = () => {
      if (!Number.isFinite(deadline.answer)) return;
      // a later write may have been made by the time that this one would begin
      deadline.isOver = !reading;
      fail(new OutboundError('unavailable', OVERDUE, !reading));
    };
    let cancel: Cancel | undefined;
    const arm = () => {
      cancel?.();
      cancel = after(deadline.answer - monotonicMs(), end);
    };
    arm();
    deadline.moved = arm;
    waiting.add(() => {
      deadline.moved = () => undefined;
      cancel?.();
    });
    waiting.add(work.subscribe({ next: (one) => waiting.next(one), error: fail, complete: () => waiting.complete() }));
  });

const OVERDUE =
  'The provider took all the time that there was, and may still be at it; read again before you repeat it';
